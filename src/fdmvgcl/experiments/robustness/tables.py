"""The tables of robustness, from records alone."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from fdmvgcl.attacks.scene import TOLERANCE
from fdmvgcl.evaluation import summarise
from fdmvgcl.experiments import published
from fdmvgcl.experiments.records import Record, RecordFile
from fdmvgcl.experiments.robustness import certified
from fdmvgcl.experiments.robustness.attacks import ATTACKS, BlackBox
from fdmvgcl.experiments.robustness.cells import Cell, cells, curve, rate_of, stored
from fdmvgcl.experiments.robustness.methods import DEFENDED, METHODS, OURS, RAW
from fdmvgcl.experiments.tables import MISSING, Table, percent

WEAK = "weak"
PRINTED = ("FD-MVGCL", "FROND")  # the paper's columns that are shown
_GENERAL = (
    "Test accuracy in %, the mean over seeds ± their deviation; a seed is one of the splits where there are several, "
    "a training and an attack. Evasion: trained on the clean graph, then attacked; poisoning: trained on the attacked "
    "graph. No attack takes a node's last edge. Features stay under attacks on edges, so that raw features keep their "
    "clean accuracy: what is below it would do better without the graph."
)
_WEAK_NOTE = (
    f"*{WEAK}*: the attack knows more than another that leaves less. That tells of the attack, not of the row: "
    "adaptive should be at most transfer (prbcd), and that at most random edges."
)
_LARGE = "Greedy and PGD look at all pairs of nodes, or, where these are too many, at 200 000 random ones at a time."


def tables_of(records: RecordFile, name: str) -> list[Table]:
    """All of a data set, without those that have no records."""
    own = [_under_attack(records, name), _curve(records, name), _stored(records, name), certified.table(records, name)]
    return [table for table in own if table.rows]


def summary(records: RecordFile, datasets: Sequence[str]) -> Table:
    """Clean, random, transfer and the least, with and without the defence, beside raw features."""
    rows = []
    for name in (each for each in datasets if each in records.datasets()):
        found = _tried(records, name)
        for method in (OURS, DEFENDED):
            each = [scores(records, Cell(name, attack, rate_of(name)), method) for attack in ("random", "prbcd")]
            lowest = minima(records, found, method)
            parts = [_clean(records, found, method), *each, lowest, _clean(records, found, RAW)]
            if lowest:
                rows.append([name, method, f"{rate_of(name):.0%}", *map(_mean, parts)])
    header = ("data set", "row", "flipped", "clean", "random", "transfer", "least of all", "raw features")
    return Table("", header, rows)


def _tried(records: RecordFile, name: str) -> list[Cell]:
    """Cells of the table at the paper's rate that some row has been put to."""
    wanted = [cell for cell in cells(name) if cell.stored is None and cell.rate == rate_of(name)]
    return [cell for cell in wanted if any(scores(records, cell, method) for method in METHODS)]


def _under_attack(records: RecordFile, name: str) -> Table:
    found = _tried(records, name)
    if not found:
        return Table("", (), [])
    rows = [["none", "", *_paper(name, "clean"), *(_mean(_clean(records, found, method)) for method in METHODS)]]
    weak = {method: set(_weak(records, name, method)) for method in METHODS}
    for cell in found:
        attack = ATTACKS[cell.attack]
        told = [
            _mean(scores(records, cell, method)) + (f" *{WEAK}*" if cell.attack in weak[method] else "")
            for method in METHODS
        ]
        rows.append([cell.attack, cell.setting, *_paper(name, attack.paper), *told])
    lowest = [_mean(minima(records, found, method)) for method in METHODS]
    rows.append(
        [
            "least of all",
            "evasion",
            *("" for _ in PRINTED),
            *(each if each == MISSING else f"**{each}**" for each in lowest),
        ]
    )
    readings = "; ".join(f"{name}: {ATTACKS[name].told}" for name in dict.fromkeys(cell.attack for cell in found))
    least = "The least is of evasion by edges alone, all test nodes scored, seed by seed, where a row has all of it."
    notes = [_GENERAL, f"{readings}.", least, *([_WEAK_NOTE] if any(weak.values()) else []), _LARGE]
    header = ("attack", "setting", *(f"paper's {method}" for method in PRINTED), *METHODS)
    return Table(f"{name}: {rate_of(name):.0%} of the edges flipped", header, rows, notes)


def _curve(records: RecordFile, name: str) -> Table:
    rows = []
    for cell in curve(name):
        told = [_mean(scores(records, cell, method)) for method in METHODS]
        if any(each != MISSING for each in told):
            rows.append([f"{cell.rate:.0%}", cell.attack, cell.setting, *told])
    return Table(f"{name}: accuracy against the rate", ("flipped", "attack", "setting", *METHODS), rows)


def _stored(records: RecordFile, name: str) -> Table:
    rows = []
    for cell in stored(name):
        told = [_mean(scores(records, cell, method)) for method in METHODS]
        if any(each != MISSING for each in told):
            strength = f"{cell.rate:.0%}" if cell.stored == "metattack" else f"{cell.rate:.0f} a target"
            rows.append([str(cell.stored), strength, cell.setting, *told])
    note = (
        "The graphs that Pro-GNN (Jin et al. 2020) published with their split, on the largest component. Metattack's "
        "score is of all test nodes, Nettack's of its targets, test nodes of more than ten edges. These graphs were "
        "made against a GCN: for the other rows they are transfer attacks."
    )
    return Table(
        f"{name}: Pro-GNN's attacked graphs", ("attack", "flipped", "setting", *METHODS), rows, [note] if rows else []
    )


# -- from records -----------------------------------------------------------------------------------------------------


def scores(records: RecordFile, cell: Cell, method: str) -> list[float]:
    """Of a cell and a row, a number a seed."""
    return [record["accuracy"] for record in records.matching(**cell.key(method))]


def minima(records: RecordFile, wanted: Iterable[Cell], method: str) -> list[float]:
    """The least over the evasion attacks on edges alone that score all test nodes, for each seed that has them all."""
    counted = [cell for cell in wanted if cell.setting == "evasion" and _on_edges_and_all(cell)]
    by_seed: dict[int, list[float]] = {}
    for cell in counted:
        for record in records.matching(**cell.key(method)):
            by_seed.setdefault(record["key"]["seed"], []).append(record["accuracy"])
    return [min(found) for found in by_seed.values() if len(found) == len(counted)]


def _on_edges_and_all(cell: Cell) -> bool:
    attack = ATTACKS[cell.attack]
    return attack.scored is None if isinstance(attack, BlackBox) else not attack.features


def _clean(records: RecordFile, found: Sequence[Cell], method: str) -> list[float]:
    """Clean accuracy of all test nodes, a number a seed."""
    by_seed: dict[int, Record] = {}
    for cell in filter(_scores_all, found):
        by_seed |= {record["key"]["seed"]: record for record in records.matching(**cell.key(method))}
    return [record["clean"] for record in by_seed.values()]


def _scores_all(cell: Cell) -> bool:
    attack = ATTACKS[cell.attack]
    return not isinstance(attack, BlackBox) or attack.scored is None


def _weak(records: RecordFile, name: str, method: str) -> Iterator[str]:
    """Attacks that leave more than one that knows less."""

    def mean(attack: str) -> float:
        found = scores(records, Cell(name, attack, rate_of(name)), method)
        return float(np.mean(found)) if found else np.nan

    random, transfer = mean("random"), mean("prbcd")
    if method != RAW and transfer > random + TOLERANCE:
        yield "prbcd"
    known = np.fmin(random, transfer)
    adaptive = [name for name in ATTACKS if name.startswith("adaptive ")]
    yield from (attack for attack in adaptive if method != RAW and mean(attack) > known + TOLERANCE)


def _mean(found: Sequence[float]) -> str:
    if not found:
        return MISSING
    summary = summarise([[score] for score in found])
    return percent(summary.mean) + ("" if summary.over_seeds is None else f" ± {100 * summary.over_seeds:.1f}")


def _paper(name: str, attack: str | None) -> list[str]:
    printed = [published.robustness(name, method).get(attack or "") for method in PRINTED]
    return [MISSING if each is None else f"{each:.1f}" for each in printed]
