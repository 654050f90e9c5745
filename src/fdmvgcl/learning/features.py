"""From a graph's feature table to the encoder's input, the same way at training time and for new nodes later."""

import hashlib
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.graphs.arrays import Features as Table
from fdmvgcl.graphs.assortativity import direction_assortativity, magnitude_assortativity
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.operators import csr_tensor
from fdmvgcl.learning.settings import FeatureScaling

Scaling = Literal["none", "rows", "columns", "both"]

SUBSTITUTE_COLUMNS = 128

# Set where they part the four data sets on which the defaults were developed, by their validation nodes:
# magnitudes 0.28 (Chameleon, better kept) against 0.09 (Photo) and less; directions 0.04 (Wisconsin, better with a
# skip-connection, and with weight 10 than with 1, 3 or 30) against 0.08 (Photo) and more.
KEEP_MAGNITUDES = 0.2
SKIP_BELOW = 0.05
SUGGESTED_SKIP_WEIGHT = 10.0

# A column whose variance is a smaller share of its mean square than this does not vary: float32 rounding has 4e-15.
NO_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class FeatureTransform:
    """How features are scaled, fixed on the training graph.

    Args:
        scaling: ``"rows"`` divides a node's features by the sum of their magnitudes, ``"columns"`` divides every column
            by its standard deviation on the training graph, so that rare words weigh as much as frequent ones,
            ``"both"`` does columns first and rows then, ``"none"`` leaves them. All keep a sparse table sparse.
        columns: number F of columns.
        names: the columns' names, if the training graph had any.
        substitute: whether the graph had no features and :func:`substitute_features` stand in.
        deviation: of each column (1 where it does not vary), shape (F,), for ``"columns"`` and ``"both"``.
        centre: the mean row of the scaled features, shape (F,); None if it stays.
    """

    scaling: Scaling
    columns: int
    names: tuple[str, ...] | None = None
    substitute: bool = False
    deviation: NDArray[np.float32] | None = None
    centre: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        if (self.deviation is not None) != (self.scaling in ("columns", "both")):
            raise UserError(f"deviations of columns go with scaling columns or both, got {self.scaling!r}")

    @classmethod
    def fit(cls, graph: Graph, scaling: FeatureScaling, *, centre: bool = False) -> "FeatureTransform":
        """``"auto"`` scales columns if a feature is negative; otherwise (counts, words, pixels) it scales rows, unless
        neighbours have features of like magnitude (assortativity above 0.2), which then tells something and is kept.
        """
        if graph.features is None:
            return cls("none", SUBSTITUTE_COLUMNS, substitute=True)
        table = graph.features
        if table.shape[1] == 0:
            raise ArgumentError("features", "must have at least one column, got 0")
        if scaling == "auto":
            scaling = _suggested_scaling(graph, table)
        deviation = _deviation(table) if scaling in ("columns", "both") else None
        transform = cls(scaling, table.shape[1], graph.feature_names, False, deviation)
        return replace(transform, centre=feature_centre(transform.scaled(graph))) if centre else transform

    def apply(self, graph: Graph, device: str = "cpu") -> tuple[Tensor, Tensor | None]:
        """The encoder's input X, shape (N, F), as the scaled table and the centre to subtract, if there is one."""
        centre = None if self.centre is None else torch.from_numpy(self.centre).to(device)
        return self.scaled(graph).to(device), centre

    def scaled(self, graph: Graph) -> Tensor:
        """X but for its centre, float32; a CSR tensor where the table is sparse."""
        table = self._table(graph)
        if self.deviation is not None:
            table = table @ sparse.diags_array(1 / self.deviation) if sparse.issparse(table) else table / self.deviation
        if self.scaling in ("rows", "both"):
            table = _scale_rows(table)
        return _as_tensor(table)

    def _table(self, graph: Graph) -> Table:
        if self.substitute:
            if graph.features is not None:
                raise UserError(f"the model was trained without features, got a graph with {graph.num_features}")
            return substitute_features(graph.ids)
        if graph.features is None:
            raise UserError(f"the model needs {self.columns} feature columns, got a graph without features")
        if graph.num_features != self.columns:
            raise UserError(f"the model needs {self.columns} feature columns, got {graph.num_features}")
        if self.names is None or graph.feature_names is None or self.names == graph.feature_names:
            return graph.features
        missing = set(self.names) - set(graph.feature_names)
        if missing:
            raise UserError(f"the model needs a feature column {min(missing)!r}, which the graph does not have")
        position = {name: i for i, name in enumerate(graph.feature_names)}
        return graph.features[:, [position[name] for name in self.names]]


def feature_centre(x: Tensor) -> NDArray[np.float32] | None:
    """The mean row of X (N, F), shape (F,), or None where all rows are the same and nothing would be left."""
    mean, square = (total / len(x) for total in _column_totals(x))
    varies = (square - mean.square() > NO_VARIANCE * square).any()
    return mean.float().cpu().numpy() if bool(varies) else None


def _column_totals(x: Tensor) -> tuple[Tensor, Tensor]:
    """Sums and sums of squares of the columns in float64, each of shape (F,)."""
    if x.layout == torch.strided:
        return x.sum(0, dtype=torch.float64), torch.linalg.vector_norm(x, dim=0, dtype=torch.float64).square()
    values, columns = x.values().double(), x.col_indices()
    empty = torch.zeros(x.shape[1], dtype=torch.float64, device=x.device)
    return empty.index_add(0, columns, values), empty.index_add(0, columns, values.square())


def suggested_skip(graph: Graph, transform: FeatureTransform) -> int:
    """1 where neighbours hardly resemble each other (direction assortativity below 0.05), so that diffusion alone
    would blur what tells nodes apart; 0 elsewhere, and where magnitudes are kept or features are substitutes.
    """
    if graph.features is None or transform.scaling == "none":
        return 0
    return int(direction_assortativity(graph, graph.features) < SKIP_BELOW)


def _suggested_scaling(graph: Graph, table: Table) -> Scaling:
    if table.min() < 0:
        return "columns"
    return "none" if magnitude_assortativity(graph, table) > KEEP_MAGNITUDES else "rows"


def substitute_features(ids: tuple[str, ...]) -> NDArray[np.float32]:
    """Stand-in features of a graph that has none: 128 signs ±1/√128 drawn from a hash of each node's id.

    Two nodes have nearly orthogonal rows, so that after diffusion two rows are similar as far as the nodes reach the
    same nodes. A node's row depends on nothing but its id: it is the same tomorrow and for a node never seen before.

    Returns:
        Shape (N, 128), float32.
    """
    digests = b"".join(hashlib.blake2b(node.encode(), digest_size=SUBSTITUTE_COLUMNS // 8).digest() for node in ids)
    bits = np.unpackbits(np.frombuffer(digests, np.uint8)).reshape(len(ids), SUBSTITUTE_COLUMNS)
    return (bits.astype(np.float32) * 2 - 1) / np.float32(np.sqrt(SUBSTITUTE_COLUMNS))


def _deviation(table: Table) -> NDArray[np.float32]:
    """Standard deviation of each column, 1 where it does not vary."""
    mean = np.asarray(table.mean(axis=0, dtype=np.float64)).reshape(-1)
    if sparse.issparse(table):
        squares = sparse.csr_array(table, dtype=np.float64).power(2)
        variance = np.asarray(squares.mean(axis=0)).reshape(-1) - mean**2
    else:
        variance = table.var(axis=0, dtype=np.float64)
    varies = variance > NO_VARIANCE * mean**2
    return np.sqrt(np.where(varies, variance, 1.0)).astype(np.float32)


def _scale_rows(table: Table) -> Table:
    total = np.asarray(abs(table).sum(axis=1), dtype=np.float64).reshape(-1)
    factor = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0).astype(np.float32)
    return sparse.diags_array(factor) @ table if sparse.issparse(table) else table * factor[:, None]


def _as_tensor(table: Table) -> Tensor:
    if not sparse.issparse(table):
        return torch.from_numpy(np.array(table, dtype=np.float32, order="C"))
    table = sparse.csr_array(table)
    return csr_tensor(
        torch.from_numpy(table.indptr.astype(np.int64)),
        torch.from_numpy(table.indices.astype(np.int64)),
        torch.from_numpy(table.data.astype(np.float32)),
        table.shape,
    )
