"""Which of the two orders of work is faster: project first and then diffuse, or diffuse once and then project."""

from dataclasses import dataclass
from typing import Literal, get_args

from fdmvgcl.diffusion.basis import ROWS
from fdmvgcl.diffusion.kernels import NARROWEST, WIDEST, panel_width
from fdmvgcl.machine import machine_memory

Order = Literal["project", "diffuse", "interpolate", "blocks"]
ORDERS: tuple[Order, ...] = get_args(Order)

# The recurrence slows down by (widest / width)^0.6 on panels that a larger graph makes narrower.
_NARROWING = 0.6


@dataclass(frozen=True)
class Rates:
    """Seconds of one unit of work, by all threads; the defaults are those of the machine of ``benchmarks/results``.

    Args:
        gemm: a floating-point operation of a dense product.
        sparse: a multiply-add of a sparse product X W.
        sweep: a multiply-add of the recurrence on the widest panels, with its share of memory traffic.
        stream: a byte read from memory.
        scan: a number sorted, as reading does.
        disk: a byte written, and on the disk.
    """

    gemm: float = 1.0 / 1.1e11
    sparse: float = 1.0 / 5.4e9
    sweep: float = 1.0 / 2.0e10
    stream: float = 1.0 / 1.0e10
    scan: float = 1.0 / 1.2e7
    disk: float = 1.0 / 1.0e9


REFERENCE = Rates()


@dataclass(frozen=True)
class Work:
    """How many units there are of each kind: see :class:`Rates`."""

    gemm: float = 0.0
    sparse: float = 0.0
    sweep: float = 0.0
    stream: float = 0.0

    def seconds(self, rates: Rates = REFERENCE) -> float:
        """At these rates."""
        return float(sum(value * getattr(rates, name) for name, value in vars(self).items()))


def swept(nodes: int, entries: int, columns: int, degrees: int, panels: int = 4) -> float:
    """Multiply-adds of a recurrence, as if its panels were the widest."""
    width = panel_width(nodes, panels, 4) or NARROWEST
    narrowing: float = (WIDEST / width) ** _NARROWING
    return degrees * (entries + 3 * nodes) * columns * narrowing


@dataclass(frozen=True)
class Workload:
    """What the cost of a training epoch depends on.

    Args:
        nodes, entries: N and the number of entries of Ā.
        features, feature_entries: F and the number of entries of X (N·F if dense).
        dense_features: whether X is stored dense.
        dim, views, degree: d, K and the degree of the expansion.
        modes: how many functions the basis has if they are not all terms of the expansion.
        kept: bytes of a number of the basis.
    """

    nodes: int
    entries: int
    features: int
    feature_entries: int
    dense_features: bool
    dim: int
    views: int
    degree: int
    modes: int | None = None
    kept: int = 4

    @property
    def projecting(self) -> Work:
        """An epoch of projecting first: X W and its gradient, then the recurrence forth and back."""
        product = 2 * self.feature_entries * self.dim * self.views
        sweeps = 2 * swept(self.nodes, self.entries, self.dim * self.views, self.degree)
        return Work(2 * product, 0, sweeps) if self.dense_features else Work(0, product, sweeps)

    @property
    def diffusing(self) -> Work:
        """An epoch of diffusing first: the basis contracted forth and back, and three dense products a view."""
        products = 3 * 2 * self.nodes * self.features * self.dim * self.views
        return Work(gemm=products, stream=2 * self.basis_bytes)

    @property
    def building(self) -> Work:
        """The basis, once."""
        return Work(sweep=swept(self.nodes, self.entries, self.features, self.degree), stream=2 * self.basis_bytes)

    @property
    def blocking(self) -> Work:
        """An epoch in blocks of rows: as diffusing first, but the views made twice, and two moments of each."""
        products = 4 * 2 * self.nodes * self.features * self.dim * self.views
        moments = 2 * self.nodes * self.dim**2 * self.views
        return Work(gemm=products + moments, stream=6 * self.basis_bytes)

    @property
    def project_seconds(self) -> float:
        return self.projecting.seconds()

    @property
    def diffuse_seconds(self) -> float:
        return self.diffusing.seconds()

    @property
    def basis_bytes(self) -> int:
        return self.kept * (self.modes or self.degree + 1) * self.nodes * self.features

    def training_bytes(self, order: Order) -> int:
        """Roughly what training takes at its peak besides time stepping."""
        weights = 4 * self.features * self.dim * self.views
        if order == "blocks":
            rows = 4 * min(self.nodes, ROWS) * ((self.modes or self.degree + 1) + 2 * self.views) * self.features
            views = 4 * min(self.nodes, ROWS) * self.dim * self.views
            moments = 4 * 8 * self.views * self.dim**2
            return 2 * rows + 6 * views + 12 * weights + moments + 8 * self.feature_entries + 16 * self.entries
        views = 4 * self.nodes * self.dim * self.views
        # Adam's two moments beside weight and gradient
        kept = 4 * weights + 8 * self.feature_entries + 16 * self.entries
        if order == "project":
            # views, projections, activations and the gradients of these
            return 6 * views + kept
        return self.passing_bytes + kept + self.basis_bytes

    @property
    def passing_bytes(self) -> int:
        """Of what an epoch makes and frees where features are diffused first, at its peak.

        In the loss, views with their gradients beside the features diffused for each; in the projection's gradient,
        these with theirs beside the views and theirs.
        """
        views, diffused = (4 * self.nodes * columns * self.views for columns in (self.dim, self.features))
        return max(4 * views + diffused, 2 * views + 2 * diffused)

    def faster_order(self, memory_limit: int | None = None) -> Order:
        """The faster order whose basis fits the memory limit (half of the machine's memory if None)."""
        worth = self.fits(memory_limit) and self.diffuse_seconds < self.project_seconds
        return "diffuse" if worth else "project"

    def fits(self, memory_limit: int | None = None) -> bool:
        """Whether the basis fits the limit."""
        return self.basis_bytes <= (machine_memory() // 2 if memory_limit is None else memory_limit)
