"""From a graph's feature table to the encoder's input, the same way at training time and for new nodes later."""

import hashlib
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse
from torch import Tensor

from fdmvgcl.assortativity import direction_assortativity, magnitude_assortativity
from fdmvgcl.graph import Graph
from fdmvgcl.graph_arrays import Features as Table
from fdmvgcl.operators import csr_tensor

FeatureScaling = Literal["auto", "none", "rows", "columns"]

SUBSTITUTE_COLUMNS = 128

# Set where they part the four data sets on which the defaults were developed, by their validation nodes:
# magnitudes 0.28 (Chameleon, better kept) against 0.09 (Photo) and less; directions 0.04 (Wisconsin, better with a
# skip-connection, and with weight 10 than with 1, 3 or 30) against 0.08 (Photo) and more.
KEEP_MAGNITUDES = 0.2
SKIP_BELOW = 0.05
SUGGESTED_SKIP_WEIGHT = 10.0


@dataclass(frozen=True, eq=False)
class FeatureTransform:
    """How features are scaled, fixed on the training graph.

    Args:
        scaling: ``"rows"`` divides a node's features by the sum of their magnitudes, ``"columns"`` makes every column
            of mean 0 and variance 1 on the training graph, ``"none"`` leaves them.
        columns: number F of columns.
        names: the columns' names, if the training graph had any.
        substitute: whether the graph had no features and :func:`substitute_features` stand in.
        mean, scale: of each column, shape (F,), for ``"columns"``.
    """

    scaling: Literal["none", "rows", "columns"]
    columns: int
    names: tuple[str, ...] | None = None
    substitute: bool = False
    mean: NDArray[np.float32] | None = None
    scale: NDArray[np.float32] | None = None

    @classmethod
    def fit(cls, graph: Graph, scaling: FeatureScaling) -> "FeatureTransform":
        """``"auto"`` scales columns if a feature is negative; otherwise (counts, words, pixels) it scales rows, unless
        neighbours have features of like magnitude (assortativity above 0.2), which then tells something and is kept.
        """
        if scaling not in ("auto", "none", "rows", "columns"):
            raise ValueError(f"feature_scaling must be auto, none, rows or columns, got {scaling!r}")
        if graph.features is None:
            return cls("none", SUBSTITUTE_COLUMNS, substitute=True)
        table = graph.features
        if table.shape[1] == 0:
            raise ValueError("features must have at least one column, got 0")
        if scaling == "auto":
            scaling = _suggested_scaling(graph, table)
        if scaling != "columns":
            return cls(scaling, table.shape[1], graph.feature_names)
        dense = _dense(table).astype(np.float64)
        deviation = dense.std(axis=0)
        scale = np.where(deviation > 0, deviation, 1.0).astype(np.float32)
        return cls(scaling, table.shape[1], graph.feature_names, False, dense.mean(axis=0).astype(np.float32), scale)

    def apply(self, graph: Graph) -> Tensor:
        """The encoder's input X, shape (N, F), float32: a sparse CSR tensor where the table is sparse and stays so."""
        table = self._table(graph)
        if self.scaling == "columns":
            assert self.mean is not None
            assert self.scale is not None
            table = (_dense(table) - self.mean) / self.scale
        elif self.scaling == "rows":
            table = _scale_rows(table)
        return _as_tensor(table)

    def _table(self, graph: Graph) -> Table:
        if self.substitute:
            if graph.features is not None:
                raise ValueError(f"the model was trained without features, got a graph with {graph.num_features}")
            return substitute_features(graph.ids)
        if graph.features is None:
            raise ValueError(f"the model needs {self.columns} feature columns, got a graph without features")
        if graph.num_features != self.columns:
            raise ValueError(f"the model needs {self.columns} feature columns, got {graph.num_features}")
        if self.names is None or graph.feature_names is None or self.names == graph.feature_names:
            return graph.features
        missing = set(self.names) - set(graph.feature_names)
        if missing:
            raise ValueError(f"the model needs a feature column {min(missing)!r}, which the graph does not have")
        position = {name: i for i, name in enumerate(graph.feature_names)}
        return graph.features[:, [position[name] for name in self.names]]


def feature_centre(x: Tensor) -> NDArray[np.float32] | None:
    """The mean row of X (N, F), shape (F,), or None where all rows are the same and nothing would be left."""
    count, columns = x.shape
    if x.layout == torch.strided:
        values, total = x.double(), x.sum(0, dtype=torch.float64)
    else:
        values = x.values().double()
        total = torch.zeros(columns, dtype=torch.float64, device=x.device).index_add_(0, x.col_indices(), values)
    mean, square = total / count, values.square().sum()
    varies = square - count * mean.square().sum() > 1e-9 * square
    return mean.float().cpu().numpy() if bool(varies) else None


def suggested_skip(graph: Graph, transform: FeatureTransform) -> int:
    """1 where neighbours hardly resemble each other (direction assortativity below 0.05), so that diffusion alone
    would blur what tells nodes apart; 0 elsewhere, and where magnitudes are kept or features are substitutes.
    """
    if graph.features is None or transform.scaling == "none":
        return 0
    return int(direction_assortativity(graph, graph.features) < SKIP_BELOW)


def _suggested_scaling(graph: Graph, table: Table) -> Literal["none", "rows", "columns"]:
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


def _dense(table: Table) -> NDArray[np.float32]:
    return table if isinstance(table, np.ndarray) else table.toarray()


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
