"""Keeping freed blocks is counted in pages that the system had to clear, which it is there to spare."""

import os
import subprocess
import sys

import pytest

from fdmvgcl import machine
from fdmvgcl.machine import freed_blocks_kept, machine_memory

glibc_only = pytest.mark.skipif(machine._glibc() is None, reason="memory is not managed by glibc here")


# What other tests left in the heap would serve in place of new blocks, or lie above them and keep them.
FRESH = """
import resource
import numpy as np
from fdmvgcl.machine import _resident, freed_blocks_kept, machine_memory
BYTES = 256 << 20

def pages_cleared():
    # While a large block is made, filled and freed for the second time.
    for _ in range(2):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        np.ones(BYTES, np.uint8)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
"""


def in_a_fresh_process(script):
    """Asserted in a process that holds nothing else: this one's heap depends on the tests that it ran before."""
    run = subprocess.run([sys.executable, "-c", FRESH + script], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


@glibc_only
def test_freed_blocks_are_used_again_within_and_given_back_after():
    in_a_fresh_process("""
usual = pages_cleared()
with freed_blocks_kept():
    kept, held = pages_cleared(), _resident()
assert usual > 100, usual  # of 2 MB each, if the system has such pages
assert kept < usual / 10, (kept, usual)
assert _resident() < held - BYTES / 2
assert pages_cleared() > usual / 2
""")


@glibc_only
def test_work_that_needs_much_of_the_memory_gives_blocks_back_even_where_they_are_kept():
    in_a_fresh_process("""
with freed_blocks_kept():
    with freed_blocks_kept(machine_memory() // 2):
        large = pages_cleared()
    kept = pages_cleared()
assert kept < large / 10, (kept, large)
""")


@glibc_only
@pytest.mark.parametrize(("needed", "held"), [("BYTES // 4", False), ("BYTES", True)])
def test_more_memory_than_the_work_needs_is_given_back_between_steps(needed, held):
    in_a_fresh_process(f"""
with freed_blocks_kept({needed}) as limit_gaps:
    np.ones(BYTES, np.uint8)
    before = _resident()
    limit_gaps()
    after = _resident()
assert (after > before - BYTES / 2) == {held}, (before, after)
""")


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


def test_processes_on_one_machine_share_its_memory(monkeypatch):
    whole = machine_memory()
    assert machine.memory_share() == whole
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert machine.memory_share() == whole // 2


def test_a_rank_counts_only_where_the_number_of_processes_is_known(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert machine.place_among_processes() == (0, 1)
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert machine.place_among_processes() == (1, 2)


@pytest.mark.parametrize(
    ("rule", "before", "asked"),
    [
        ("always [madvise] never\n", None, "1"),
        ("always [madvise] never\n", "0", "0"),
        ("[always] madvise never\n", None, None),
        ("always madvise [never]\n", None, None),
        (None, None, None),
    ],
)
def test_huge_pages_are_asked_for_where_they_are_offered(rule, before, asked, tmp_path, monkeypatch):
    if rule is not None:
        (tmp_path / "enabled").write_text(rule)
    monkeypatch.setattr("fdmvgcl.machine.HUGE_PAGES", tmp_path / "enabled")
    monkeypatch.setattr("os.environ", {} if before is None else {machine.HUGE_PAGES_VARIABLE: before})
    machine.ask_for_huge_pages()
    assert machine.os.environ.get(machine.HUGE_PAGES_VARIABLE) == asked


FAULTS_OF_A_LARGE_TENSOR = """
import resource, sys
{first}
import torch
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
torch.ones(64 << 20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(
    not machine.HUGE_PAGES.exists() or "[madvise]" not in machine.HUGE_PAGES.read_text(),
    reason="the system does not give huge pages to who asks",
)
def test_only_the_command_gets_huge_pages_the_library_changes_nothing():
    def faults(first):
        script = FAULTS_OF_A_LARGE_TENSOR.format(first=first)
        environ = {name: value for name, value in os.environ.items() if name != machine.HUGE_PAGES_VARIABLE}
        run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, env=environ)
        return int(run.stdout.splitlines()[-1])

    command = "sys.argv = ['fdmvgcl', '--version']\ntry: import fdmvgcl.__main__\nexcept SystemExit: pass"
    assert faults(command) < faults("import fdmvgcl.learning.model") / 10
