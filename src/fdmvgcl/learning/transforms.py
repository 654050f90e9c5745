"""FD-MVGCL as a PyTorch Geometric transform."""

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from fdmvgcl.graphs.graph import Graph
from fdmvgcl.learning.model import FDMVGCL


class AddEmbedding(BaseTransform):  # type: ignore[misc]
    """Adds label-free embeddings to a graph as ``data.z``, shape (N, dim).

    Args:
        model: a fitted model only transforms; one that is not fitted is fitted on the first graph that comes.
    """

    def __init__(self, model: FDMVGCL | None = None) -> None:
        self.model = FDMVGCL() if model is None else model

    def forward(self, data: Data) -> Data:
        graph = Graph.from_pyg(data)
        fitted = self.model.__sklearn_is_fitted__()
        data.z = torch.as_tensor(np.asarray(self.model.transform(graph) if fitted else self.model.fit_transform(graph)))
        return data
