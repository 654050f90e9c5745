"""Train on a NetworkX graph, then embed a member who joins later; the same in PyTorch Geometric, as a transform.

python examples/new_nodes.py
"""

import networkx as nx
import torch
from torch_geometric.data import Data

from fdmvgcl import FDMVGCL, AddEmbedding, Graph


def networkx_graph() -> None:
    club = nx.karate_club_graph()
    model = FDMVGCL(dim=32, views=3, epochs=5, seed=0).fit(Graph.from_networkx(club, weight=None))

    club.add_edges_from([("newcomer", 33), ("newcomer", 32)])
    grown = Graph.from_networkx(club, weight=None)
    z = torch.nn.functional.normalize(torch.from_numpy(model.transform(grown)), dim=1)
    likeness = z @ z[grown.index("newcomer")]
    print("most like the newcomer:", [grown.ids[i] for i in likeness.topk(4).indices[1:]])


def geometric_graph() -> None:
    edges = torch.tensor(list(nx.ladder_graph(6).edges)).T
    data = Data(edge_index=torch.cat([edges, edges.flip(0)], 1), x=torch.eye(12), num_nodes=12)
    embedded = AddEmbedding(FDMVGCL(dim=8, views=2, epochs=3))(data)
    print("data.z:", tuple(embedded.z.shape))


if __name__ == "__main__":
    networkx_graph()
    geometric_graph()
