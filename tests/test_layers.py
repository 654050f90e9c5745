"""A room imports from those listed before it, and from itself; an import inside a function is a meant exception."""

import ast
from pathlib import Path

import fdmvgcl

ROOMS = "errors files machine fractional graphs datasets diffusion dynamics losses learning methods evaluation "
ORDER = [*(ROOMS + "attacks results analysis figures experiments cli").split(), "__main__", "__init__"]
ROOT = Path(fdmvgcl.__file__).parent


def imported_rooms(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    lazy = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef | ast.If) for n in ast.walk(f)}
    found = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and id(n) not in lazy]
    here = ("fdmvgcl", *path.relative_to(ROOT).parts[:-1])
    full = [
        (*here[: len(here) + 1 - n.level], *(n.module or "").split(".")) if n.level else n.module.split(".")
        for n in found
    ]
    return {name[1] for name in full if name[0] == "fdmvgcl" and len(name) > 1}


def test_imports_go_down_the_list_of_rooms() -> None:
    for path in ROOT.rglob("*.py"):
        room = path.relative_to(ROOT).parts[0].removesuffix(".py")
        for other in imported_rooms(path) - {room}:
            assert ORDER.index(other) < ORDER.index(room), f"{path} must not import {other}"


def test_every_room_says_what_is_public() -> None:
    for init in ROOT.glob("*/__init__.py"):
        assert "__all__ = [" in init.read_text(), f"{init} has no __all__"
