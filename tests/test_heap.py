"""Counted in pages that the system had to clear, which is what keeping freed blocks is there to spare."""

import resource

import numpy as np
import pytest

from fdmvgcl import FDMVGCL, Graph, heap
from fdmvgcl.diffusion.cost import machine_memory
from fdmvgcl.heap import freed_blocks_kept

BYTES = 256 << 20

pytestmark = pytest.mark.skipif(heap._glibc() is None, reason="memory is not managed by glibc here")


def pages_cleared():
    """While a large block is made, filled and freed for the second time."""
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        np.ones(BYTES, np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_freed_blocks_are_used_again_within_and_given_back_after():
    usual = pages_cleared()
    with freed_blocks_kept():
        kept, held = pages_cleared(), heap._resident()
    assert usual > 100  # of 2 MB each, if the system has such pages
    assert kept < usual / 10
    assert heap._resident() < held - BYTES / 2
    assert pages_cleared() > usual / 2


def test_work_that_needs_much_of_the_memory_gives_blocks_back_even_where_they_are_kept():
    with freed_blocks_kept():
        with freed_blocks_kept(machine_memory() // 2):
            large = pages_cleared()
        assert pages_cleared() < large / 10


@pytest.mark.parametrize(("needed", "held"), [(BYTES // 4, False), (BYTES, True)])
def test_more_memory_than_the_work_needs_is_given_back_between_steps(needed, held):
    with freed_blocks_kept(needed) as limit_gaps:
        np.ones(BYTES, np.uint8)
        before = heap._resident()
        limit_gaps()
        assert (heap._resident() > before - BYTES / 2) == held


def test_an_interruption_ends_it():
    with pytest.raises(KeyboardInterrupt), freed_blocks_kept():
        raise KeyboardInterrupt
    assert not heap._kept


def test_training_keeps_blocks_by_its_estimate_and_its_numbers_do_not_depend_on_it(monkeypatch):
    graph, seen = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4]), []

    def vectors():
        model = FDMVGCL(dim=16, views=2, epochs=2).fit(graph, on_epoch=lambda *_: seen.append(heap._kept))
        return model.transform(graph)

    kept = vectors()
    monkeypatch.setattr("fdmvgcl.learning.model.FDMVGCL.memory_estimate", lambda *_: machine_memory())
    np.testing.assert_array_equal(vectors(), kept)
    assert seen == [True, True, False, False]


def test_elsewhere_nothing_happens(monkeypatch):
    monkeypatch.setattr("fdmvgcl.heap._glibc", lambda: None)
    with freed_blocks_kept() as limit_gaps:
        limit_gaps()
        assert not heap._kept
