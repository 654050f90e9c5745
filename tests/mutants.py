"""Breaks the library in known ways, one at a time in a copy, and sees that the tests notice: ``make mutants``.

The list is ``mutants.toml``.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "fdmvgcl"


class Mutant(NamedTuple):
    file: str
    old: str
    new: str
    test: str


MUTANTS = [Mutant(**each) for each in tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())["mutant"]]


def applied(mutant: Mutant) -> str:
    """The file's text as the mutant has it; its own must stand there once."""
    text = (PACKAGE / mutant.file).read_text()
    if text.count(mutant.old) != 1:
        told = f"{mutant.old!r} must stand there once, got it {text.count(mutant.old)} times"
        raise SystemExit(f"{mutant.file}: {told}; bring the mutant up to date")
    return text.replace(mutant.old, mutant.new)


def survives(mutant: Mutant) -> bool:
    """Whether the tests pass in a copy of the package with the mutant in it."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src", ignore=shutil.ignore_patterns("__pycache__"))
        (Path(folder) / "src" / "fdmvgcl" / mutant.file).write_text(applied(mutant))
        path = {"PYTHONPATH": str(Path(folder) / "src"), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", mutant.test]
        done = subprocess.run(command, cwd=ROOT, env=os.environ | path, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{mutant}: the tests did not run\n{done.stdout[-2000:]}{done.stderr[-2000:]}")

    told = "SURVIVED" if done.returncode == 0 else "caught"
    print(f"{told}: {mutant.file}: {mutant.old.strip()[:60]} → {mutant.new.strip()[:40] or 'nothing'}", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    chosen = [mutant for mutant in MUTANTS if not sys.argv[1:] or any(word in str(mutant) for word in sys.argv[1:])]
    for each in chosen:
        applied(each)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        left = sum(pool.map(survives, chosen))
    raise SystemExit(f"{left} of {len(chosen)} mutants survived" if left else print(f"all {len(chosen)} are caught"))
