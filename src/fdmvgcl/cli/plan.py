"""``fdmvgcl plan``: what embedding would take; and the same told and heeded before ``embed`` works."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fdmvgcl.cli.console import Reporter, gigabytes
from fdmvgcl.cli.presence import check_there
from fdmvgcl.cli.sources import ReadOptions, Room, names_data_set, open_source
from fdmvgcl.diffusion.group import ALONE, Group
from fdmvgcl.diffusion.rates import measured
from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.graphs.readers.opening import STDIN
from fdmvgcl.graphs.readers.outlook import Outlook, look_ahead, outlook_of
from fdmvgcl.learning.model import FDMVGCL
from fdmvgcl.learning.plan import Plan, plan_ahead
from fdmvgcl.machine import memory_share

if TYPE_CHECKING:
    from fdmvgcl.cli.embed import EmbedOptions

# What takes less is not worth a table, nor the second that timing the machine takes.
SOON = 20.0


def plan(
    source: str, model: FDMVGCL, reading: ReadOptions, options: "EmbedOptions", reporter: Reporter, *, as_json: bool
) -> None:
    """Print what embedding SOURCE would take; :class:`UserError` in the end if it cannot be done here."""
    model.check_parameters()
    made = _planned(_outlook(source, reading, options), source, model, reading, options, timed=True)
    if as_json:
        reporter.json(made.record())
    else:
        show(made, reporter)
    if made.refusal is not None:
        raise UserError(made.refusal)


def foretell(
    source: str, model: FDMVGCL, reading: ReadOptions, options: "EmbedOptions", reporter: Reporter, group: Group
) -> None:
    """Before anything is read, tell what takes longer than some seconds, and refuse what cannot be done."""
    if names_data_set(source) or source == STDIN or not os.path.exists(source):
        return
    outlook = look_ahead(source, reading.columns_of_edges, reading.features)
    if outlook is None:
        return
    made = _planned(outlook, source, model, reading, options, reporter.remark, group, timed=False)
    if made.seconds > SOON:
        made = _planned(outlook, source, model, reading, options, group=group, timed=True)
        show(made, reporter)
    if model.device.startswith("cpu"):
        heed(made, reporter)


def heed(plan: Plan, reporter: Reporter) -> None:
    """Refuse what is far beyond this machine, and warn of what is close."""
    if plan.refusal is not None:
        raise UserError(plan.refusal)
    if plan.warning is not None:
        reporter.warn(plan.warning)


def show(plan: Plan, reporter: Reporter) -> None:
    """A line for each phase, and one for all."""
    about = "" if plan.exact else ", told by the file's head"
    rows = [
        [each.name, duration(each.seconds), gigabytes(each.memory), gigabytes(each.disk) if each.disk else "", each.why]
        for each in plan.phases
    ]
    whole = ["all" + about, duration(plan.seconds), gigabytes(plan.memory), gigabytes(plan.disk), ""]
    reporter.table(["phase", "time", "memory", "disk", "why"], [*rows, whole], text_columns=(0, 4))


def room_of(options: "EmbedOptions", tell: Callable[[str], None]) -> Room:
    """What reading may take."""
    return Room(options.memory or memory_share() // 2, options.scratch or Path("scratch"), options.reader, tell)


def duration(seconds: float) -> str:
    """``2 h 5 min``, ``3 min``, ``8 s``."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def _outlook(source: str, reading: ReadOptions, options: "EmbedOptions") -> Outlook:
    if names_data_set(source):
        graph = open_source(source, reading, options.data_root).graph
        return Outlook(0, graph.num_edges, graph.num_nodes, graph.num_features, exact=True)
    check_there(source, reading.features)
    if source == STDIN:
        raise UserError("what the standard input takes cannot be told before it is read: name a file")
    if reading.encoding is not None:
        raise ArgumentError("encoding", f"cannot be planned for: only text in UTF-8 is, got {reading.encoding!r}")
    return outlook_of(source, reading.columns_of_edges, reading.features)


def _planned(
    outlook: Outlook,
    source: str,
    model: FDMVGCL,
    reading: ReadOptions,
    options: "EmbedOptions",
    tell: Callable[[str], None] = lambda text: None,
    group: Group = ALONE,
    *,
    timed: bool,
) -> Plan:
    room = room_of(options, tell)
    in_pieces = not names_data_set(source) and room.wants_store(source, reading)
    place = (options.scratch or options.output or Path()).absolute()
    there = next(each for each in (place, *place.parents) if each.is_dir())
    more = {"rates": measured(there)} if timed else {}
    return plan_ahead(
        model,
        outlook,
        memory_share(),
        room.memory,
        reading.directed,
        pieces=room.memory if in_pieces else None,
        report=options.report,
        free=shutil.disk_usage(there).free,
        group=group,
        **more,
    )
