"""Tables of any columns as numbers, the same way for new rows."""

import datetime as dt
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from fdmvgcl import FDMVGCL, Graph
from fdmvgcl.errors import UserError
from fdmvgcl.graphs.encoding import Column, Encoding
from fdmvgcl.graphs.recognition import MOST_CATEGORIES, fit_encoding

CITIES = ["Rome", "Oslo", "Rome", "", "Bonn", "Oslo", "Rome", "Oslo"]


def table(**columns: object) -> pa.Table:
    return pa.table(columns)


def encoded(one: pa.Table, **options: object) -> dict[str, list[float]]:
    made = fit_encoding(one, **options)  # type: ignore[arg-type]
    return dict(zip(made.names, made.apply(one).T.tolist(), strict=True))


def test_numbers_stay_and_blanks_become_the_mean_and_are_marked() -> None:
    found = encoded(table(age=["1", "NA", "", "5e0"], size=pa.array([1, 2, 3, 4], pa.uint8())))
    assert found == {"age": [1, 3, 3, 5], "age (blank)": [0, 1, 1, 0], "size": [1, 2, 3, 4]}
    assert encoded(table(x=pa.array([1.0, float("nan"), None, 3])))["x"] == [1, 2, 2, 3]


def test_decimal_commas_where_commas_cannot_part_cells() -> None:
    assert encoded(table(x=["1,5", "2", "-,25"]))["x"] == [1.5, 2, -0.25]
    with pytest.raises(UserError, match=r"x' holds numbers written like '1,5' in row 1; write them with digits and a"):
        encoded(table(x=["1,5", "2,5", "3,5"]), decimal_comma=False)


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["12%", "7%", "12%"], "'12%' in row 1"),
        (["5 %", "7 %"], "'5 %' in row 1"),
        (["$3", "$1,000"], "'$3' in row 1"),
        (["20 €", "20 €", "9,50 €"], "'20 €' in row 1"),
        (["900", "1,000"], "'1,000' in row 2"),
        (["900,5", "1.000,5"], "'900,5' in row 1"),
        (["1 000", "20 000"], "'1 000' in row 1"),
    ],
)
def test_numbers_in_dress_are_refused(cells: list[str], first: str) -> None:
    """As categories they would lose their order, and silently."""
    with pytest.raises(UserError) as told:
        fit_encoding(table(x=cells), decimal_comma=False)
    assert f"column 'x' holds numbers written like {first};" in str(told.value)


def test_words_with_digits_are_no_numbers_in_dress() -> None:
    for cells in (
        ["1a", "2b", "1a"],
        ["10.0.0.1", "10.0.0.1", "8.8.8.8"],
        ["a;b", "a", "a"],
        ["2024-01", "2024-02"] * 2,
    ):
        assert fit_encoding(table(x=cells)).kinds[0] == "category"


@pytest.mark.parametrize("words", [("false", "true"), ("No", "YES"), ("f", "T"), ("n", "y")])
def test_truth_values(words: tuple[str, str]) -> None:
    assert encoded(table(x=[words[1], words[0], words[1], words[0]]))["x"] == [1, 0, 1, 0]
    assert encoded(table(x=[True, False, None]))["x"] == [1, 0, 0.5]


def test_categories_by_frequency_and_the_rest_together() -> None:
    found = encoded(table(city=CITIES))
    assert list(found) == ["city=Oslo", "city=Rome", "city=Bonn", "city (blank)"]
    assert found["city=Rome"] == [1, 0, 1, 0, 0, 0, 1, 0]
    assert found["city (blank)"] == [0, 0, 0, 1, 0, 0, 0, 0]
    many = [f"c{i:02}" for i in range(30) for _ in range(30 - i)]
    made = fit_encoding(table(x=many))
    assert len(made.names) == MOST_CATEGORIES + 1
    assert made.columns[0].values == tuple(f"c{i:02}" for i in range(MOST_CATEGORIES))
    assert_array_equal(made.apply(table(x=many)).sum(1), 1)
    assert made.apply(table(x=["never seen", "", "c00"]))[:, [0, -1]].tolist() == [[0, 1], [0, 0], [1, 0]]


def test_na_is_a_category_like_any_other() -> None:
    assert list(encoded(table(x=["NA", "EU", "NA", "EU", "EU"]))) == ["x=EU", "x=NA"]


@pytest.mark.parametrize(
    "cells",
    [
        ["2024-01-31", "2023-06-15"],
        ["31.01.2024", "15.06.2023"],
        ["31/01/2024", "15/06/2023"],
        ["01/31/2024", "06/15/2023"],
        ["2024/01/31", "2023/06/15"],
        ["31.01.2024 00:00", "15.06.2023 00:00"],
        ["1/31/2024 00:00:00", "6/15/2023 00:00:00"],
        [dt.date(2024, 1, 31), dt.date(2023, 6, 15)],
    ],
)
def test_dates_in_any_form_are_days_and_periods(cells: list) -> None:
    found = encoded(table(born=cells))
    truth = [(day - dt.date(1970, 1, 1)).days for day in (dt.date(2024, 1, 31), dt.date(2023, 6, 15))]
    assert found["born (days)"] == truth
    assert fit_encoding(table(born=cells)).kinds == ("date", *["period"] * 4)
    for period in ("year", "week"):
        waves = np.array([found[f"born ({period}, {wave})"] for wave in ("sine", "cosine")])
        assert_allclose((waves**2).sum(0), 1, atol=1e-6)


def test_a_time_of_day_adds_its_period() -> None:
    found = encoded(table(at=["2024-01-01 06:00", "2024-01-02 18:00", ""]))
    assert_allclose(found["at (day, sine)"][:2], [1, -1], atol=1e-6)
    assert found["at (blank)"] == [0, 0, 1]
    assert encoded(table(at=["2024-01-01T06:00:00Z", "2024-01-01T06:00:00+02:00"]))["at (days)"][0] == 19723.25


@pytest.mark.parametrize("cells", [["1.1.24", "28.2.24"], ["1/15/24", "2/1/24 10:00"]])
def test_years_of_two_digits_are_refused(cells: list[str]) -> None:
    with pytest.raises(UserError, match=r"whose year has two digits; write them as 2024-12-31"):
        fit_encoding(table(born=cells))


def test_a_time_of_day_does_not_tell_the_day_from_the_month() -> None:
    with pytest.raises(UserError, match=r"'1/2/2024 10:00', whose day and month could be swapped"):
        fit_encoding(table(born=["1/2/2024 10:00", "3/4/2024 11:00"]))


def test_a_list_that_is_none_is_named() -> None:
    with pytest.raises(
        UserError, match=r"must hold lists of numbers, but 1 of its 3 cells is no list of numbers, first"
    ):
        fit_encoding(table(v=["[1, 2]", "[3, x]", "[5, 6]"]))
    with pytest.raises(UserError, match="must hold finite numbers in its lists, got others in row 2"):
        fit_encoding(table(v=["[1, 2]", "[3, nan]"]))


def test_what_was_not_known_in_training_is_told() -> None:
    made = fit_encoding(table(age=[1, 2, 3], city=["Rome", "Oslo", "Rome"]))
    assert made.unknown(table(age=[4], city=["Rome"])) == ()
    assert made.unknown(table(more=[4], city=["Paris"], age=[0])) == (
        "columns not known from training, not used: 'more'",
        "city: in none of its categories, as training did not know them: 'Paris'",
    )
    wide = fit_encoding(table(x=[f"c{i:02}" for i in range(30) for _ in range(3)]))
    assert wide.unknown(table(x=["new"])) == ()  # it counts among the others


def test_vectors_stay_as_they_are() -> None:
    fixed = pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2, 3, 4, 5, 6], pa.float32()), 2)
    assert encoded(table(z=fixed)) == {"z[0]": [1, 3, 5], "z[1]": [2, 4, 6]}
    assert encoded(table(z=[[1, 2], None, [3, 4]])) == {"z[0]": [1, 2, 3], "z[1]": [2, 3, 4], "z (blank)": [0, 1, 0]}


def test_ids_texts_and_empty_columns_are_left_out_and_named() -> None:
    texts = [f"this is what the person number {i % 3} had to say of it" for i in range(6)]
    many = table(n=[1, 1, 2, 2, 3, 3], key=list("abcdef"), bio=texts, none=[None] * 6, index=range(6), same=["x"] * 6)
    made = fit_encoding(many)
    assert made.names == ("n",)
    *_, left = made.notes
    assert left == (
        "columns left out: key (its texts are all different, as ids are); bio (free text); "
        "none (blank in every row); index (row numbers); same (the same in every row)"
    )


def test_columns_and_drop() -> None:
    both = table(a=[1, 2], b=[3, 4], c=[5, 6])
    assert fit_encoding(both, columns=("c", "a")).names == ("a", "c")
    assert fit_encoding(both, drop=("b",)).names == ("a", "c")
    with pytest.raises(UserError, match=r"drop must name columns of the features, got 'd'"):
        fit_encoding(both, drop=("d",))


def test_all_problems_are_told_at_once() -> None:
    bad = table(
        a=["1", "2", "x"],
        b=["01/02/2023", "03/04/2023", "05/06/2023"],
        c=[1.0, float("inf"), 2],
        d=pa.array([{"x": 1}] * 3),
        e=[[1], [1, 2], [3]],
        f=[1e39, 1, 1],
        g=[1, 2, 3],
    )
    with pytest.raises(UserError) as caught:
        fit_encoding(bad)
    message = str(caught.value)
    for told in (
        "column 'a' must hold numbers, but 1 of its 3 cells is no number, first 'x' in row 3",
        "column 'b' holds dates like '01/02/2023', whose day and month could be swapped",
        "column 'c' must hold finite numbers, got inf in row 2",
        "column 'd' is of type struct",
        "column 'e' must hold lists of 2 numbers, got one of 1 in row 1",
        "column 'f' must hold numbers that fit float32, got 1e+39 in row 1",
    ):
        assert told in message
    assert "'g'" not in message


def test_new_rows_are_refused_where_they_do_not_fit() -> None:
    made = fit_encoding(table(n=["1", "2"], d=["2024-01-01", "2024-01-02"], b=["yes", "no"], v=[[1.0], [2.0]]))
    with pytest.raises(UserError) as caught:
        made.apply(table(n=["1", "q"], d=["2024-01-01", "soon"], b=["maybe", "no"], v=[[1.0, 2], [1, 2]]))
    for told in ("got 'q' in row 2", "must hold dates, got 'soon' in row 2", "must hold no or yes, got 'maybe'"):
        assert told in str(caught.value)
    assert "must hold lists of 1 numbers, got one of 2" in str(caught.value)
    with pytest.raises(UserError, match="column 'n' is missing; column 'd' is missing"):
        made.apply(table(other=[1]))


def test_two_columns_cannot_have_one_name() -> None:
    with pytest.raises(UserError, match=r"would be named 'x \(blank\)'"):
        fit_encoding(pa.table({"x": [1, None], "x (blank)": [1, 2]}))


WORDS = ["", "a", "b", "NA", "1", "1,5", "yes", "no", "2024-01-01"]
cells = st.one_of(
    st.lists(st.none() | st.floats(-1e6, 1e6), min_size=5, max_size=5),
    st.lists(st.none() | st.booleans(), min_size=5, max_size=5),
    st.lists(st.none() | st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)), min_size=5, max_size=5),
    st.lists(st.none() | st.sampled_from(WORDS), min_size=5, max_size=5),
)


@settings(deadline=None, max_examples=200)
@given(st.lists(cells, min_size=1, max_size=4), st.permutations(range(5)))
def test_rows_are_encoded_one_by_one_and_survive_json(columns: list, order: list[int]) -> None:
    one = pa.table({f"c{i}": pa.array(values) for i, values in enumerate(columns)})
    try:
        made = fit_encoding(one)
    except UserError:
        return
    again = Encoding.of_record(json.loads(json.dumps(made.record())))
    assert again == made
    whole = made.apply(one)
    assert np.isfinite(whole).all()
    assert whole.shape == (5, len(made.names)) == (5, len(made.kinds))
    assert_array_equal(again.apply(one.take(pa.array(order))), whole[order])
    assert_array_equal(np.concatenate([again.apply(one.slice(i, 1)) for i in range(5)]), whole)
    assert np.isfinite(made.blank).all()


@pytest.mark.parametrize(
    "record",
    [[{"name": "x"}], [{"name": "x", "treatment": "magic"}], [1], {"a": 1}, 5, [{"name": "x", "treatment": "number"}]],
)
def test_a_record_that_is_none_is_refused(record: object) -> None:
    with pytest.raises(UserError):
        Encoding.of_record(record)


# ---- on a graph, and in a model

PEOPLE = {"id": list("abcd"), "age": [30, None, 50, 40], "city": ["Rome", "Oslo", "Rome", "Oslo"]}
PATH = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])


def test_a_graph_aligns_a_table_by_its_ids() -> None:
    shuffled = pa.table(PEOPLE).take([2, 0, 3, 1])
    graph = PATH.with_features(shuffled)
    assert graph.feature_names == ("age", "age (blank)", "city=Oslo", "city=Rome")
    assert graph.feature_kinds == ("number", "missing", "category", "category")
    assert_array_equal(graph.features, [[30, 0, 0, 1], [40, 1, 1, 0], [50, 0, 0, 1], [40, 0, 1, 0]])
    assert "age: number, blanks marked" in " ".join(graph.notes)
    with pytest.raises(UserError, match=r"must have a row for every node; 'd' has none"):
        PATH.with_features(pa.table(PEOPLE).slice(0, 3))
    filled = PATH.with_features(pa.table(PEOPLE).slice(0, 3), fill_missing=True)
    assert_array_equal(filled.features[3], [40, 1, 0, 0])
    with pytest.raises(UserError, match="must have a column id"):
        PATH.with_features(pa.table({"age": [1, 2, 3, 4]}))
    assert PATH.with_features(pa.table({"age": [1, 2, 3, 4]}), ids=list("dcba")).features[0] == 4


def test_an_index_names_nodes_alone() -> None:
    """A count of rows is an index too, and would otherwise go by one node beside it."""
    graph = Graph.from_edges(["1", "2"], ["2", "3"])
    counted = pd.DataFrame({"age": [1, 2, 3, 4]})
    with pytest.raises(UserError, match=r"'0' is no node of the graph.*matched by the data frame's index"):
        graph.with_features(counted)
    assert graph.with_features(counted, ids=counted.index.to_list()).ids == ("0", "1", "2", "3")


def test_a_table_takes_the_encoding_of_another() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    trained = graph.with_features(table(id=["a", "b", "c"], city=["Rome", "Oslo", "Rome"]))
    few = table(id=["a", "b", "c"], city=["Rome", "Rome", "Bonn"])
    again = graph.with_features(few, encoding=trained.encoding)
    assert again.feature_names == trained.feature_names == ("city=Rome", "city=Oslo")
    assert_array_equal(again.features, [[1, 0], [1, 0], [0, 0]])


def test_a_saved_graph_keeps_its_encoding(tmp_path: Path) -> None:
    graph = PATH.with_features(pa.table(PEOPLE))
    graph.save(tmp_path / "g.npz")
    loaded = Graph.load(tmp_path / "g.npz")
    assert loaded.encoding == graph.encoding
    assert loaded.feature_kinds == graph.feature_kinds
    assert_array_equal(loaded.features, graph.features)


def test_a_model_encodes_new_nodes_as_it_was_trained(tmp_path: Path) -> None:
    graph = PATH.with_features(pa.table(PEOPLE))
    model = FDMVGCL(dim=4, views=2, epochs=1).fit(graph)
    model.save(tmp_path)
    model = FDMVGCL.load(tmp_path)
    # Other categories, no blanks, other order: encoded by itself this table would have other columns.
    fresh = {"city": ["Bonn", "Rome", "Bonn"], "id": list("xyz"), "age": ["1", "2", "3"]}
    new = Graph.from_edges(["x", "y"], ["y", "z"]).with_features(pa.table(fresh))
    by_hand = np.array([[1, 0, 0, 0], [2, 0, 0, 1], [3, 0, 0, 0]], dtype=np.float32)
    names = ["age", "age (blank)", "city=Oslo", "city=Rome"]
    expected = Graph.from_edges(["x", "y"], ["y", "z"]).with_features(by_hand, names=names)
    assert_array_equal(model.transform(new), model.transform(expected))
    numbers = Graph.from_edges(["x"], ["y"]).with_features(pa.table({"id": ["x", "y"], "age": [1, 2]}))
    with pytest.raises(UserError, match="column 'city' is missing"):
        model.transform(numbers)


def test_what_is_told_of_a_column() -> None:
    assert Column("v", "vector", mean=(1.0, 2.0)).told == "v: vector of 2"
    assert Column("x", "number", blanks=True, mean=(1.0,), form=",").told == "x: number, blanks marked, decimal comma"
