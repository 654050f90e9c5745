"""Which of the two orders of work is faster: project first and then diffuse, or diffuse once and then project."""

from dataclasses import dataclass
from typing import Literal, get_args

from fdmvgcl.diffusion.kernels import NARROWEST, WIDEST, panel_width
from fdmvgcl.machine import machine_memory

Order = Literal["project", "diffuse", "interpolate"]
ORDERS: tuple[Order, ...] = get_args(Order)

# Seconds of one unit of work on the machine of benchmarks/results; only their ratios matter.
_GEMM = 1.0 / 1.1e11  # a floating-point operation of a dense product
_SPARSE = 1.0 / 5.4e9  # a multiply-add of a sparse product X W
_SWEEP = 1.0 / 2.0e10  # a multiply-add of the recurrence on the widest panels, with its share of memory traffic
_NARROWING = 0.6  # the recurrence slows down by (widest / width)^0.6 on panels that a larger graph makes narrower
_STREAM = 1.0 / 1.0e10  # a byte of the basis read from memory


@dataclass(frozen=True)
class Workload:
    """What the cost of a training epoch depends on.

    Args:
        nodes, entries: N and the number of entries of Ā.
        features, feature_entries: F and the number of entries of X (N·F if dense).
        dense_features: whether X is stored dense.
        dim, views, degree: d, K and the degree of the expansion.
        modes: how many functions the basis has if they are not all terms of the expansion.
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

    @property
    def project_seconds(self) -> float:
        """An epoch of projecting first: X W and its gradient, then the recurrence forth and back."""
        product = 2 * self.feature_entries * self.dim * self.views
        projection = 2 * product * _GEMM if self.dense_features else product * _SPARSE
        width = panel_width(self.nodes, 4, 4) or NARROWEST
        sweep: float = _SWEEP * (WIDEST / width) ** _NARROWING
        return projection + 2 * self.degree * (self.entries + 3 * self.nodes) * self.dim * self.views * sweep

    @property
    def diffuse_seconds(self) -> float:
        """An epoch of diffusing first: the basis contracted forth and back, and three dense products a view."""
        contraction = 2 * self.basis_bytes * _STREAM
        products = 3 * 2 * self.nodes * self.features * self.dim * self.views * _GEMM
        return contraction + products

    @property
    def basis_bytes(self) -> int:
        return 4 * (self.modes or self.degree + 1) * self.nodes * self.features

    def training_bytes(self, order: Order) -> int:
        """Roughly what training takes at its peak besides time stepping."""
        weights = 4 * self.features * self.dim * self.views
        views = 4 * self.nodes * self.dim * self.views
        basis = 0 if order == "project" else self.basis_bytes
        # views, projections, activations and the gradients of these; Adam's two moments beside weight and gradient
        return 6 * views + 4 * weights + 8 * self.feature_entries + 16 * self.entries + basis

    def faster_order(self, memory_limit: int | None = None) -> Order:
        """The faster order whose basis fits the memory limit (half of the machine's memory if None)."""
        worth = self.fits(memory_limit) and self.diffuse_seconds < self.project_seconds
        return "diffuse" if worth else "project"

    def fits(self, memory_limit: int | None = None) -> bool:
        """Whether the basis fits the limit."""
        return self.basis_bytes <= (machine_memory() // 2 if memory_limit is None else memory_limit)
