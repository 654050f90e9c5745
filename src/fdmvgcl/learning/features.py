"""From a graph's feature table to the encoder's input, the same way at training time and for new nodes later."""

import warnings
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.graphs.arrays import Features as Table
from fdmvgcl.graphs.assortativity import magnitude_assortativity
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.marks import MARKS
from fdmvgcl.graphs.operators import Operator, csr_tensor
from fdmvgcl.graphs.provenance import counted
from fdmvgcl.learning.settings import FeatureScaling
from fdmvgcl.learning.structure import Structure

Scaling = Literal["none", "rows", "columns", "both"]

# Set where it parts the data sets on which the defaults were developed, by their validation nodes: 0.28 (Chameleon,
# magnitudes better kept) against 0.09 (Photo) and less.
KEEP_MAGNITUDES = 0.2

# Words, counts and pixels: a column's usual size is within this factor of most others', and this share of entries is 0.
_ONE_UNIT, _MANY_ZEROS = 10.0, 0.25

# A column whose variance is a smaller share of its mean square than this does not vary: float32 rounding has 4e-15.
NO_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class FeatureTransform:
    """How features are scaled, fixed on the training graph.

    Args:
        scaling: ``"rows"`` divides a node's features by the sum of their magnitudes, ``"columns"`` divides every column
            by its standard deviation on the training graph, so that rare words weigh as much as frequent ones,
            ``"both"`` does columns first and rows then, ``"none"`` leaves them. All keep a sparse table sparse.
        columns: number F of columns of the table that are used; 0 for none.
        names: the columns' names, if the training graph had any.
        deviation: of each column (1 where it does not vary), shape (F,), for ``"columns"`` and ``"both"``.
        structure: what the edges tell, as further columns; None to leave it out.
        structure_scale: what these columns are multiplied by.
        centre: the mean row of all columns, shape (width,); None if it stays.
    """

    scaling: Scaling
    columns: int
    names: tuple[str, ...] | None = None
    deviation: NDArray[np.float32] | None = None
    structure: Structure | None = None
    structure_scale: float = 1.0
    centre: NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        if (self.deviation is not None) != (self.scaling in ("columns", "both")):
            raise UserError(f"deviations of columns go with scaling columns or both, got {self.scaling!r}")

    @property
    def width(self) -> int:
        """Columns of X."""
        return self.columns + (0 if self.structure is None else self.structure.vectors.shape[1])

    @classmethod
    def fit(
        cls, graph: Graph, scaling: FeatureScaling, *, operator: Operator | None = None, seed: int = 0
    ) -> "FeatureTransform":
        """Of a graph without features, what its edges tell (``operator`` and ``seed`` are for that alone).

        ``"auto"`` scales columns where they have units of their own, and rows where all are counts of one kind,
        words or pixels, unless neighbours have features of like magnitude (assortativity above 0.2), which then tells
        something and is kept; see :func:`one_unit`.
        """
        if graph.features is None:
            return cls("none", 0, structure=Structure.fit(graph, operator or graph.operator(), seed))
        table = graph.features
        if table.shape[1] == 0:
            raise ArgumentError("features", "must have at least one column, got 0")
        if scaling == "auto":
            scaling = _suggested_scaling(graph, table)
        deviation = _deviation(table) if scaling in ("columns", "both") else None
        return cls(scaling, table.shape[1], graph.feature_names, deviation)

    def with_structure(self, graph: Graph, structure: Structure, weight: float) -> "FeatureTransform":
        """With structural columns whose rows are ``weight`` times as long as those of the table, as a root mean square
        of all nodes' rows around their mean."""
        own, theirs = _spread(self.scaled(graph)), _spread(torch.from_numpy(structure.vectors))
        return replace(self, structure=structure, structure_scale=weight * own / theirs if own * theirs > 0 else 1.0)

    def centred(self, graph: Graph) -> "FeatureTransform":
        """With the mean row of this graph to subtract."""
        return replace(self, centre=feature_centre(self.scaled(graph)))

    def apply(self, graph: Graph, device: str = "cpu") -> tuple[Tensor, Tensor | None]:
        """The encoder's input X, shape (N, width), as the scaled columns and the centre to subtract, if any."""
        centre = None if self.centre is None else torch.from_numpy(self.centre).to(device)
        return self.scaled(graph).to(device), centre

    def scaled(self, graph: Graph) -> Tensor:
        """X but for its centre, float32; a CSR tensor where the table is sparse."""
        if not self.columns:
            return torch.from_numpy(self._structural(graph))
        table = self._table(graph)
        if self.deviation is not None:
            table = table @ sparse.diags_array(1 / self.deviation) if sparse.issparse(table) else table / self.deviation
        if self.scaling in ("rows", "both"):
            table = _scale_rows(table)
        if self.structure is not None:
            stack = sparse.hstack if sparse.issparse(table) else np.hstack
            table = stack([table, self._structural(graph)])
        return _as_tensor(table)

    def _structural(self, graph: Graph) -> NDArray[np.float32]:
        assert self.structure is not None
        rows, without = self.structure.of(graph)
        if without:
            nodes = counted(without, "node has", "nodes have")
            warnings.warn(f"{nodes} no neighbour that the model knows, so the edges tell nothing of them", stacklevel=2)
        return rows * np.float32(self.structure_scale)

    def _table(self, graph: Graph) -> Table:
        if graph.features is None:
            raise UserError(f"the model needs {self.columns} feature columns, got a graph without features")
        named = self.names is not None and graph.feature_names is not None
        missing = sorted({*(self.names or ())} - {*(graph.feature_names or ())}) if named else []
        if missing:
            raise UserError(f"the model needs a feature column {missing[0]!r}, which the graph does not have")
        strange = sorted({*(graph.feature_names or ())} - {*(self.names or ())}) if named else []
        if strange:
            raise UserError(f"the model knows no feature column {strange[0]!r}, which the graph has")
        if graph.num_features != self.columns:
            raise UserError(f"the model needs {self.columns} feature columns, got {graph.num_features}")
        if self.names is None or graph.feature_names is None or self.names == graph.feature_names:
            return graph.features
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


def _suggested_scaling(graph: Graph, table: Table) -> Scaling:
    if not one_unit(graph, table):
        return "columns"
    return "none" if magnitude_assortativity(graph, table) > KEEP_MAGNITUDES else "rows"


def one_unit(graph: Graph, table: Table) -> bool:
    """Whether all columns count the same kind of thing, so that a row's entries can be added up: words, pixels.

    They do not where a column is negative, holds a date or is a mark of structure, where fewer than a quarter of the
    entries are 0, and where what is not 0 is ten times larger in some columns than in others (the 90th and the 10th of
    a hundred): ages and incomes.
    """
    kinds = graph.feature_kinds or ()
    marked = (graph.feature_names or ())[-len(MARKS) :] == MARKS
    if table.min() < 0 or marked or not {"date", "period"}.isdisjoint(kinds):
        return False
    filled = np.asarray((table != 0).sum(axis=0), dtype=np.float64).ravel()
    if filled.sum() > (1 - _MANY_ZEROS) * table.shape[0] * table.shape[1]:
        return False
    used = filled > 0
    sizes = np.asarray(table.sum(axis=0), dtype=np.float64).ravel()[used] / filled[used]
    low, high = np.quantile(sizes, (0.1, 0.9)) if len(sizes) else (1.0, 1.0)
    return bool(high <= _ONE_UNIT * low)


def _spread(x: Tensor) -> float:
    """Root of the mean squared length of the rows of X (N, F) around their mean."""
    mean, square = (total / len(x) for total in _column_totals(x))
    return float((square - mean.square()).clamp(min=0).sum().sqrt())


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
