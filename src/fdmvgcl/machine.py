"""The memory and the threads of this machine."""

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

from threadpoolctl import ThreadpoolController

# Where Linux says what a container may have, by the newer and the older kind of control groups; "max" is no limit.
CONTAINER_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))

# Of the machine's memory, what work may need that keeps freed blocks; and of what it needs, what it may come to hold:
# blocks of many sizes in one heap leave gaps that nothing fits into.
AFFORDABLE, LARGEST = 0.25, 2.0

# The numbers of mallopt's parameters in malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -3, -4

_NEVER = -1
# Where glibc's own thresholds end once blocks of 32 MB were freed.
_USUAL_MMAP_MAX, _USUAL_MMAP_THRESHOLD, _USUAL_TRIM_THRESHOLD = 65536, 32 << 20, 64 << 20

_STATM = Path("/proc/self/statm")

# Whether the system has huge pages for who asks, the present rule in brackets; and how PyTorch is told to ask.
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
HUGE_PAGES_VARIABLE = "THP_MEM_ALLOC_ENABLE"

_kept = False


def machine_memory() -> int:
    """Bytes of memory that the machine has, or its container, free or not: a plan must not depend on the hour."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([whole, *filter(None, map(_limit, CONTAINER_LIMITS))])


def _limit(path: Path) -> int | None:
    """The number in a file, or None if there is none."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def place_among_processes() -> tuple[int, int]:
    """The number of this process, and how many torchrun has started; (0, 1) without it."""
    if "WORLD_SIZE" not in os.environ:
        return 0, 1
    return int(os.environ.get("RANK", 0)), int(os.environ["WORLD_SIZE"])


def memory_share() -> int:
    """Bytes of the machine's memory for each of the processes that torchrun has started on it."""
    return machine_memory() // int(os.environ.get("LOCAL_WORLD_SIZE", 1))


def ask_for_huge_pages() -> None:
    """Have PyTorch ask for pages of 2 MB, where the system gives them to who asks; before PyTorch is first imported.

    An epoch on a large graph makes and frees gigabytes, of which each small page costs a fault. It is for commands: it
    holds for the whole process and those that it starts. What the environment says already stays. Numbers do not depend
    on it.
    """
    try:
        offered = "[madvise]" in HUGE_PAGES.read_text()
    except OSError:  # not Linux, or a kernel without them
        return
    if offered:
        os.environ.setdefault(HUGE_PAGES_VARIABLE, "1")


@contextmanager
def one_thread() -> Iterator[None]:
    """For small decompositions by PyTorch, which threads slow down (a hundredfold where the machine is shared)."""
    import torch  # late: commands that need no torch need the rest of this module

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """The same for NumPy and SciPy."""
    with _blas_threads().limit(limits=1, user_api="blas"):
        yield


@contextmanager
def freed_blocks_kept(needed: int = 0) -> Iterator[Callable[[], None]]:
    """Within, the process keeps the memory that it frees, if it can afford to; after it, as before.

    A step of training makes and frees the same few large tensors. glibc maps every block above 32 MB anew and unmaps it
    when it is freed, so that each step has the system clear all of its pages again: up to a fifth of an epoch of the
    defaults (``benchmarks/heap.py``), more where views are wider. It is for commands, as it holds for the whole
    process and all its threads. Where memory is not managed by glibc nothing happens. Numbers do not depend on it.

    Args:
        needed: bytes that the work takes at its peak. With more than a quarter of the machine's memory freed blocks are
            given back within, whatever was so before.

    Returns:
        What to call between steps: it gives the freed blocks back if they have become too many.
    """
    if _glibc() is None:
        yield lambda: None
        return
    before = _kept
    _keep(needed <= AFFORDABLE * machine_memory())
    try:
        yield partial(_limit_gaps, _resident() + LARGEST * needed)
    finally:
        _keep(before)


def _keep(wanted: bool) -> None:
    global _kept
    libc = _glibc()
    if libc is None or wanted == _kept:
        return
    _kept = wanted
    if wanted:
        libc.mallopt(_MMAP_MAX, 0)
        libc.mallopt(_TRIM_THRESHOLD, _NEVER)
    else:
        libc.mallopt(_MMAP_MAX, _USUAL_MMAP_MAX)
        libc.mallopt(_MMAP_THRESHOLD, _USUAL_MMAP_THRESHOLD)
        libc.mallopt(_TRIM_THRESHOLD, _USUAL_TRIM_THRESHOLD)
        libc.malloc_trim(0)


def _limit_gaps(most: float) -> None:
    libc = _glibc()
    if libc is not None and _kept and _resident() > most:
        libc.malloc_trim(0)


def _resident() -> int:
    """Bytes of memory that the process has."""
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@cache
def _blas_threads() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def _glibc() -> ctypes.CDLL | None:
    """The C library, if it can be told."""
    if not (sys.platform.startswith("linux") and _STATM.exists()):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
