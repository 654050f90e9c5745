"""The node tables from their records: paper, controls, three rows, what training adds, and the published methods."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fdmvgcl.evaluation import Difference, Summary, Verdict, paired_difference, summarise
from fdmvgcl.experiments import published
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.tables import MISSING, Table, percent, points, write_tables

CONTROLS = ("majority", "raw", "diffused")
OURS = "FD-MVGCL"
# Rows of the printed recipe: the equation's rate, and the weight of self-loops.
READINGS = {
    "published": (1.0, 0.0),
    "published, rate 1/2": (0.5, 0.0),
    "published, self-loops": (1.0, 1.0),
    "published, rate 1/2, self-loops": (0.5, 1.0),
}
REMARKS = {
    "crocodile": "Crocodile: the paper's figures are for other features (it prints 2089 columns; here are all 13183), "
    "so they do not compare.",
}


def render(records: RecordFile, folder: Path, groups: tuple[Sequence[str], Sequence[str]]) -> list[Path]:
    """``nodes.md`` and ``nodes.txt``."""
    tables = [
        *accuracies(records, groups),
        _distances(records, [*groups[0], *groups[1]]),
        _spreads(records, [*groups[0], *groups[1]]),
        _recipe(records, [*groups[0], *groups[1]]),
        _readings(records, [*groups[0], *groups[1]]),
        _ranks(records, [*groups[0], *groups[1]]),
    ]
    return write_tables(tables, folder / "nodes")


def accuracies(records: RecordFile, groups: tuple[Sequence[str], Sequence[str]]) -> list[Table]:
    """The main table of each group of data sets, of those that have records."""
    titles = ("data sets on which the default was developed", "held-out data sets")
    made = [
        _accuracies(records, names, f"Test accuracy in %, {told}") for names, told in zip(groups, titles, strict=True)
    ]
    return [table for table in made if table.rows]


def scores_of(records: Sequence[Record], part: str | None = None) -> list[list[float]]:
    """Test scores, shape (seeds, splits), of the records' own row or of a part such as ``untrained``."""
    inner = [record if part is None else record.get(part) for record in records]
    return [entry["test"] for entry in inner if entry is not None]


def summary(records: Sequence[Record], part: str | None = None) -> Summary | None:
    """Mean and both spreads; None without records."""
    scores = scores_of(records, part)
    return summarise(scores) if scores else None


def added(records: Sequence[Record]) -> Difference | None:
    """What training adds to the untrained encoder with the same settings, over paired seeds and splits."""
    return paired_difference(scores_of(records), scores_of(records, "untrained")) if records else None


def best_control(records: RecordFile, dataset: str) -> str | None:
    """Which of majority, raw and diffused features has the best mean; None unless all three are on record."""
    found = {row: summary(records.matching(dataset=dataset, row=row)) for row in CONTROLS}
    means = {row: control.mean for row, control in found.items() if control is not None}
    return max(means, key=lambda row: means[row]) if len(means) == len(CONTROLS) else None


def above_control(records: RecordFile, dataset: str, row: str) -> Difference | None:
    """How far a row is above the best control, over paired splits; None without records of both."""
    control, ours = best_control(records, dataset), scores_of(records.matching(dataset=dataset, row=row))
    if control is None or not ours:
        return None
    return paired_difference(ours, scores_of(records.matching(dataset=dataset, row=control)) * len(ours))


def above_paper(records: RecordFile, dataset: str, row: str) -> Difference | None:
    """How far a row is above the paper's figure, a fixed number; None without either."""
    paper, ours = published.accuracies(dataset).get(OURS), scores_of(records.matching(dataset=dataset, row=row))
    return None if paper is None or not ours else paired_difference(ours, np.full(np.shape(ours), paper[0] / 100))


def _accuracies(records: RecordFile, datasets: Sequence[str], title: str) -> Table:
    header = ("data set", "paper", *CONTROLS, "default", "training adds", "tuned", "training adds", "as published")
    rows = [row for name in datasets if (row := _row(records, name)) is not None]
    return Table(title, header, rows, _conclusions(records, datasets))


def _row(records: RecordFile, name: str) -> list[str] | None:
    if not records.matching(dataset=name):
        return None
    by_row = {row: records.matching(dataset=name, row=row) for row in ("default", "tuned", "published")}
    paper = published.accuracies(name).get(OURS)
    cells = [name, MISSING if paper is None else f"{paper[0]:.1f}"]
    cells += [_mean(summary(records.matching(dataset=name, row=row))) for row in CONTROLS]
    for row in ("default", "tuned"):
        found = _mean(summary(by_row[row]))
        cells += [f"**{found}**" if _reaches_goals(records, name, row) else found, points(added(by_row[row]))]
    return [*cells, _mean(summary(by_row["published"], "tuned_betas"))]


def _reaches_goals(records: RecordFile, name: str, row: str) -> bool:
    control, paper = above_control(records, name, row), above_paper(records, name, row)
    if control is None:
        return False
    rounding = 1e-9  # of means that are equal
    return all(difference.mean >= -rounding for difference in (control, paper) if difference is not None)


def _mean(found: Summary | None) -> str:
    return percent(None if found is None else found.mean)


def _conclusions(records: RecordFile, datasets: Sequence[str]) -> list[str]:
    notes = [
        "Bold: at or above both the paper's figure and the best control. Training adds: paired difference to the "
        f"untrained encoder with the same settings, with its 95 % interval. {MISSING}: not run.",
        *(note for name, note in REMARKS.items() if name in datasets and records.matching(dataset=name)),
    ]
    reduced = [name for name in datasets if any(r.get("reduced_grid") for r in records.matching(dataset=name))]
    if reduced:
        notes.append(
            f"Diffused control searched over T = 1 and 3, α = 1 and standardised columns only: {', '.join(reduced)}."
        )
    for row in ("default", "tuned"):
        trained = [added(records.matching(dataset=name, row=row)) for name in datasets]
        if any(trained):
            notes.append(f"Training in the {row} row: {_count(trained, 'helped', 'made no difference', 'hurt')}.")
    above = [above_control(records, name, "tuned") for name in datasets]
    if any(above):
        notes.append(
            f"The tuned row, by its interval, against the best control: {_count(above, 'above', 'level', 'below')}."
        )
    gaps = []
    for name in datasets:
        default, tuned = (summary(records.matching(dataset=name, row=row)) for row in ("default", "tuned"))
        if default is not None and tuned is not None:
            gaps.append(100 * (tuned.mean - default.mean))
    if gaps:
        notes.append(
            f"The default row loses {np.mean(gaps):.1f} points on average to the tuned one ({len(gaps)} sets)."
        )
    return notes


def _count(differences: Sequence[Difference | None], helped: str, level: str, hurt: str) -> str:
    """On how many data sets an interval lies above zero, holds it, lies below, each in its words."""
    found = [difference.verdict for difference in differences if difference is not None]
    words: dict[Verdict, str] = {"helped": helped, "no difference": level, "hurt": hurt}
    return ", ".join(f"{told} on {found.count(verdict)}" for verdict, told in words.items()) + f" of {len(found)}"


def _distances(records: RecordFile, datasets: Sequence[str]) -> Table:
    """How far the rows are from what they are held to, and how sure that is."""
    shown = [name for name in datasets if best_control(records, name) is not None]
    rows: list[list[str]] = []
    for name in shown:
        to_paper, to_control = (
            [points(above(records, name, row)) for row in ("default", "tuned")]
            for above in (above_paper, above_control)
        )
        rows.append([name, *to_paper, str(best_control(records, name)), *to_control])
    to_paper_header = ("default above the paper by", "tuned above the paper by")
    header = ("data set", *to_paper_header, "best control", "default above it by", "tuned above it by")
    note = "With 95 % intervals over seeds and splits; over seeds alone where there is one split, which leaves out the "
    note += "luck of its test nodes. The paper's figure is taken as exact."
    return Table("Distance to the paper's figure and to the best control, in points", header, rows, [note])


def _spreads(records: RecordFile, datasets: Sequence[str]) -> Table:
    rows = []
    for name in datasets:
        cells = [name]
        for row in ("default", "tuned"):
            found = summary(records.matching(dataset=name, row=row))
            if found is None:
                cells += [MISSING, MISSING, MISSING]
                continue
            spreads = [percent(found.over_seeds, 2), percent(found.over_splits, 2)]
            cells += [*spreads, f"{found.seeds} × {found.splits}"]
        if any(cell != MISSING for cell in cells[1:]):
            rows.append(cells)
    each = ("over splits", "seeds × splits")
    header = ("data set", "default: over seeds", *each, "tuned: over seeds", *each)
    return Table("Spreads in points: standard deviations over seeds (the paper's ±) and over splits", header, rows)


def _recipe(records: RecordFile, datasets: Sequence[str]) -> Table:
    rows = []
    for name in datasets:
        found = records.matching(dataset=name, row="published")
        if not found:
            continue
        paper, first = published.settings(name), found[0]
        scores = [_mean(summary(found, part)) for part in ("printed_betas", "tuned_betas")]
        tuned_beta = first["tuned_betas"]["choices"][0].get("beta", [1 / len(first["alphas"])] * len(first["alphas"]))
        listed = map(_listed, (paper["alphas"], first["alphas"], paper["betas"], tuned_beta))
        rows.append([name, f"{published.accuracies(name)[OURS][0]:.1f}", *scores, *listed])
    orders = ("paper's α", "α learnt, seed 0", "paper's β", "β tuned, seed 0, split 0")
    header = ("data set", "paper", "β as printed", "β tuned", *orders)
    note = "The explicit predictor with the appendix's settings; as many views as orders learnt. β as printed needs as "
    note += "many views as the paper had; elsewhere it is left out."
    return Table("As published: what the printed recipe gives", header, rows, [note])


def _readings(records: RecordFile, datasets: Sequence[str]) -> Table:
    """The printed recipe with and without what it leaves unsaid."""
    rows = []
    for name in datasets:
        found = {row: summary(records.matching(dataset=name, row=row), "tuned_betas") for row in READINGS}
        if any(found.values()):
            rows.append([name, f"{published.accuracies(name)[OURS][0]:.1f}", *map(_mean, found.values())])
    told = [f"r = {rate:g}" + (", self-loops" if loops else "") for rate, loops in READINGS.values()]
    note = (
        "β tuned. The paper prints the equation without a rate; the code family that it builds on has `D^α Y = -r L Y` "
    )
    note += "with r learnt from 1/2, and self-loops. With r = 1/2 the explicit predictor is stable at every order."
    return Table("As published: four readings of the recipe", ("data set", "paper", *told), rows, [note])


def _listed(values: Sequence[float]) -> str:
    return " ".join(f"{value:.3g}" for value in values)


def _ranks(records: RecordFile, datasets: Sequence[str]) -> Table:
    """Published figures of the other methods beside ours, and the average rank over the data sets that each has."""
    ours = {
        f"{OURS}, {row}": {
            name: s.mean * 100
            for name in datasets
            if (s := summary(records.matching(dataset=name, row=row))) is not None
        }
        for row in ("default", "tuned")
    }
    methods: dict[str, dict[str, float]] = {label: scores for label, scores in ours.items() if scores}
    if not methods:
        return Table("", (), ())
    shown = [name for name in datasets if any(name in scores for scores in methods.values())]
    for name in shown:
        for method, (mean, _) in published.accuracies(name).items():
            methods.setdefault(f"{method} *" if method != OURS else f"{OURS}, paper *", {})[name] = mean
    places = {
        method: [_place(methods, method, name) for name in shown if name in methods[method]] for method in methods
    }
    ordered = sorted(methods, key=lambda method: float(np.mean(places[method])))
    rows = [
        [m, *(f"{methods[m][n]:.1f}" if n in methods[m] else MISSING for n in shown), f"{np.mean(places[m]):.2f}"]
        for m in ordered
    ]
    note = "\\* as printed in the FD-MVGCL paper, on its own splits and probe; not run here."
    return Table("Beside published figures", ("method", *shown, "average rank"), rows, [note])


def _place(methods: dict[str, dict[str, float]], method: str, name: str) -> float:
    """Rank among all that have a figure for the data set; equals share their mean rank."""
    scores = np.array([scores[name] for scores in methods.values() if name in scores])
    own = methods[method][name]
    return float((scores > own).sum() + ((scores == own).sum() + 1) / 2)
