"""``make mutants`` breaks the library in known ways; that it still can is seen here, at once."""

import runpy
from pathlib import Path
from typing import Any

import pytest

MUTANTS = runpy.run_path(str(Path(__file__).parent / "mutants.py"))


def test_there_are_at_least_thirty() -> None:
    assert len(set(MUTANTS["MUTANTS"])) >= 30


@pytest.mark.parametrize("mutant", MUTANTS["MUTANTS"], ids=lambda mutant: mutant.file)
def test_a_mutant_finds_its_text_and_its_tests(mutant: Any) -> None:
    broken = MUTANTS["applied"](mutant)
    compile(broken, mutant.file, "exec")
    path, _, name = mutant.test.partition("::")
    assert f"def {name}(" in (MUTANTS["ROOT"] / path).read_text() if name else (MUTANTS["ROOT"] / path).is_file()
