import inspect
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fdmvgcl.evaluation
from fdmvgcl.datasets import Split
from fdmvgcl.evaluation import COARSE, Search, Trial, choose, evaluate, final_score, fit, hide_test, protocol
from fdmvgcl.evaluation.views import NARROW

NODES, CLASSES = 160, 3
QUICK = Search(penalties=(1.0, 0.1, 0.01), tune_weights=True)


@pytest.fixture(autouse=True, params=["score", "likelihood"])
def criterion(request, monkeypatch):
    """What choices go by: all that is tested here holds for both."""
    monkeypatch.setattr(fit, "FEW", 0 if request.param == "score" else NODES)
    return request.param


@pytest.fixture
def labels():
    return np.random.default_rng(5).integers(0, CLASSES, NODES)


@pytest.fixture
def splits():
    orders = [np.random.default_rng(seed).permutation(NODES) for seed in range(3)]
    return [Split(order[:60], order[60:110], order[110:]) for order in orders]


@pytest.fixture
def pool(labels):
    """Trials whose views carry the labels with more or less noise."""
    rng = np.random.default_rng(6)
    signal = np.eye(CLASSES)[labels] @ rng.standard_normal((CLASSES, 8))
    views = [
        [signal * strength + rng.standard_normal((NODES, 8)) for strength in strengths]
        for strengths in ((0.1, 0.3), (0.6, 0.0), (0.4, 0.5))
    ]
    return [Trial({"number": i}, lambda arrays=arrays: arrays) for i, arrays in enumerate(views)]


def chosen(pool, labels, splits):
    known = [hide_test(labels, split) for split in splits]
    return choose(pool, known, splits, metric="accuracy", search=QUICK)


def test_test_labels_change_no_choice_and_no_decision_value(pool, labels, splits):
    for split in splits:
        shuffled = labels.copy()
        shuffled[split.test] = np.random.default_rng(7).permutation(labels[split.test])
        assert (shuffled != labels).any()
        before, after = (evaluate(pool, given, [split], search=QUICK)[0] for given in (labels, shuffled))
        assert before.choice == after.choice
        np.testing.assert_array_equal(before.choice.decision, after.choice.decision)
        assert before.test != after.test


def test_a_choice_does_not_depend_on_other_splits(pool, labels, splits):
    together = chosen(pool, labels, splits)
    for choice, split in zip(together, splits, strict=True):
        alone = chosen(pool, labels, [split])[0]
        assert alone == choice
        np.testing.assert_array_equal(alone.decision, choice.decision)


def test_choosing_refuses_test_labels(pool, labels, splits):
    with pytest.raises(ValueError, match="must not be given test labels"):
        choose(pool, [labels], splits[:1], metric="accuracy", search=QUICK)


def test_hidden_labels_are_all_but_train_and_validation(labels, splits):
    known = hide_test(labels, splits[0])
    shown = np.concatenate([splits[0].train, splits[0].val])
    np.testing.assert_array_equal(known[shown], labels[shown])
    assert (np.delete(known, shown) == -1).all()
    assert (labels >= 0).all()


def test_only_the_protocol_reads_test_labels():
    folder = Path(inspect.getfile(fdmvgcl.evaluation)).parent
    readers = [path.name for path in folder.glob("*.py") if "[split.test]" in path.read_text()]
    assert readers == ["protocol.py"]
    assert inspect.getsource(protocol).count("labels[split.test]") == 2  # the refusal in choose(), and final_score()
    assert inspect.getsource(final_score).count("labels[split.test]") == 1


def test_validation_decides_not_test(labels, splits):
    split = splits[0]
    rng = np.random.default_rng(8)
    perfect = np.eye(CLASSES)[labels]
    good_on_val, good_on_test = perfect.copy(), perfect.copy()
    good_on_val[split.test] = rng.standard_normal((len(split.test), CLASSES))
    good_on_test[split.val] = rng.standard_normal((len(split.val), CLASSES))
    pool = [Trial({"good": "test"}, lambda: [good_on_test]), Trial({"good": "val"}, lambda: [good_on_val])]
    outcome = evaluate(pool, labels, [split])[0]
    assert outcome.choice.settings == {"good": "val"}
    assert outcome.choice.validation == 1.0
    assert outcome.test < 0.7


class TestShortlist:
    """Only the best of a coarse search are searched in full."""

    @pytest.mark.parametrize("shortlist", [3, 30])
    def test_a_shortlist_of_all_changes_nothing(self, pool, labels, splits, shortlist):
        full, listed = (evaluate(pool, labels, splits, search=replace(QUICK, shortlist=n)) for n in (None, shortlist))
        assert [o.choice for o in full] == [o.choice for o in listed]

    def test_what_is_not_on_it_is_not_chosen(self, pool, labels, splits):
        known = [hide_test(labels, split) for split in splits]
        coarse = [choose([trial], known, splits, metric="accuracy", search=COARSE) for trial in pool]
        for outcome in evaluate(pool, labels, splits, search=replace(QUICK, shortlist=1)):
            scores = [choices[outcome.split].validation for choices in coarse]
            assert outcome.choice.trial == scores.index(max(scores))

    def test_it_depends_on_no_test_label_and_no_other_split(self, pool, labels, splits):
        search = replace(QUICK, shortlist=2)
        together = evaluate(pool, labels, splits, search=search)
        for split, outcome in zip(splits, together, strict=True):
            shuffled = labels.copy()
            shuffled[split.test] = (labels[split.test] + 1) % CLASSES
            assert evaluate(pool, shuffled, [split], search=search)[0].choice == outcome.choice


def test_of_equals_the_first_is_kept(pool, labels, splits):
    twins = [pool[2], pool[2], pool[0]]
    for choice in chosen(twins, labels, splits):
        assert choice.trial == 0


def test_tuned_weights_never_lower_the_criterion_and_may_stay_uniform(labels, splits):
    rng = np.random.default_rng(9)
    signal, noise = (
        np.eye(CLASSES)[labels] + 0.6 * rng.standard_normal((NODES, CLASSES)),
        rng.standard_normal((NODES, 3)),
    )
    mixed = [Trial({}, lambda: [signal, 3 * noise])]
    plain = evaluate(mixed, labels, splits, search=Search(penalties=(0.1,)))
    tuned = evaluate(mixed, labels, splits, search=Search(penalties=(0.1,), tune_weights=True))
    for before, after in zip(plain, tuned, strict=True):
        assert before.choice.beta == (0.5, 0.5)
        assert after.choice.criterion > before.choice.criterion
        assert after.choice.beta[0] > 0.8
    same = [Trial({}, lambda: [signal, signal])]
    for outcome in evaluate(same, labels, splits, search=Search(penalties=(0.1,), tune_weights=True)):
        assert outcome.choice.beta == (0.5, 0.5)


def test_weights_that_the_probe_does_not_gain_by_are_not_taken(labels, splits, monkeypatch):
    rng = np.random.default_rng(8)
    told, noise = np.eye(CLASSES)[labels] + 0.1 * rng.standard_normal((NODES, CLASSES)), rng.standard_normal((NODES, 3))
    monkeypatch.setattr(protocol, "tune", lambda *_: (np.array([0.0, 1.0]), 1.0))  # as if least squares had misled
    known = [hide_test(labels, split) for split in splits]
    for choice in choose([Trial({}, lambda: [told, noise])], known, splits, metric="accuracy", search=QUICK):
        assert choice.beta == (0.5, 0.5)


def test_weights_of_wide_views_are_tuned_by_their_first_columns(labels, splits, monkeypatch):
    signal = np.eye(CLASSES)[labels]
    rng = np.random.default_rng(10)
    clear, vague = (signal + spread * rng.standard_normal((NODES, CLASSES)) for spread in (0.6, 1.8))
    rest = np.zeros((NODES, NARROW))
    widths, original = set(), fit.least_squares

    def watched(rows, *given):
        widths.add(rows.shape[1])
        return original(rows, *given)

    monkeypatch.setattr(fit, "least_squares", watched)
    wide = [Trial({}, lambda: [np.hstack([clear, rest]), np.hstack([3 * vague, rest])])]
    for outcome in evaluate(wide, labels, splits, search=Search(penalties=(0.1,), tune_weights=True)):
        assert outcome.choice.beta[0] > 0.8
    assert widths == {NARROW}


@pytest.fixture
def paths(monkeypatch):
    """One entry a path of penalties: the probes that were fitted, and the tolerance."""
    seen, original = [], fit.fit_path

    def watched(rows, given, penalties, *, tolerance, axes):
        fitted = []
        seen.append((fitted, tolerance))
        for probe in original(rows, given, penalties, tolerance=tolerance, axes=axes):
            fitted.append(probe)
            yield probe

    monkeypatch.setattr(fit, "fit_path", watched)
    return seen


def test_patience_ends_the_path_of_penalties(labels, splits, paths):
    constant = [Trial({}, lambda: [np.ones((NODES, 2))])]
    evaluate(constant, labels, splits[:1], search=Search(normalisations=("none",), patience=2))
    assert [len(fitted) for fitted, _ in paths] == [3]


class TestManyTrainingNodes:
    @pytest.fixture(autouse=True, params=[59, 60])
    def many(self, request, monkeypatch):
        """60 training nodes are too many, or not yet."""
        monkeypatch.setattr(fit, "MANY", request.param)
        return request.param < 60

    @pytest.fixture
    def drowned(self, labels):
        """Views whose signal is lost beside a column of large noise, unless columns are standardised."""
        rng = np.random.default_rng(12)
        signal = np.eye(CLASSES)[labels] + 0.3 * rng.standard_normal((NODES, CLASSES))
        view = np.hstack([1e-3 * signal, 1e3 * rng.standard_normal((NODES, 1))])
        return [Trial({}, lambda: [view, view])]

    def test_a_path_ends_sooner_and_is_less_exact(self, labels, splits, paths, many):
        constant = [Trial({}, lambda: [np.ones((NODES, 2))])]
        evaluate(constant, labels, splits[:1], search=Search(normalisations=("none",), patience=3))
        assert [(len(fitted), tolerance) for fitted, tolerance in paths] == [(3, 1e-2) if many else (4, 1e-3)]

    def test_splits_share_the_axes_of_all_nodes(self, labels, splits, monkeypatch, many):
        asked, original = [], fit.fit_path

        def watched(*given, axes, **rest):
            asked.append(axes)
            return original(*given, axes=axes, **rest)

        monkeypatch.setattr(fit, "fit_path", watched)
        noise = np.random.default_rng(13).standard_normal((2, NODES, CLASSES))
        views = [np.eye(CLASSES)[labels] + 0.1 * noise[0], noise[1]]
        search = Search(normalisations=("none",), tune_weights=True)
        evaluate([Trial({}, lambda: views)], labels, splits, search=search)
        assert len(asked) == 2 * len(splits)
        shared, tuned = asked[: len(splits)], asked[len(splits) :]
        assert len({id(axes) for axes in shared}) == 1
        assert (shared[0] is not None) == many
        assert tuned == [None] * len(splits), "the axes of uniform weights may be far from those of others"

    def test_a_path_goes_on_where_all_penalties_so_far_are_too_strong(self, splits, many, criterion):
        """They predict the largest class, one as well as the other, but more and more likely."""
        rng = np.random.default_rng(11)
        labels = (rng.random(NODES) < 0.25).astype(np.int64)
        signal = [Trial({}, lambda: [labels[:, None] + 0.1 * rng.standard_normal((NODES, 1))])]
        search = Search(normalisations=("none",), penalties=(1e6, 3e5, 1e5, 3e4, 1e4, 1.0, 0.01), patience=2)
        for outcome in evaluate(signal, labels, splits, search=search):
            assert (outcome.choice.penalty <= 1.0) == (many or criterion == "likelihood")

    def test_least_squares_picks_the_normalisation_if_asked_to(self, drowned, labels, splits, paths, many):
        for screen in (False, True):
            paths.clear()
            for outcome in evaluate(drowned, labels, splits, search=Search(screen=screen)):
                assert outcome.choice.normalise == "standardise"
            assert len(paths) == len(splits) * (1 if many and screen else 3)

    def test_no_test_label_and_no_other_split_matters(self, pool, labels, splits):
        search = replace(QUICK, screen=True)
        for i, split in enumerate(splits):
            shuffled = labels.copy()
            shuffled[split.test] = np.random.default_rng(1).permutation(labels[split.test])
            alone = evaluate(pool, shuffled, [split], search=search)[0].choice
            assert alone == evaluate(pool, labels, splits, search=search)[i].choice


def test_trials_are_opened_once_for_all_splits(labels, splits):
    opened = []

    def views():
        opened.append(True)
        return [np.eye(CLASSES)[labels]]

    evaluate([Trial({}, views)], labels, splits)
    assert len(opened) == 1


def test_roc_auc(labels, splits):
    two = labels % 2
    rng = np.random.default_rng(10)
    trial = [Trial({}, lambda: [two[:, None] + 0.5 * rng.standard_normal((NODES, 1))])]
    assert evaluate(trial, two, splits[:1], metric="roc_auc")[0].test > 0.8
    with pytest.raises(ValueError, match="roc_auc needs exactly two classes"):
        evaluate(trial, labels, splits[:1], metric="roc_auc")


def test_choice_is_ready_for_json(pool, labels, splits):
    record = chosen(pool, labels, splits)[0].record()
    assert json.loads(json.dumps(record))["normalise"] == record["normalise"]
    assert set(record) == {"settings", "trial", "beta", "normalise", "penalty", "validation", "criterion"}


def test_an_empty_pool_is_refused(labels, splits):
    with pytest.raises(ValueError, match="pool of trials is empty"):
        evaluate([], labels, splits)


def test_few_validation_nodes_choose_by_likelihood(labels, splits, monkeypatch):
    split = splits[0]
    perfect = np.eye(CLASSES)[labels]
    sure, unsure = perfect.copy(), perfect.copy()
    sure[split.val[:2]] = perfect[split.val[:2]][:, [1, 2, 0]]  # two of fifty wrong
    unsure[split.train[::3]] = perfect[split.train[::3]][:, [1, 2, 0]]  # all right, from training nodes in doubt
    pool = [Trial({"is": "sure"}, lambda: [sure]), Trial({"is": "unsure"}, lambda: [unsure])]
    chosen = {}
    for few in (len(split.val), len(split.val) + 1):
        monkeypatch.setattr(fit, "FEW", few)
        chosen[few] = evaluate(pool, labels, [split], search=Search(penalties=(0.001,)))[0].choice
    by_score, by_likelihood = chosen.values()
    assert by_score.settings == {"is": "unsure"}
    assert by_score.criterion == by_score.validation == 1.0
    assert by_likelihood.settings == {"is": "sure"}
    assert by_likelihood.criterion < 0 < by_likelihood.validation < 1
