"""Everything that the page tells, as one object that JSON can hold; words that never change stand in the template."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from fdmvgcl.diffusion.spectrum import graph_spectrum
from fdmvgcl.dynamics import LINEAR
from fdmvgcl.fractional.response import response
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.learning.diagnostics import sample_rows
from fdmvgcl.learning.knowledge import Knowledge
from fdmvgcl.learning.verdict import Verdict, judge
from fdmvgcl.losses import Loss, make_loss
from fdmvgcl.results.history import Curve, Timeline, number, numbers
from fdmvgcl.results.outputs import KNOWLEDGE
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
        "sizes": _sizes(records),
        "chosen": _chosen(records),
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
    return judge(records.rows(records.folder.embeddings, "z", rows), history, *_knowledge(records))


def _knowledge(records: Records) -> tuple[Knowledge | None, str]:
    """What :func:`~fdmvgcl.learning.knowledge.measure_knowledge` found, or why there is nothing."""
    found = records.folder.read_checks().get(KNOWLEDGE)
    if not isinstance(found, dict):
        return None, ""
    if isinstance(found.get("unmeasured"), str):
        return None, found["unmeasured"][:200]
    try:
        return Knowledge.from_record(found), ""
    except (KeyError, TypeError, ValueError):
        return None, ""


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
        *([] if records.graphs is not None else [("Components", _told_components(records))]),
        ("Features", features + stand_in),
        ("Labels", _told_labels(records)),
    ]
    began, kept = model.views, len(model.alphas_)
    views = f"{kept} kept of {began}" if kept < began else f"{kept}, none pruned"
    epochs = counted(len(timeline.records), "").strip()
    phases = f" in {len(timeline.phases)} phases" if len(timeline.phases) > 1 else ""
    came_out = [
        ("Vectors", _told_vectors(records)),
        ("Views", f"{views}; orders α {', '.join(_told_order(model.alphas_[k]) for k in records.view_order)}"),
        ("Epochs", f"{epochs} trained{phases}, of {model.epochs} planned for a phase"),
        ("Effective rank", f"{verdict.rank:.0f} of at most {verdict.most}"),
        *_when(records, timeline),
    ]
    notes = records.run.get("notes")
    told = [str(note)[:300] for note in notes[:20]] if isinstance(notes, list) else []
    return {"in": went_in, "out": came_out, "notes": told}


def _told_order(alpha: float) -> str:
    return f"{alpha:.2f}" if alpha >= 0.005 else "≈0"


def _told_components(records: Records) -> str:
    count, members = connected_components(records.graph.adjacency, directed=False)
    share = np.bincount(members).max() / records.graph.num_nodes
    return "1: all is connected" if count == 1 else f"{counted(count, '').strip()}; {share:.1%} of nodes in the largest"


def _when(records: Records, timeline: Timeline) -> list[tuple[str, str]]:
    """When it was made, and how long it took."""
    date, took = records.run.get("date"), number(records.run.get("seconds"))
    trained = sum(number(record.get("seconds")) or 0.0 for record in timeline.records)
    made = [("Date", date[:40])] if isinstance(date, str) else []
    part = f", {_told_seconds(trained)} of it for training" if trained else ""
    return made if took is None else [*made, ("Took", f"{_told_seconds(took)}{part}")]


def _told_seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def _sizes(records: Records) -> dict[str, Any]:
    """How many neighbours nodes have, or nodes graphs: counts in bins 0, 1, 2, 3–4, 5–8, …, and a sentence."""
    if records.graphs is None:
        sizes, what = np.diff(records.graph.adjacency.indptr), ("neighbours", "nodes")
    else:
        sizes, what = records.graphs.sizes, ("nodes", "graphs")
    return {"bins": _bins(sizes), "told": _told_sizes(sizes), "of": what[0], "each": what[1]}


def _bins(sizes: NDArray[Any]) -> list[tuple[str, int]]:
    places = np.where(sizes > 0, 1 + np.ceil(np.log2(np.maximum(sizes, 1))), 0).astype(np.int64)
    tops = [0, *(2**k for k in range(int(places.max(initial=0))))]
    bottoms = [0, *(top + 1 for top in tops[:-1])]
    names = [f"{low}" if low == top else f"{low}–{top}" for low, top in zip(bottoms, tops, strict=True)]
    return list(zip(names, np.bincount(places, minlength=len(tops)).tolist(), strict=True))


def _told_sizes(sizes: NDArray[Any]) -> str:
    return f"median {np.median(sizes):g}, mean {sizes.mean():.1f}, at most {counted(int(sizes.max()), '').strip()}"


def _chosen(records: Records) -> dict[str, Any]:
    """What the graph decided where a setting left it open: the reasons, and what the settings came to."""
    model, chosen = records.model, records.model.chosen_
    weight = f", weight {chosen.skip_weight:g}" if chosen.skip else ""
    made = chosen.features.width - chosen.features.columns
    found = {
        "features.scaling": (model.feature_settings.scaling, chosen.features.scaling),
        "features.structure": (
            model.feature_settings.structure,
            f"{made} columns made of the edges" if made else "none",
        ),
        "diffusion.skip": (model.diffusion.skip, f"{chosen.skip}{weight}"),
        "diffusion.view_scaling": (model.diffusion.view_scaling, chosen.view_scaling),
    }
    settings = [(name, str(value)) for name, (asked, value) in found.items() if asked == "auto"]
    return {"reasons": list(chosen.sentences), "settings": [*settings, ("order of work", str(chosen.order_of_work))]}


def _told_vectors(records: Records) -> str:
    if records.graphs is None:
        return f"{records.model.dim} numbers for each node, the mean of its views"
    with VectorFile(records.folder.embeddings) as file:
        width = file.columns["z"]
    kind = records.model.readout_settings.kind
    told = "sum over its n nodes, divided by √n" if kind == "sum-over-root" else f"{kind} over its nodes"
    return f"{width} numbers for each graph, the {told}"


def _told_labels(records: Records) -> str:
    if records.labels is None:
        return "none known; they would not change the vectors"
    known = int((records.labels >= 0).sum())
    classes = counted(len(records.classes), "class", "classes")
    of = counted(known, "node", "nodes") if records.graphs is None else counted(known, "graph", "graphs")
    return f"{of} in {classes}; seen only by the probe"


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
        "kept": records.model.chosen_.skip * records.model.chosen_.skip_weight,
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
        "loss": [_term(curve, _weights(records)) for curve in terms],
        "orders": [_points(living[k].points) for k in order],
        "pruned": [_points(path.points) for path in paths if path.pruned],
        "rank": None if rank is None else _curve(rank),
        "similarity": None if similarity is None else _curve(similarity),
        "further": [_curve(curve) for curve in measured.values()],
    }


def _weights(records: Records) -> dict[str, float]:
    """Of the loss's terms; none are known of a loss of a user's own."""
    loss = records.model.loss
    return (loss if isinstance(loss, Loss) else make_loss(loss)).weights


def _term(curve: Curve, weights: dict[str, float]) -> dict[str, Any]:
    """A term as it enters the loss: times its weight, and called so."""
    weight = weights.get(curve.name, 1.0)
    scaled = Curve(curve.name, [[(x, weight * y) for x, y in piece] for piece in curve.pieces])
    made = _curve(scaled)
    return made if weight == 1 else made | {"name": f"{weight:g} × {made['name']}"}


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
