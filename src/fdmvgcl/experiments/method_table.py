"""All methods side by side from their records, under one protocol: accuracies, average ranks, and who leads where."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from fdmvgcl.errors import ArgumentError
from fdmvgcl.evaluation import Difference, Ranks, average_ranks, paired_difference, summarise
from fdmvgcl.experiments.budget import FEWER, LONGEST, MOST_EPOCHS, TRIALS, seeds_of, trials_of
from fdmvgcl.experiments.entrants import ENTRANTS
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.tables import MISSING, Table, percent, points
from fdmvgcl.experiments.trials import key_of
from fdmvgcl.methods import CLASSIFIERS, METHODS
from fdmvgcl.methods.registry import OURS

NAMES: Mapping[str, str] = {
    "fd-mvgcl": "FD-MVGCL",
    "dgi": "DGI",
    "grace": "GRACE",
    "bgrl": "BGRL",
    "cca-ssg": "CCA-SSG",
    "graphacl": "GraphACL",
    "polygcl": "PolyGCL",
    "spectral": "spectral",
    "node2vec": "node2vec",
    "gcn": "GCN (supervised)",
    "frond": "FROND-like (supervised)",
}
ROWS = ("default", "tuned")
# Goals of the comparison: a method that is this much behind the best on a data set is not to be hidden.
FAR = 0.02


def of_method(records: RecordFile, dataset: str, method: str, row: str) -> list[Record]:
    """Records of a method's row, by seed."""
    key = key_of(dataset, method, row=row)
    found = records.matching(**{"method": None, **key})
    return sorted(found, key=lambda record: record["key"].get("seed", 0))


def mean_of(records: RecordFile, dataset: str, method: str, row: str, score: str = "test") -> float | None:
    found = of_method(records, dataset, method, row)
    return summarise([record[score] for record in found]).mean if found else None


def difference(first: Sequence[Record], second: Sequence[Record], score: str = "test") -> Difference:
    """Of two rows, over the seeds that both have."""
    seeds = {record["key"]["seed"] for record in first} & {record["key"]["seed"] for record in second}
    ours, theirs = ([r[score] for r in side if r["key"]["seed"] in seeds] for side in (first, second))
    return paired_difference(ours, theirs)


@dataclass(frozen=True)
class Lead:
    """How FD-MVGCL stands to the best of the other label-free methods on a data set."""

    dataset: str
    best: str
    above: Difference

    @property
    def level(self) -> bool:
        """First, or level with the first by the interval; without an interval by the mean alone."""
        return self.above.mean >= 0 if self.above.high is None else self.above.high >= 0


def lead(records: RecordFile, dataset: str, row: str, score: str = "test") -> Lead | None:
    """None without records of both sides."""
    means = {method: mean_of(records, dataset, method, row, score) for method in METHODS}
    others = {method: mean for method, mean in means.items() if mean is not None and method != OURS}
    if means[OURS] is None or not others:
        return None
    best = max(others, key=lambda method: others[method])
    ours, theirs = (of_method(records, dataset, method, row) for method in (OURS, best))
    return Lead(dataset, best, difference(ours, theirs, score))


def method_tables(records: RecordFile, datasets: Sequence[str]) -> list[Table]:
    """Accuracies by default and tuned, our distance to the best of the others, and ranks."""
    made = [_accuracies(records, datasets, row) for row in ROWS]
    return [*made, _leads(records, datasets), rank_table(records, datasets), effort(records, datasets)]


def _accuracies(records: RecordFile, datasets: Sequence[str], row: str) -> Table:
    methods = [method for method in ENTRANTS if any(of_method(records, name, method, row) for name in datasets)]
    rows = []
    for name in datasets:
        means = {method: mean_of(records, name, method, row) for method in methods}
        if cells := scored_row(name, means):
            rows.append(cells)
    told = {"default": "no label used", "tuned": "settings chosen split by split by validation nodes"}[row]
    note = (
        f"Bold: best of the label-free methods. {MISSING}: not run, or too large for a method that compares all pairs. "
        f"The supervised references see training labels while they train."
    )
    title = f"All methods, {row} ({told}): test accuracy in %"
    return Table(title, ("data set", *(NAMES[m] for m in methods)), rows, [note])


def scored_row(name: str, means: Mapping[str, float | None]) -> list[str]:
    """A data set's means by method, the best of several label-free ones bold; empty where none of those is known."""
    known = [mean for method, mean in means.items() if method in METHODS and mean is not None]
    if not known:
        return []
    best = percent(max(known)) if len(known) > 1 else None
    bold = {method for method, mean in means.items() if method in METHODS and percent(mean) == best}
    return [name, *(f"**{percent(mean)}**" if method in bold else percent(mean) for method, mean in means.items())]


def _leads(records: RecordFile, datasets: Sequence[str]) -> Table:
    rows = []
    for name in datasets:
        found = [lead(records, name, row) for row in ROWS]
        if any(found):
            cells = [(MISSING, MISSING) if each is None else (NAMES[each.best], points(each.above)) for each in found]
            rows.append([name, *(cell for pair in cells for cell in pair)])
    header = ("data set", "best other, default", "FD-MVGCL above it by", "best other, tuned", "FD-MVGCL above it by")
    note = "In points, over the seeds that both have, with 95 % intervals over seeds and splits."
    return Table("FD-MVGCL and the best of the other label-free methods", header, rows, [note])


def ranks(
    records: RecordFile, datasets: Sequence[str], row: str, score: str = "test"
) -> tuple[tuple[str, ...], list[str], Ranks] | None:
    """Label-free methods, the data sets on which each has this row, and average ranks; None with too few of either.

    A method that has been run on few data sets as yet would leave only these: it waits until it has half as many as
    the others.
    """
    counts = {m: sum(bool(of_method(records, name, m, row)) for name in datasets) for m in METHODS}
    methods = tuple(method for method, count in counts.items() if count > 0 and 2 * count >= max(counts.values()))
    found = {name: [mean_of(records, name, method, row, score) for method in methods] for name in datasets}
    scores = {name: [mean for mean in means if mean is not None] for name, means in found.items()}
    common = [name for name, means in scores.items() if len(means) == len(methods)]
    try:
        return methods, common, average_ranks([scores[name] for name in common])
    except ArgumentError:
        return None


def rank_cells(records: RecordFile, datasets: Sequence[str], row: str, score: str = "test") -> dict[str, str]:
    """Average ranks with their intervals by method; empty with too few methods or data sets."""
    found = ranks(records, datasets, row, score)
    if found is None:
        return {}
    methods, _, averages = found
    each = zip(averages.mean, averages.low, averages.high, strict=True)
    told = [f"{mean:.2f} ({low:.1f} to {high:.1f})" for mean, low, high in each]
    return dict(zip(methods, told, strict=True))


def rank_table(records: RecordFile, datasets: Sequence[str]) -> Table:
    """Average ranks of the label-free methods, by default and tuned."""
    cells: dict[str, dict[str, str]] = {}
    notes: list[str] = []
    places: dict[str, float] = {}
    for row in ROWS:
        found = ranks(records, datasets, row)
        if found is None:
            continue
        methods, common, averages = found
        for method, cell in rank_cells(records, datasets, row).items():
            cells.setdefault(method, {})[row] = cell
            places.setdefault(method, averages.mean[methods.index(method)])
        notes.append(
            f"{row.capitalize()}: {len(common)} data sets that all of them have ({', '.join(common)}). Friedman's test "
            f"that they are alike: p = {averages.p_value:.2g}; by Nemenyi's, ranks further apart than "
            f"{averages.critical:.1f} differ at the 5 % level."
        )
    rows = [
        [NAMES[method], *(cells[method].get(row, MISSING) for row in ROWS)]
        for method in sorted(places, key=lambda method: places[method])
    ]
    notes.insert(0, "1 is best; intervals at 95 % by drawing data sets with replacement.")
    return Table("Average rank of the label-free methods", ("method", "default", "tuned"), rows, notes)


def effort(records: RecordFile, datasets: Sequence[str]) -> Table:
    """What each method was given on each data set, and what a row by default took."""
    seconds = {name: {method: _seconds(records, name, method) for method in ENTRANTS} for name in datasets}
    methods = [method for method in ENTRANTS if any(seconds[name][method] for name in datasets)]
    rows, longer = [], []
    for name in datasets:
        known = {method: seconds[name][method] for method in methods}
        if any(known.values()):
            cells = [MISSING if each is None else f"{each:.0f}" for each in known.values()]
            rows.append([name, str(trials_of(name)), str(seeds_of(name)), *cells])
            over = [NAMES[method] for method, each in known.items() if each and each > LONGEST]
            longer += [f"{', '.join(over)} on {name}"] if over and trials_of(name) > FEWER else []
    notes = [
        f"{TRIALS} trials of every method, its defaults among them; {FEWER} of each where one of them takes more than "
        f"{LONGEST / 60:.0f} minutes of a core. No training has more than {MOST_EPOCHS} epochs: BGRL's authors take "
        "ten thousand. Seconds are those of a processor for one seed, medians over seeds, the probe and all splits "
        "included; `reproduce cost` compares methods.",
    ]
    if longer:
        notes.append(f"More than that, and {TRIALS} trials all the same: {'; '.join(longer)}.")
    header = ("data set", "trials", "seeds", *(NAMES[method] for method in methods))
    return Table("Effort: trials, seeds, and seconds of a row by default", header, rows, notes)


def _seconds(records: RecordFile, dataset: str, method: str) -> float | None:
    found = [record for record in of_method(records, dataset, method, "default") if "seconds" in record]
    each = [float(record["processor_seconds" if "processor_seconds" in record else "seconds"]) for record in found]
    return median(each) if each else None


def waiting(records: RecordFile, datasets: Sequence[str]) -> str:
    """How much is on record, and which methods have no row yet; empty when each has."""
    made = {m: [bool(of_method(records, name, m, row)) for row in ROWS for name in datasets] for m in ENTRANTS}
    missing = [NAMES[method] for method, there in made.items() if not any(there)]
    there = sum(map(sum, made.values()))
    told = f"On record: {there} of {len(ENTRANTS) * len(ROWS) * len(datasets)} rows, default and tuned"
    told += ", less those of methods that are not begun on large or wide data"
    return f"{told}. No row yet of {_listed(missing)}." if missing else f"{told}."


def told_leads(records: RecordFile, datasets: Sequence[str]) -> list[str]:
    """Where FD-MVGCL leads and where it does not, a sentence a row."""
    told = []
    for row in ROWS:
        found = [each for name in datasets if (each := lead(records, name, row)) is not None]
        if not found:
            continue
        level = [each for each in found if each.level]
        ahead = [each.dataset for each in found if each.above.verdict == "helped"]
        sentence = (
            f"*{row.capitalize()}*: first, or level with the first by the interval, on {len(level)} of {len(found)} "
            f"data sets, clearly ahead on {_listed(ahead)}."
        )
        behind = [_behind(each) for each in found if not each.level]
        far = [each.dataset for each in found if each.above.mean < -FAR]
        sentence += f" Behind on {_listed(behind)}." if behind else ""
        told.append(sentence + f" More than {100 * FAR:.0f} points behind the best on {_listed(far)}.")
    return told


def _behind(each: Lead) -> str:
    return f"{each.dataset} ({NAMES[each.best]}, by {-100 * each.above.mean:.1f} points)"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"


def supervised_note(records: RecordFile, datasets: Sequence[str]) -> str:
    """How the supervised references compare with FD-MVGCL, both by default; empty without records."""
    told = []
    for method in CLASSIFIERS:
        gaps = {
            name: theirs - ours
            for name in datasets
            if (ours := mean_of(records, name, OURS, "default")) is not None
            and (theirs := mean_of(records, name, method, "default")) is not None
        }
        if gaps:
            ahead = [name for name, gap in gaps.items() if gap > 0]
            mean = float(np.mean(list(gaps.values())))
            told.append(f"{NAMES[method]}: {100 * mean:+.1f} points on average, ahead on {len(ahead)} of {len(gaps)}")
    return f"Against our default, by default: {'; '.join(told)}." if told else ""
