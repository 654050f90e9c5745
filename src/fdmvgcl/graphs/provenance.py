"""Where a graph came from: how the input was understood, and what of it was not taken as it stood."""

from dataclasses import dataclass

SYMMETRISED = "directed edges taken as undirected"
_MERGED = {
    "max": "each counts once, with its largest weight",
    "sum": "their weights are summed",
    "count": "how many there are is the weight",
    "first": "each counts once, with its first weight",
}


@dataclass(frozen=True)
class Origin:
    """How the input was understood, for the command to echo.

    Args:
        format: ``"comma-separated"``, ``"Parquet"``, …
        source, target: names of the id columns (``"1"`` and ``"2"`` where there is no header); None without columns.
        header: whether the first line was a header; None where the format has no lines.
        weight: name of the weight column, None if there is none.
        ignored: names of the columns that were not used.
        remarks: further sentences.
        clock: the time that ages of edges were counted from, and the half-life of weights; None without decay.
    """

    format: str
    source: str | None = None
    target: str | None = None
    header: bool | None = None
    weight: str | None = None
    ignored: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    clock: tuple[float, float] | None = None

    @property
    def ids_from(self) -> str | None:
        """``ids from column `source`/`target```, or ``ids from columns 1 and 2``; None without columns."""
        if self.source is None or self.target is None:
            return None
        if self.header is False:
            return f"ids from columns {self.source} and {self.target}"
        return f"ids from column `{self.source}`/`{self.target}`"

    @property
    def notes(self) -> tuple[str, ...]:
        header = {True: ", with a header", False: ", without a header", None: ""}[self.header]
        weight = (f"weights from `{self.weight}`",) if self.weight is not None else ()
        named = ", ".join(f"`{name}`" for name in self.ignored[:5])
        more = f" and {len(self.ignored) - 5} more" if len(self.ignored) > 5 else ""
        ignored = (f"columns not used: {named}{more}",) if self.ignored else ()
        return (f"read as {self.format}{header}", *weight, *ignored, *self.remarks)


@dataclass(frozen=True)
class Counts:
    """How many listed edges and nodes were not taken as they stood.

    Args:
        self_loops: edges from a node to itself, dropped.
        zero_weights: edges of weight 0, dropped.
        repeated: further listings of an edge in the same direction, merged.
        reciprocal: edges of an undirected graph that were listed in both directions, merged.
        filled: nodes that had no row of features.
        added: nodes that only the features list.
        merged: how: max, sum, count or first.
    """

    self_loops: int = 0
    zero_weights: int = 0
    repeated: int = 0
    reciprocal: int = 0
    filled: int = 0
    added: int = 0
    merged: str = "max"

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each that is not 0."""
        how = f" merged: {_MERGED[self.merged]}"
        both = "listed in both directions"
        told = [
            (self.self_loops, ("self-loop dropped", "self-loops dropped")),
            (self.zero_weights, ("edge of weight 0 dropped", "edges of weight 0 dropped")),
            (self.repeated, (f"repeated edge{how}", f"repeated edges{how}")),
            (self.reciprocal, (f"edge {both}{how}", f"edges {both}{how}")),
            (self.added, ("node only in the features", "nodes only in the features")),
            (self.filled, ("node without features filled in", "nodes without features filled in")),
        ]
        return tuple(counted(count, *words) for count, words in told if count)


def counted(count: int, one: str, many: str | None = None) -> str:
    """``2 708 nodes``."""
    word = one if count == 1 or many is None else many
    return f"{count:,}".replace(",", " ") + f" {word}"
