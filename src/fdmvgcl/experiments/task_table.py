"""The tables of ``reproduce tasks``: each method's scores beside the controls, and how far ours is from the best."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fdmvgcl.evaluation import summarise
from fdmvgcl.experiments.entrants import ENTRANTS
from fdmvgcl.experiments.method_table import NAMES, Lead, lead, mean_of, rank_cells, scored_row
from fdmvgcl.experiments.records import RecordFile
from fdmvgcl.experiments.tables import MISSING, Table, percent, points, write_tables
from fdmvgcl.methods import METHODS

GROUPS, LINKS, BARE = "clustering", "link prediction", "no features"


@dataclass(frozen=True)
class Measure:
    """A number of a task: where it stands in a record, and what is said of it."""

    row: str
    score: str
    title: str
    controls: tuple[str, ...] = ()


MEASURES = (
    Measure(GROUPS, "NMI", "Clustering: normalised mutual information with the classes", ("raw features",)),
    Measure(GROUPS, "ARI", "Clustering: adjusted Rand index with the classes", ("raw features",)),
    Measure(LINKS, "AUC", "Hidden edges: area under the ROC curve", ("common neighbours", "Adamic-Adar")),
    Measure(LINKS, "average precision", "Hidden edges: average precision", ("common neighbours", "Adamic-Adar")),
    Measure(BARE, "test", "Node classification without features: test accuracy"),
)
TOLD = {
    GROUPS: "k-means on rows of length 1, k being the number of classes: five runs, each the best of four starts by "
    "its own criterion.",
    LINKS: "A tenth of the edges is hidden before a method is fitted, another tenth with each seed, and told from "
    "pairs of the same degrees by the cosine of their rows.",
    BARE: "Methods that take features get the columns that FD-MVGCL makes of the edges, all the same ones. The "
    "supervised references see training labels while they train.",
}


def render(records: RecordFile, folder: Path, datasets: Sequence[str]) -> list[Path]:
    """``tasks.md`` and ``tasks.txt``."""
    tables = [_scores(records, datasets, measure) for measure in MEASURES]
    return write_tables([*tables, _leads(records, datasets), _ranks(records, datasets)], folder / "tasks")


def _scores(records: RecordFile, datasets: Sequence[str], measure: Measure) -> Table:
    row, score = measure.row, measure.score
    means = {n: {m: mean_of(records, n, m, row, score) for m in ENTRANTS} for n in datasets}
    methods = [method for method in ENTRANTS if any(means[name][method] is not None for name in datasets)]
    rows = []
    for name in datasets:
        cells = scored_row(name, {method: means[name][method] for method in methods})
        if cells:
            rows.append([*cells, *(percent(_control(records, name, measure, each)) for each in measure.controls)])
    note = f"By default. {TOLD[row]} Bold: best of the label-free methods. {MISSING}: not run, or not begun."
    header = ("data set", *(NAMES[method] for method in methods), *measure.controls)
    return Table(f"{measure.title}, in %", header, rows, [note])


def _control(records: RecordFile, dataset: str, measure: Measure, control: str) -> float | None:
    found = records.matching(dataset=dataset, row=f"{measure.row}, controls")
    return summarise([record[control][measure.score] for record in found]).mean if found else None


def _leads(records: RecordFile, datasets: Sequence[str]) -> Table:
    shown = (MEASURES[0], MEASURES[2], MEASURES[4])
    rows = []
    for name in datasets:
        found = [lead(records, name, measure.row, measure.score) for measure in shown]
        if any(found):
            rows.append([name, *(cell for each in found for cell in _lead_cells(each))])
    header = ("data set", *(cell for each in shown for cell in (f"best other, {each.row}", "FD-MVGCL above it by")))
    note = "NMI, AUC and accuracy, in points, over the seeds that both have, with 95 % intervals."
    return Table("FD-MVGCL and the best of the other label-free methods", header, rows, [note])


def _lead_cells(found: Lead | None) -> tuple[str, str]:
    return (MISSING, MISSING) if found is None else (NAMES[found.best], points(found.above))


def _ranks(records: RecordFile, datasets: Sequence[str]) -> Table:
    """Average ranks of the label-free methods by NMI, AUC and accuracy."""
    shown = (MEASURES[0], MEASURES[2], MEASURES[4])
    found = [rank_cells(records, datasets, each.row, each.score) for each in shown]
    rows = [[NAMES[m], *(each.get(m, MISSING) for each in found)] for m in METHODS if any(m in each for each in found)]
    note = "1 is best; over the data sets that all have, intervals at 95 % by drawing data sets with replacement."
    return Table("Average ranks of the label-free methods", ("method", *(each.row for each in shown)), rows, [note])
