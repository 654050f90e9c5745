import numpy as np
import pytest

from fdmvgcl.analysis.movement import movement


def test_cosines_of_the_nodes_in_both() -> None:
    before = np.array([[1, 0], [0, 2], [0, 0], [1, 1]], np.float32)
    after = np.array([[0, 0], [0, 5], [3, 3], [9, 9]], np.float32)
    found = movement(["a", "b", "zero", "gone"], before, ["zero", "b", "a", "new"], after)
    assert found.nodes == 3
    assert found.mean == pytest.approx((0.5**0.5 + 1 + 1) / 3, abs=1e-6)
    assert [node for node, _ in found.furthest] == ["a"]
    assert movement(["a"], before[:1], ["b"], before[:1]).mean is None
