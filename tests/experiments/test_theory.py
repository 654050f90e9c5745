"""Measures of ``reproduce theory`` against closed forms, and verdicts that follow the records."""

import copy
import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from fdmvgcl import Graph, diffuse
from fdmvgcl.experiments import RecordFile, carry_out
from fdmvgcl.experiments.benchmark import benchmark
from fdmvgcl.experiments.theory import Theory, claims, perturbation, scalars, spectra, walk
from fdmvgcl.experiments.theory.claims import judge, summary_table
from fdmvgcl.experiments.theory.spectral_claims import discordant, falls_from
from fdmvgcl.fractional import mittag_leffler


@pytest.fixture
def karate() -> Graph:
    return benchmark("karate").graph


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> RecordFile:
    """All runs on karate, with few walkers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "WALKERS", 5_000)
        made = RecordFile(tmp_path_factory.mktemp("theory") / "records.jsonl")
        list(carry_out(Theory().runs(["karate"], 1), made))
        return made


# -- frequencies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("skip", [0, 2])
def test_energy_shares_are_those_of_the_diffused_features(karate: Graph, skip: int) -> None:
    signal = spectra.decompose(karate)
    (shares,) = spectra.energy_shares(signal, [0.6], 3.0, skip)
    assert shares.sum() == pytest.approx(1)
    operator = karate.operator(dtype=torch.float64)
    y = diffuse(operator, spectra.features_of(karate), 0.6, 3.0, skip=skip).numpy()
    frequency, vectors = np.linalg.eigh(np.eye(34) - operator.dense().numpy())
    energy = np.square(vectors.T @ y).sum(axis=1)
    for low, high in ((-0.1, 0.5), (0.5, 1.0 - 1e-6), (1 - 1e-6, 1 + 1e-6), (1 + 1e-6, 2.0)):
        here, there = ((low < f) & (f <= high) for f in (frequency, signal.frequency))
        assert shares[there].sum() == pytest.approx(energy[here].sum() / energy.sum(), abs=1e-9)


def test_an_eigenspace_is_one_frequency() -> None:
    star = np.zeros((6, 6))
    star[0, 1:] = star[1:, 0] = 1  # eigenvalues 0, 1 (four times) and 2
    signal = spectra.decompose(Graph.from_scipy(star, np.eye(6, dtype=np.float32)))
    np.testing.assert_allclose(signal.frequency, [0, 1, 2], atol=1e-12)
    np.testing.assert_allclose(signal.energy, [1, 4, 1], atol=1e-12)


def test_a_graph_too_large_to_decompose_is_refused(karate: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spectra, "MOST_NODES", 33)
    with pytest.raises(ValueError, match="at most 33 nodes to be decomposed, got 34"):
        spectra.decompose(karate)


def test_measures_of_known_distributions() -> None:
    signal = spectra.Signal(np.array([0.0, 1.0, 2.0]), np.ones(3))
    even, single = np.full(3, 1 / 3), np.array([1.0, 0.0, 0.0])
    assert spectra.mean_frequency(even, signal) == pytest.approx(1)
    assert spectra.frequencies_used(even) == pytest.approx(3)
    assert spectra.frequencies_used(single) == pytest.approx(1)
    assert spectra.low_share(even, signal) == pytest.approx(1 / 3)


def test_largest_component_keeps_its_features() -> None:
    adjacency = np.zeros((5, 5))
    adjacency[[0, 2, 3, 2], [1, 3, 4, 4]] = 1
    part = spectra.largest_component(Graph.from_scipy(adjacency, np.arange(5, dtype=np.float32)[:, None]))
    np.testing.assert_array_equal(np.ravel(part.features), [2, 3, 4])


# -- the function itself ----------------------------------------------------------------------------------------------


def test_half_order_has_a_closed_form() -> None:
    from scipy.special import erfcx

    time = np.array([0.1, 1.0, 30.0])
    np.testing.assert_allclose(scalars.solution(0.5, 2.0, time), erfcx(2.0 * np.sqrt(time)), rtol=1e-9)


def test_series_coefficients_of_one_round_alternate_and_rebuild_the_series() -> None:
    found = scalars.coefficients(0.3, 1)
    assert (np.sign(found) == [1, -1, 1]).all()
    time = np.array([1e5])
    assert (found * time ** (-0.3 * np.arange(1, 4))).sum() == pytest.approx(
        scalars.series(0.3, time, alternating=True)[0]
    )


def test_series_coefficients_of_two_rounds_are_of_the_sum() -> None:
    alpha, time = 0.3, 1e9
    e = float(scalars.solution(alpha, 1.0, time))
    found = scalars.coefficients(alpha, 2) @ time ** (-alpha * np.arange(1, 4))
    assert found == pytest.approx(e + e**2, rel=1e-6)


def test_only_the_alternating_series_leaves_less_than_one_over_t() -> None:
    by_order = {order["alpha"]: order["slopes"] for order in scalars.asymptotics()["orders"]}
    assert all(slopes["alternating"] < -1 for slopes in by_order.values())
    assert by_order[0.2]["printed"] == pytest.approx(-0.4, abs=0.02)


def test_limits_against_closed_forms() -> None:
    record = scalars.limits()
    assert max(row[-1] for row in record["from_exponential"]) < 5e-4
    assert max(row[-1] for row in record["from_resolvent"]) < 5e-4
    assert record["from_identity"][0][-1] == pytest.approx(2 / 3, abs=1e-3)


# -- the walk ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.3, 0.8, 1.0])
def test_waiting_times_have_the_right_laplace_transform_and_survival(alpha: float) -> None:
    count = 40_000
    waits = walk.waiting_times(alpha, count, np.random.default_rng(1))
    for s in (0.1, 1.0, 5.0):
        sampled = np.exp(-s * waits)
        assert sampled.mean() == pytest.approx(1 / (1 + s**alpha), abs=4 * sampled.std() / math.sqrt(count))
    for t in (0.05, 1.0, 20.0):
        exact = float(mittag_leffler(alpha, t**alpha))
        assert (waits > t).mean() == pytest.approx(exact, abs=4 * math.sqrt(max(exact, 1e-4) / count))


def test_walkers_are_where_the_solution_says_and_another_order_is_told_apart(karate: Graph) -> None:
    transition = karate.operator("rw", dtype=torch.float64).dense().numpy()
    counts, _ = walk.simulate(transition, 3, 0.5, 2.0, 20_000, np.random.default_rng(0))
    start = torch.eye(34, dtype=torch.float64)
    right, wrong = (diffuse(karate.operator("rw", dtype=torch.float64), start, a, 2.0)[3].numpy() for a in (0.5, 0.9))
    statistic, freedom = walk.chi_square(counts, right)
    assert statistic < freedom + 4 * math.sqrt(2 * freedom)
    assert walk.chi_square(counts, wrong)[0] > 10 * freedom


# -- perturbations ----------------------------------------------------------------------------------------------------


def test_measured_distance_is_that_of_dense_solutions(karate: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perturbation, "NOISE_ALPHAS", (0.4,))
    monkeypatch.setattr(perturbation, "NOISE_TIMES", (2.0,))
    other = perturbation.with_random_edges(karate, 0.05, np.random.default_rng(0))
    y0 = torch.randn(34, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    operators = [g.operator(dtype=torch.float64) for g in (karate, other)]
    growth, relative, epsilon = perturbation.moved(operators[0], y0, operators[1], y0 + 0.01)
    solutions, laplacians = [], []
    for operator, start in zip(operators, (y0, y0 + 0.01), strict=True):
        laplacian = torch.eye(34, dtype=torch.float64) - operator.dense()
        value, vector = torch.linalg.eigh(laplacian)
        phi = mittag_leffler(0.4, value.clamp(min=0) * 2.0**0.4)
        solutions.append(vector @ (phi[:, None] * (vector.T @ start)))
        laplacians.append(laplacian)
    apart = float((solutions[0] - solutions[1]).norm())
    mismatch = max(float(((laplacians[0] - laplacians[1]) @ y).norm()) for y in (y0, solutions[0]))
    assert float(epsilon) == pytest.approx(0.01 * math.sqrt(34 * 3) + mismatch, rel=1e-9)
    assert float(growth) == pytest.approx(apart / float(epsilon), rel=1e-7)
    assert float(relative) == pytest.approx(apart / float(solutions[0].norm()), rel=1e-7)


def test_random_edges_are_new_and_as_many_as_asked(karate: Graph) -> None:
    more = perturbation.with_random_edges(karate, 0.1, np.random.default_rng(0))
    assert more.num_edges == karate.num_edges + 8
    assert (more.adjacency - karate.adjacency).min() >= 0
    assert more.adjacency.diagonal().sum() == 0


# -- verdicts ---------------------------------------------------------------------------------------------------------


def test_order_is_judged_from_the_first_time_on() -> None:
    assert falls_from([[1, 2], [3, 2], [2, 1]], [0.1, 1, 10]) == 1
    assert falls_from([[3, 2], [1, 2]], [1, 10]) is None


def test_pairs_with_wider_gap_and_less_contrast_are_counted() -> None:
    assert discordant([0.0, 0.4, 1.0], [1.0, 0.5, 0.0]) == (0, 3)
    assert discordant([0.0, 0.4, 1.0], [1.0, 0.1, 0.0])[0] == 1


def test_judge() -> None:
    assert [judge(parts) for parts in ([True, True], [True, False], [False])] == [
        "holds",
        "holds in part",
        "does not hold",
    ]


def test_page_and_pictures_are_written(records: RecordFile, tmp_path: Path) -> None:
    written = Theory().render(records, tmp_path)
    assert {path.name for path in written} == {
        *("energy.png", "energy_over_time.png", "contrast.png", "limits.png", "asymptotics.png"),
        *("waiting.png", "perturbation.png", "theory.md"),
    }
    page = (tmp_path / "theory.md").read_text()
    for path in written[:-1]:
        assert path.read_bytes().startswith(b"\x89PNG")
        assert f"({path.name})" in page
    assert page.count("*Measured:*") == len(claims(records)) == 11


def test_committed_pages_are_those_of_the_committed_records(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    committed = RecordFile(root / "results" / "theory" / "records.jsonl")
    Theory().render(committed, tmp_path)
    assert (root / "results" / "theory" / "theory.md").read_text() == (tmp_path / "theory.md").read_text()
    assert summary_table(claims(committed)) in (root / "docs" / "theory.md").read_text()


def test_page_of_no_records_says_so(tmp_path: Path) -> None:
    (path,) = Theory().render(RecordFile(tmp_path / "records.jsonl"), tmp_path)
    assert "none yet" in path.read_text()


def _verdict(records: list[dict], title: str, tmp_path: Path) -> str:
    path = tmp_path / "changed.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return next(claim.verdict for claim in claims(RecordFile(path)) if title in claim.title)


def _sort(record: dict, name: str, *, rising: bool) -> None:
    for skip in record["measures"]:
        for row in record["measures"][skip][name]:
            row.sort(reverse=not rising)


@pytest.mark.parametrize(
    ("title", "name"),
    [("plain diffusion", "mean_frequency"), ("skip-connection", "mean_frequency"), ("less conc", "frequencies_used")],
)
def test_verdicts_on_frequencies_follow_the_records(records: RecordFile, tmp_path: Path, title: str, name: str) -> None:
    for rising, verdict in ((False, "holds"), (True, "does not hold")):
        changed = copy.deepcopy(records.records)
        for record in changed:
            if record["key"]["part"] == "energy":
                _sort(record, name, rising=rising)
        assert _verdict(changed, title, tmp_path) == verdict


def test_verdict_on_the_heat_equation_follows_the_record(records: RecordFile, tmp_path: Path) -> None:
    assert _verdict(records.records, "heat equation", tmp_path) == "holds"
    changed = copy.deepcopy(records.records)
    next(r for r in changed if r["key"]["part"] == "limits")["from_exponential"] = [[0.5] * 7] * 3
    assert _verdict(changed, "heat equation", tmp_path) == "does not hold"


def test_verdicts_on_stability_would_flip_if_the_bound_were_met(records: RecordFile, tmp_path: Path) -> None:
    assert _verdict(records.records, "O(ε T^(α-1))", tmp_path) == "does not hold"
    changed = copy.deepcopy(records.records)
    for record in changed:
        if record["key"]["part"] == "noise":
            times = np.array(record["times"])
            record["growth"] = [(times ** (alpha - 1)).tolist() for alpha in record["alphas"]]
    assert _verdict(changed, "O(ε T^(α-1))", tmp_path) == "holds"
    assert _verdict(changed, "smaller discrepancy", tmp_path) == "holds"
