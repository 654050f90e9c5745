"""Whether a text's first line names its columns, and which columns are the ends of edges; None where it is not certain.

A first line is a header if it holds a known pair of names, or a word above a column of nothing but numbers or dates. It
is no header if a number stands above numbers, or one of its ids comes again below. If neither settles it, names that
look like no id below are a header; the rest is for the file's owner to say.
"""

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

PAIRS = (
    *(("source", "target"), ("src", "dst"), ("from", "to"), (":start_id", ":end_id"), ("start_id", "end_id")),
    *(("source_id", "target_id"), ("sourceid", "targetid"), ("from_id", "to_id"), ("fromnodeid", "tonodeid")),
    *(("source", "destination"), ("src", "dest"), ("sender", "receiver"), ("sender", "recipient")),
    *(("caller", "callee"), ("follower", "followee"), ("citing", "cited"), ("parent", "child")),
    *(("id_1", "id_2"), ("id1", "id2"), ("node1", "node2"), ("node_1", "node_2"), ("node_a", "node_b")),
    *(("user1", "user2"), ("user_a", "user_b"), ("v1", "v2"), ("head", "tail")),
)
# The pairs that nobody calls two nodes.
CERTAIN = PAIRS[:9]

_NUMBER = r"^[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)([eE][+-]?[0-9]+)?$"
_DATE = r"^[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}([T ].*)?$"
_WORD = r"^[A-Za-z_:][\w :.()-]*$"


def plain_name(name: str) -> str:
    """A column's name in lower case, without what Neo4j adds: ``weight:float``, ``:START_ID(Person)``."""
    lowered = re.sub(r"\([^)]*\)$", "", name.strip().lower())
    base, colon, kind = lowered.partition(":")
    if not colon:
        return lowered
    return f":{kind}" if kind in ("start_id", "end_id", "id", "type", "label") else base


def known_pair(names: Sequence[str], pairs: Sequence[tuple[str, str]] = PAIRS) -> tuple[str, str] | None:
    """The first of the pairs that is among the names."""
    plain = {plain_name(name) for name in names}
    return next((pair for pair in pairs if plain.issuperset(pair)), None)


def column_kind(cells: pa.ChunkedArray) -> str:
    """``"whole"``, ``"number"``, ``"date"``, ``"text"``, or ``"blank"`` of a sample of texts."""
    filled = cells.filter(pc.not_equal(cells, ""))
    if not len(filled):
        return "blank"
    if pc.all(pc.match_substring_regex(filled, _NUMBER)).as_py():
        return "whole" if pc.all(pc.match_substring_regex(filled, r"^-?[0-9]+$")).as_py() else "number"
    return "date" if pc.all(pc.match_substring_regex(filled, _DATE)).as_py() else "text"


def told_by_types(first: Sequence[str], kinds: Sequence[str]) -> bool | None:
    """Whether types say that the first line is a header: a word above numbers or dates; or that it is not."""
    above = [column_kind(pa.chunked_array([[cell]], pa.large_string())) for cell in first]
    pairs = list(zip(above, kinds, strict=True))
    if any(top == "text" and below in ("whole", "number", "date") for top, below in pairs):
        return True
    alike = any(top in ("whole", "number", "date") and below != "text" for top, below in pairs)
    return False if alike else None


def told_by_ids(
    first: Sequence[str], columns: Sequence[pa.ChunkedArray], sample: Sequence[pa.ChunkedArray]
) -> bool | None:
    """Whether ids say that the first line is a header.

    Args:
        first: its two ends.
        columns: all cells below, of both ends.
        sample: some of them.
    """
    values = pa.array(first, pa.large_string())
    if first[0] == first[1] or any(pc.any(pc.is_in(cells, value_set=values)).as_py() for cells in columns):
        return False
    shapes = [(_shape(cell), _shapes(cells)) for cell, cells in zip(first, sample, strict=True)]
    if any("9" in shape and shape in below for shape, below in shapes):
        return False
    strange = all(re.match(_WORD, cell) for cell in first) and all(shape not in below for shape, below in shapes)
    return True if strange and len(sample[0]) > 1 else None


def _shape(text: str) -> str:
    """``O'Brien 12`` as ``a'a 9``."""
    return re.sub(r"[0-9]+", "9", re.sub(r"[^\W\d_]+", "a", text))


def _shapes(cells: pa.ChunkedArray) -> set[str]:
    return {_shape(text) for text in cells.to_pylist()}


def likely_ends(kinds: Sequence[str], sample: Sequence[pa.ChunkedArray]) -> tuple[int, int] | None:
    """The two columns that can be ends, by their kinds and by ids that are in both.

    Two columns in all; or the only two of texts, if they stand side by side; or without texts the only two of whole
    numbers; or the first two, if they are of one kind and hold an id in common.
    """
    if len(kinds) == 2:
        return 0, 1
    texts = [i for i, kind in enumerate(kinds) if kind == "text"]
    wholes = [i for i, kind in enumerate(kinds) if kind == "whole"]
    if len(texts) == 2 and texts[1] == texts[0] + 1:
        return texts[0], texts[1]
    if not texts and len(wholes) == 2:
        return wholes[0], wholes[1]
    alike = kinds[0] == kinds[1] and kinds[0] in ("text", "whole")
    return (0, 1) if alike and pc.any(pc.is_in(sample[0], value_set=sample[1])).as_py() else None
