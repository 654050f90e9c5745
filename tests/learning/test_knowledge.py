"""What vectors know of hidden edges: held to scikit-learn and the bootstrap, and graphs on which a control wins."""

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.learning.controls import CONTROLS
from fdmvgcl.learning.knowledge import Knowledge, measure_knowledge, placements


@pytest.mark.parametrize("levels", [3, 1000])
def test_mean_placements_are_the_area_with_ties_as_half(levels: int) -> None:
    rng = np.random.default_rng(0)
    edges, others = rng.integers(0, levels, 70) + 0.3 * levels, rng.integers(0, levels, 50).astype(float)
    truth = np.arange(120) < 70
    area = roc_auc_score(truth, np.concatenate([edges, others]))
    for part in placements(edges, others):
        assert part.mean() == pytest.approx(area)


def test_the_deviation_of_a_difference_is_that_of_the_bootstrap() -> None:
    rng = np.random.default_rng(1)
    shared = rng.standard_normal(400) + (np.arange(400) < 200)
    one, two = shared + rng.standard_normal(400), shared + 0.5 * rng.standard_normal(400)
    apart = [b - a for a, b in zip(placements(one[:200], one[200:]), placements(two[:200], two[200:]), strict=True)]
    told = np.sqrt(sum(part.var(ddof=1) / len(part) for part in apart))
    drawn = []
    for _ in range(500):
        edges, others = rng.integers(0, 200, 200), rng.integers(200, 400, 200)
        areas = [placements(scores[edges], scores[others])[0].mean() for scores in (one, two)]
        drawn.append(areas[1] - areas[0])
    assert told == pytest.approx(np.std(drawn), rel=0.15)


def groups(columns: np.ndarray | None = None) -> Graph:
    graph = Graph.from_networkx(nx.stochastic_block_model([60] * 3, np.eye(3) * 0.2 + 0.01, seed=1))
    return graph if columns is None else graph.with_features(columns)


def test_vectors_of_noise_lose_to_the_columns_made_of_the_edges() -> None:
    noise = np.random.default_rng(0).standard_normal((180, 300)).astype(np.float32)
    model = FDMVGCL(dim=32, epochs=3, features="none").set_params(features__structure="none")
    found, why = measure_knowledge(model, groups(noise))
    assert found is not None
    assert why == ""
    assert set(found.rivals) == {"untrained", "diffused", "raw"}
    assert found.rivals["raw"].area == pytest.approx(0.5, abs=0.1)
    assert found.deviation > 0.01


def test_a_control_that_wins_is_named_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)

    def rows(model: FDMVGCL, graph: Graph, step: object) -> dict:
        assert model.dim == 128
        steps = nx.to_numpy_array(nx.stochastic_block_model([60] * 3, np.eye(3) * 0.2 + 0.01, seed=1))
        return {"embedding": rng.standard_normal((180, 8)), CONTROLS["diffused"]: steps + np.eye(180)}.items()

    monkeypatch.setattr("fdmvgcl.learning.knowledge.refitted", rows)
    found, _ = measure_knowledge(FDMVGCL(dim=300), groups())
    assert found is not None
    assert found.behind
    assert found.best == "diffused"
    assert Knowledge.from_record(found.record()) == found


@pytest.mark.parametrize(
    ("graph", "epochs", "reason"),
    [
        (Graph.from_edges(["a"], ["b"]), 2, "1 edge is too few to hide some"),
        (Graph.from_networkx(nx.complete_graph(30)), 2, "too few pairs without an edge"),
        (Graph.from_networkx(nx.karate_club_graph()), 2, "78 edges are too few"),
        (Graph.from_networkx(nx.cycle_graph(300)), 0, "nothing is trained"),
        (Graph.from_edges(["0"] * 50_001, [str(i) for i in range(50_001)]), 2, "large"),
    ],
)
def test_it_says_why_it_was_not_measured(graph: Graph, epochs: int, reason: str) -> None:
    found, why = measure_knowledge(FDMVGCL(dim=8, epochs=epochs), graph)
    assert found is None
    assert reason in why
