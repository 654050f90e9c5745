"""Everything that the page tells, as one object that JSON can hold; words that never change stand in the template."""

from typing import Any

import numpy as np
import torch

from fdmvgcl.diffusion.spectrum import graph_spectrum
from fdmvgcl.dynamics import LINEAR
from fdmvgcl.fractional.response import response
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.learning.diagnostics import sample_rows
from fdmvgcl.learning.verdict import Verdict, judge
from fdmvgcl.results.history import Curve, Timeline, number, numbers
from fdmvgcl.results.report.again import again_content
from fdmvgcl.results.report.evaluation import evaluation_content
from fdmvgcl.results.report.nodes import Sample, draw_sample, map_content, shortened
from fdmvgcl.results.report.records import Records
from fdmvgcl.results.vectors import VectorFile

_FREQUENCIES = 161


def page_content(records: Records) -> dict[str, Any]:
    """The page's content, from the folder's records and nothing else."""
    sample = draw_sample(records)
    timeline = Timeline(records.history)
    verdict = _verdict(records, timeline)
    return {
        "title": _title(records),
        "facts": _facts(records, timeline, verdict),
        "verdict": {"health": verdict.health, "text": str(verdict)},
        "views": [_view(records, k) for k in records.view_order],
        "map": map_content(records, sample) | {"stops": [_order(records, k) for k in sample.views]},
        "response": _response(records),
        "training": _training(records, timeline),
        "spectra": _spectra(records, sample),
        "evaluation": evaluation_content(records.evaluation),
        "again": again_content(records),
    }


def _title(records: Records) -> str:
    source = records.run.get("source")
    return shortened([source.replace("\\", "/").rsplit("/", 1)[-1]])[0][0] if isinstance(source, str) else ""


def _verdict(records: Records, timeline: Timeline) -> Verdict:
    rows = sample_rows(torch.arange(len(records.ids))[:, None])[:, 0].numpy()
    history = [
        {"phase": record.get("phase"), "effective_rank": rank}
        for record in timeline.records
        if (rank := number(record.get("effective_rank"))) is not None and rank > 0
    ]
    return judge(records.rows(records.folder.embeddings, "z", rows), history)


def _facts(records: Records, timeline: Timeline, verdict: Verdict) -> dict[str, Any]:
    graph, model = records.graph, records.model
    isolated = f", {len(graph.isolated)} of them without edges" if len(graph.isolated) else ""
    features = counted(graph.num_features, "column", "columns") if graph.features is not None else "none"
    stand_in = "" if graph.features is not None else "; columns made of the edges stand in for them"
    kinds = ("directed" if graph.directed else "undirected", "weighted" if graph.weighted else "unweighted")
    many = [] if records.graphs is None else [("Graphs", counted(records.graphs.num_graphs, "").strip())]
    went_in = [
        *many,
        ("Nodes", counted(graph.num_nodes, "").strip() + isolated),
        ("Edges", f"{counted(graph.num_edges, '').strip()}, {', '.join(kinds)}"),
        ("Features", features + stand_in),
        ("Labels", _told_labels(records)),
    ]
    began, kept = model.views, len(model.alphas_)
    views = f"{kept} kept of {began}" if kept < began else f"{kept}, none pruned"
    epochs = counted(len(timeline.records), "").strip()
    phases = f" in {len(timeline.phases)} phases" if len(timeline.phases) > 1 else ""
    came_out = [
        ("Vectors", _told_vectors(records)),
        ("Views", f"{views}; orders α {', '.join(f'{model.alphas_[k]:.2f}' for k in records.view_order)}"),
        ("Epochs", f"{epochs} trained{phases}, of {model.epochs} planned for a phase"),
        ("Effective rank", f"{verdict.rank:.0f} of at most {verdict.most}"),
    ]
    notes = records.run.get("notes")
    told = [str(note)[:300] for note in notes[:20]] if isinstance(notes, list) else []
    return {"in": went_in, "out": came_out, "notes": told}


def _told_vectors(records: Records) -> str:
    if records.graphs is None:
        return f"{records.model.dim} numbers for each node, the mean of its views"
    with VectorFile(records.folder.embeddings) as file:
        width = file.columns["z"]
    return f"{width} numbers for each graph, the {records.model.readout_settings.kind} over its nodes"


def _told_labels(records: Records) -> str:
    if records.labels is None:
        return "none known; they would not change the vectors"
    known = int((records.labels >= 0).sum())
    classes = counted(len(records.classes), "class", "classes")
    return f"{counted(known, 'node', 'nodes')} in {classes}; seen only by the probe"


def _order(records: Records, view: int) -> float:
    return float(records.model.alphas_[view])


def _view(records: Records, view: int) -> dict[str, Any]:
    return {"alpha": _order(records, view), "beta": float(records.model.betas_[view])}


def _response(records: Records) -> dict[str, Any] | None:
    """φ of each view; None for dynamics that are no function of the graph's frequencies."""
    if records.model.diffusion.dynamics != LINEAR:
        return None
    spec = records.model.encoder_.filter
    frequency = torch.linspace(0, 2, _FREQUENCIES, dtype=torch.float64)
    with torch.no_grad():
        phi = response(frequency, spec).numpy()[records.view_order]
    spectrum = graph_spectrum(records.model.operator(records.graph if records.graphs is None else records.graphs))
    return {
        "frequency": np.round(frequency.numpy(), 4).tolist(),
        "phi": [[float(f"{value:.4g}") for value in curve] for curve in phi],
        "spectrum": None
        if spectrum is None
        else {
            "edges": np.round(spectrum.edges, 5).tolist(),
            "shares": np.round(spectrum.shares, 5).tolist(),
            "method": spectrum.method,
        },
    }


def _training(records: Records, timeline: Timeline) -> dict[str, Any] | None:
    if not timeline.records:
        return None
    kept = [len(numbers(timeline.records[first].get("alpha")) or ()) for first, _ in timeline.phases]
    terms = timeline.loss_terms()
    measured = {curve.name: curve for curve in timeline.diagnostics()}
    rank, similarity = measured.pop("effective rank", None), measured.pop("view similarity", None)
    paths = timeline.order_paths([float(alpha) for alpha in records.model.alphas_])
    living = [path for path in paths if not path.pruned]
    order = records.view_order if len(living) == len(records.view_order) else range(len(living))
    return {
        "epochs": len(timeline.records),
        "phases": [{"start": first, "views": views} for (first, _), views in zip(timeline.phases, kept, strict=True)],
        "loss": [_curve(curve) for curve in terms],
        "orders": [_points(living[k].points) for k in order],
        "pruned": [_points(path.points) for path in paths if path.pruned],
        "rank": None if rank is None else _curve(rank),
        "similarity": None if similarity is None else _curve(similarity),
        "further": [_curve(curve) for curve in measured.values()],
    }


def _curve(curve: Curve) -> dict[str, Any]:
    return {"name": shortened([curve.name])[0][0], "pieces": [_points(piece) for piece in curve.pieces]}


def _points(points: list[tuple[float, float]]) -> list[list[float]]:
    return [[x, float(f"{y:.5g}")] for x, y in points]


def _spectra(records: Records, sample: Sample) -> list[dict[str, Any]]:
    """Shares of variance of each view's components, then of the embedding's."""
    places = [records.view_order.index(k) for k in sample.views]
    return [
        {
            "view": place,
            "shares": [float(f"{share:.4g}") for share in components.shares],
        }
        for place, components in zip([*places, None], sample.components, strict=True)
    ]
