"""A graph that grew by files is the graph that the whole files would have given."""

from pathlib import Path

import numpy as np
import pytest

from fdmvgcl.errors import UserError
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.growth import grown, shrunk
from fdmvgcl.graphs.readers import read_features


def files(folder: Path, edges: str, features: str) -> tuple[Path, Path]:
    (folder / "e.csv").write_text("source,target,weight\n" + edges)
    (folder / "f.csv").write_text("id,age,town\n" + features)
    return folder / "e.csv", folder / "f.csv"


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    edges, features = files(tmp_path, "a,b,1\nb,c,2\n", "a,1,X\nb,2,Y\nc,3,X\n")
    return Graph.read(edges, features=features)


def row(graph: Graph, node: str) -> list[float]:
    features = graph.features if isinstance(graph.features, np.ndarray) else graph.features.toarray()
    return features[graph.index(node)].tolist()


def test_new_and_changed_rows_are_encoded_as_the_old(graph: Graph, tmp_path: Path) -> None:
    edges, features = files(tmp_path, "a,d,5\nb,c,7\n", "d,9,Y\na,4,Z\n")
    bigger = grown(graph, Graph.read(edges), read_features(features))
    assert bigger.encoding == graph.encoding
    names = list(bigger.feature_names)
    assert row(bigger, "d") == [9.0 if name == "age" else float(name.endswith("Y")) for name in names]
    assert row(bigger, "a")[names.index("age")] == 4
    assert row(bigger, "b") == row(graph, "b")
    weights = {(bigger.ids[i], bigger.ids[j]): w for (i, j), w in bigger.adjacency.todok().items()}
    assert (weights["b", "c"], weights["a", "b"], weights["d", "a"]) == (7, 1, 5)
    kept = grown(graph, Graph.read(edges), read_features(features), keep_known=True)
    assert row(kept, "a") == row(graph, "a")


def test_blank_rows_stand_in_if_asked(graph: Graph) -> None:
    addition = Graph.from_edges(["a"], ["new"])
    with pytest.raises(UserError, match="give --features"):
        grown(graph, addition)
    bigger = grown(graph, addition, fill_missing=True)
    assert row(bigger, "new")[list(bigger.feature_names).index("age")] == 2  # the mean


def test_rows_for_some_are_not_enough(graph: Graph, tmp_path: Path) -> None:
    edges, features = files(tmp_path, "a,d,1\na,e,1\n", "d,9,Y\n")
    with pytest.raises(UserError, match="must have a row for every new node; 'e' has none"):
        grown(graph, Graph.read(edges), read_features(features))


def test_what_goes_must_be_there(graph: Graph) -> None:
    smaller = shrunk(graph, edges=Graph.from_edges(["b"], ["a"]))
    assert (smaller.ids, smaller.num_edges) == (graph.ids, 1)
    assert shrunk(graph, ["b"]).num_edges == 0
    with pytest.raises(UserError, match="no edge between 'a' and 'c'"):
        shrunk(graph, edges=Graph.from_edges(["a"], ["c"]))
    with pytest.raises(UserError, match="no node 'zz'"):
        shrunk(graph, edges=Graph.from_edges(["a"], ["zz"]))
