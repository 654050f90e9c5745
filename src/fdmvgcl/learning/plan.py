"""What embedding a graph will take, told before it is done: memory, disk and seconds of each phase, and why.

Seconds are counted work (:mod:`fdmvgcl.diffusion.cost`) at the rates of the machine; what is no product and no sweep
is counted in numbers sorted or bytes streamed, by factors that ``benchmarks/plan.py`` holds against real runs.
"""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from fdmvgcl.diffusion.basis import ROWS, panel_columns
from fdmvgcl.diffusion.cost import REFERENCE, Order, Rates, Work, Workload
from fdmvgcl.diffusion.group import ALONE, Group
from fdmvgcl.diffusion.linear import TOLERANCE
from fdmvgcl.diffusion.resources import Resources
from fdmvgcl.fractional.response import chebyshev_coefficients
from fdmvgcl.graphs.readers.outlook import BY_DUCKDB, IN_MEMORY, Outlook
from fdmvgcl.learning.knowledge import MOST_EDGES, MOST_NODES, WIDEST
from fdmvgcl.learning.prepare import Prepared, choose_order, kept_in_blocks, make_spec, modes_of, workload
from fdmvgcl.learning.structure import COLUMNS
from fdmvgcl.machine import AFFORDABLE

if TYPE_CHECKING:
    from fdmvgcl.learning.model import FDMVGCL

# The estimate is rough, so only what is far beyond the machine is refused.
REFUSED, CLOSE = 1.5, 0.7

# Bytes: of a process with its libraries; of the neighbours on a map; of a node's id and of an entry of the adjacency in
# memory; of a value while features are read; of a node while DuckDB numbers it, and of the pieces that it is given.
_PROCESS, _MAP, _ID, _ENTRY, _VALUE, _NUMBERED, _PIECES = 600e6, 250e6, 70, 12, 14, 60, 300e6
# Bytes on disk: of an edge while it is sorted; of a node in vectors and graph besides its numbers.
_SORTED, _NAMED = 60, 24

# Numbers sorted: of an edge read at once, in pieces, and more for text; of a value read, and scaled; of an entry of the
# operator; of a likelihood that a walk looks at.
_READ, _PIECEWISE, _TEXT, _READ_VALUE, _SCALED, _NORMALISED, _LOOK = 6.0, 7.0, 6.0, 1.2, 0.8, 0.6, 0.05
# Times that training streams all views; of an epoch, what embedding all takes in the end.
_PASSES, _LAST = 20, 0.5
# Seconds whatever the graph, at the rates of reference: until the program is there, and of the report; dense operations
# a node and dimension for exact neighbours.
_START, _REPORT, _NEIGHBOURS = 3.0, 5.0, 2e4
_WALK, _MOST_LOOKS = 2000, 1e10


@dataclass(frozen=True)
class Phase:
    """One part of the work.

    Args:
        name: of the phase.
        seconds: it takes.
        memory: bytes of the process at its peak.
        disk: bytes that it writes.
        why: what that is made of.
    """

    name: str
    seconds: float
    memory: int
    disk: int
    why: str


@dataclass(frozen=True)
class Plan:
    """What embedding takes, phase by phase, and what there is.

    Args:
        phases: in the order of work.
        present: bytes of memory that the machine has.
        free: bytes of disk where the work is done, None where it cannot be told.
        exact: whether the graph is known; else its size is told from its file's head.
    """

    phases: tuple[Phase, ...]
    present: int
    free: int | None = None
    exact: bool = False

    @property
    def seconds(self) -> float:
        return sum(phase.seconds for phase in self.phases)

    @property
    def memory(self) -> int:
        return max(phase.memory for phase in self.phases)

    @property
    def disk(self) -> int:
        return sum(phase.disk for phase in self.phases)

    @property
    def largest(self) -> Phase:
        """The phase that takes most memory."""
        return max(self.phases, key=lambda phase: phase.memory)

    @property
    def refusal(self) -> str | None:
        """Why this cannot be done here, and what to do; None if it can."""
        if self.memory > REFUSED * self.present:
            phase = self.largest
            told = f"{phase.name} needs about {_bytes(phase.memory)} of memory and this machine has"
            advice = "--reader duckdb" if phase.name == "reading" else "a smaller --dim or fewer --views"
            return f"{told} {_bytes(self.present)}; use {advice}"
        if self.free is not None and self.disk > self.free:
            told = f"this writes about {_bytes(self.disk)} and the disk has {_bytes(self.free)} of room"
            return f"{told}; use another --output or --scratch"
        return None

    @property
    def warning(self) -> str | None:
        """What is close to the machine's limits."""
        if self.memory <= CLOSE * self.present:
            return None
        return f"{self.largest.name} takes close to all memory that this machine has ({_bytes(self.present)})"

    def record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        told = {"memory": self.memory, "disk": self.disk, "seconds": self.seconds, "refusal": self.refusal}
        return asdict(self) | told


def plan(
    model: "FDMVGCL",
    work: Workload,
    order: Order,
    present: int,
    *,
    outlook: Outlook | None = None,
    pieces: int | None = None,
    training: int | None = None,
    stored: bool = False,
    structure: bool = False,
    report: bool = True,
    rates: Rates = REFERENCE,
    free: int | None = None,
    processes: int = 1,
) -> Plan:
    """What this work takes.

    Args:
        model: dimensions and epochs.
        work: of an epoch.
        order: of work.
        present: bytes of memory that the machine has.
        outlook: of the file; None for what is read already.
        pieces: bytes that reading in pieces may take, None for reading at once.
        training: bytes that training takes, if something knows better than the workload.
        stored: whether the basis goes to the disk.
        structure: whether columns are made of the edges.
        report: whether one is made.
        rates: of the machine.
        free: bytes of disk that there are.
        processes: how many share in the basis and in training.
    """
    graph = _PROCESS + _ENTRY * work.entries + _ID * work.nodes + 4 * work.feature_entries
    held = graph + 20 * work.entries + 4 * work.feature_entries  # with the operator and the features as they go in
    vectors = 4 * work.nodes * model.dim
    phases = [] if outlook is None or outlook.exact else [_reading(work, outlook, pieces, rates)]
    phases.append(_preparing(work, structure, held, rates))
    if order != "project":
        functions, kept = work.modes or work.degree + 1, 0 if stored else work.basis_bytes
        disk = functions * work.nodes * _panels(work) * work.kept // 4 if stored else 0
        why = f"{functions} functions of {work.features} columns, {_bytes(work.basis_bytes)}"
        making = 4 * panel_columns(work.nodes) * work.nodes * (work.degree + 3) if stored or work.modes else 0
        seconds = work.building.seconds(rates) / processes + disk * rates.disk
        phases.append(_phase("basis", seconds, held + making + kept, disk, why + (" on disk" if stored else "")))
    epoch = {"project": work.projecting, "blocks": work.blocking}.get(order, work.diffusing).seconds(rates)
    epoch += Work(stream=4 * _PASSES * work.nodes * model.dim * model.views).seconds(rates)
    drawn = model.schedule.train_rows
    if drawn != "all" and order != "project":
        epoch *= min(1.0, drawn / work.nodes)
    epoch /= processes
    needed = work.training_bytes(order) if training is None else training
    if order in ("diffuse", "interpolate") and needed <= AFFORDABLE * present:
        needed += work.passing_bytes  # blocks that were freed stay with the process
    why = f"{model.epochs} epochs of {epoch:.2g} s; {model.views} views of {work.nodes} nodes in {model.dim} dimensions"
    why += f", {ROWS} at a time" if order == "blocks" else ""
    phases.append(_phase("training", (model.epochs + _LAST) * epoch, graph + needed, 0, why))
    written = vectors + (8 + _NAMED) * work.nodes + 4 * work.entries + 4 * work.feature_entries
    why = f"vectors {_bytes(vectors)}, graph {_bytes(written - vectors)}"
    at_once = 0 if order == "blocks" else (2 + model.views) * vectors
    phases.append(_phase("writing", written * rates.disk, held + at_once, written, why))
    if model.epochs and work.nodes <= MOST_NODES and work.entries <= 2 * MOST_EDGES:
        share = min(1.0, WIDEST / model.dim)
        seconds = share * (model.epochs + _LAST) * epoch + work.building.seconds(rates)
        why = "a copy is trained without some edges, to see how well vectors know them"
        phases.append(_phase("verdict", seconds, held + share * needed, 0, why))
    if report:
        seconds = _REPORT * rates.scan / REFERENCE.scan + _NEIGHBOURS * work.nodes * model.dim * rates.gemm
        again = 0 if order == "project" or stored else work.basis_bytes
        why = "neighbours, clusters and spectra of a sample"
        memory = held + graph - _PROCESS + max(4 * vectors, again) + _MAP
        phases.append(_phase("report", seconds, memory, 0, why))
    return Plan(tuple(phases), present, free, exact=outlook is None or outlook.exact)


def plan_ahead(
    model: "FDMVGCL", outlook: Outlook, present: int, memory: int, directed: bool, group: Group = ALONE, **more: Any
) -> Plan:
    """The same from what a file's head tells.

    Args:
        model, present, more: see :func:`plan`.
        outlook: of the file.
        memory: bytes that work may take.
        directed: whether edges keep their direction.
        group: the processes that share in it, each of which takes so much memory.
    """
    width = outlook.columns or COLUMNS
    spec = make_spec(model.diffusion, model.time, 0)
    degree = chebyshev_coefficients(spec, TOLERANCE[torch.float32]).shape[1] - 1
    entries = outlook.edges * (1 if directed else 2) + outlook.nodes
    size = outlook.nodes * width
    work = Workload(outlook.nodes, entries, width, size, True, model.dim, model.views, degree)
    resources = Resources(memory, group=group)
    order, work = choose_order(model, directed, spec, work, None, resources)
    more["stored"] = order == "blocks" and resources.stores(work.basis_bytes)
    more |= {"structure": not outlook.columns, "processes": group.size}
    return plan(model, work, order, present, outlook=outlook, **more)


def plan_exactly(model: "FDMVGCL", prepared: Prepared, present: int, **more: Any) -> Plan:
    """The same of a graph that was read and prepared."""
    chosen = prepared.chosen
    more = {"training": prepared.memory, "structure": chosen.features.structure is not None} | more
    work = workload(model, prepared.graph, chosen.features, prepared.spec)
    fewer = chosen.order_of_work in ("interpolate", "blocks")
    modes = modes_of(prepared.spec, prepared.smallest_alpha) if fewer else None
    work = replace(work, modes=None if modes is None else len(modes))
    work = kept_in_blocks(model, work) if prepared.in_blocks else work
    more["stored"] = prepared.in_blocks and prepared.resources.stores(work.basis_bytes)
    more["processes"] = prepared.resources.group.size
    return plan(model, work, chosen.order_of_work, present, **more)


def _reading(work: Workload, outlook: Outlook, pieces: int | None, rates: Rates) -> Phase:
    text = _TEXT if outlook.text else 0.0
    values = work.nodes * outlook.columns
    if pieces is None:
        seconds = rates.scan * ((_READ + text) * outlook.edges + _READ_VALUE * values)
        memory = _PROCESS + max(IN_MEMORY * outlook.edges, _ENTRY * work.entries + _VALUE * values)
        return _phase("reading", seconds, memory, 0, f"{outlook.edges} edges at once, {IN_MEMORY} bytes each")
    seconds = rates.scan * ((_PIECEWISE + text) * outlook.edges + _READ_VALUE * values)
    sorting = min(0.6 * pieces, BY_DUCKDB * outlook.edges)
    memory = _PROCESS + _PIECES + sorting + _NUMBERED * work.nodes
    disk = _SORTED * outlook.edges + 4 * work.entries + 4 * values + _NAMED * work.nodes
    return _phase("reading", seconds, memory, disk, f"{outlook.edges} edges in pieces, sorted on disk")


def _preparing(work: Workload, structure: bool, held: float, rates: Rates) -> Phase:
    seconds = _START * rates.scan / REFERENCE.scan + work.building.seconds(rates)
    seconds += rates.scan * (_NORMALISED * work.entries + _SCALED * work.feature_entries)
    more = 4.0 * work.feature_entries
    if structure:
        seconds += rates.scan * _LOOK * min(_MOST_LOOKS, 10.0 * work.nodes * min(_WALK, work.nodes))
        more = 3 * 4.0 * work.nodes * (COLUMNS + 16) + 40 * min(1e7 + 100 * work.nodes, work.nodes**2)
    why = "the program, the operator, features scaled" + (f", {COLUMNS} columns made of the edges" if structure else "")
    return _phase("preparing", seconds, held + more, 0, why)


def _panels(work: Workload) -> int:
    """Bytes of a row of all columns, as panels hold them."""
    width = panel_columns(work.nodes)
    return 4 * width * -(-work.features // width)


def _phase(name: str, seconds: float, memory: float, disk: float, why: str) -> Phase:
    return Phase(name, seconds, int(memory), int(disk), why)


def _bytes(count: float) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{max(1.0, count / 1e6):.0f} MB"


__all__ = ["CLOSE", "REFUSED", "Phase", "Plan", "plan", "plan_ahead", "plan_exactly"]
