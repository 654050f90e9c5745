"""Keeping freed blocks is counted in pages that the system had to clear, which it is there to spare."""

import resource

import numpy as np
import pytest

from fdmvgcl import machine
from fdmvgcl.machine import freed_blocks_kept, machine_memory

BYTES = 256 << 20

glibc_only = pytest.mark.skipif(machine._glibc() is None, reason="memory is not managed by glibc here")


def pages_cleared():
    """While a large block is made, filled and freed for the second time."""
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        np.ones(BYTES, np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@glibc_only
def test_freed_blocks_are_used_again_within_and_given_back_after():
    usual = pages_cleared()
    with freed_blocks_kept():
        kept, held = pages_cleared(), machine._resident()
    assert usual > 100  # of 2 MB each, if the system has such pages
    assert kept < usual / 10
    assert machine._resident() < held - BYTES / 2
    assert pages_cleared() > usual / 2


@glibc_only
def test_work_that_needs_much_of_the_memory_gives_blocks_back_even_where_they_are_kept():
    with freed_blocks_kept():
        with freed_blocks_kept(machine_memory() // 2):
            large = pages_cleared()
        assert pages_cleared() < large / 10


@glibc_only
@pytest.mark.parametrize(("needed", "held"), [(BYTES // 4, False), (BYTES, True)])
def test_more_memory_than_the_work_needs_is_given_back_between_steps(needed, held):
    with freed_blocks_kept(needed) as limit_gaps:
        np.ones(BYTES, np.uint8)
        before = machine._resident()
        limit_gaps()
        assert (machine._resident() > before - BYTES / 2) == held


@glibc_only
def test_an_interruption_ends_it():
    with pytest.raises(KeyboardInterrupt), freed_blocks_kept():
        raise KeyboardInterrupt
    assert not machine._kept


def test_elsewhere_nothing_happens(monkeypatch):
    monkeypatch.setattr("fdmvgcl.machine._glibc", lambda: None)
    with freed_blocks_kept() as limit_gaps:
        limit_gaps()
        assert not machine._kept


@pytest.mark.parametrize(
    ("limit", "memory"), [("max\n", 1 << 34), ("1073741824\n", 1 << 30), (f"{1 << 60}\n", 1 << 34)]
)
def test_a_container_has_no_more_memory_than_it_may_use(limit, memory, tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text(limit)
    monkeypatch.setattr("fdmvgcl.machine.CONTAINER_LIMITS", (tmp_path / "memory.max", tmp_path / "missing"))
    monkeypatch.setattr("os.sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": (1 << 34) // 4096}.get)
    assert machine_memory() == memory
