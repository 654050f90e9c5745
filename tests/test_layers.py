"""A module imports only from those listed before it (imports inside functions are meant exceptions)."""

import ast
from pathlib import Path

import fdmvgcl

LAYERS = [
    "fractional._checks",
    "fractional.mittag_leffler",
    "fractional.history",
    "fractional.schemes",
    "fractional.response",
    "fractional.implicit",
    "fractional.integrate",
    "fractional",
    "errors",
    "files",
    "operators",
    "node_ids",
    "provenance",
    "graph_arrays",
    "graph",
    "graph_file",
    "readers",
    "assortativity",
    "_panels",
    "kernels",
    "spectrum",
    "diffusion",
    "nearest",
    "likeness",
    "whitening",
    "dynamics",
    "plan",
    "heap",
    "encoder",
    "losses.base",
    "losses.moments",
    "losses.direction",
    "losses.euclidean",
    "losses",
    "diagnostics",
    "features",
    "view_scaling",
    "training",
    "parameters",
    "model",
    "model_file",
    "transforms",
    "data",
    "evaluation",
    "curves",
    "neighbour_map",
    "maps",
    "figures",
    "plain_pages",
    "vectors",
    "search",
    "outputs",
    "verdict",
    "experiments",
    "report",
    "commands",
    "cli",
    "__main__",
]
ROOT = Path(fdmvgcl.__file__).parent


def layer_of(module: str) -> int:
    """Place of a module in the list, by its longest listed prefix."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in LAYERS:
            return LAYERS.index(name)
    raise AssertionError(f"{module} is in no layer: add it to the list")


def imports_at_import_time(tree: ast.Module) -> set[str]:
    """Modules of ours that the file imports outside functions and ``TYPE_CHECKING`` blocks."""
    found: set[str] = set()
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("fdmvgcl."):
            found.add(node.module.removeprefix("fdmvgcl."))
        if isinstance(node, ast.Import):
            found |= {a.name.removeprefix("fdmvgcl.") for a in node.names if a.name.startswith("fdmvgcl.")}
        pending.extend(ast.iter_child_nodes(node))
    return found


def test_modules_import_only_from_earlier_layers() -> None:
    for path in sorted(ROOT.rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        if module == "__init__":
            continue
        for imported in imports_at_import_time(ast.parse(path.read_text())):
            own_package = imported.split(".")[0] == module.split(".")[0] and layer_of(imported) == layer_of(module)
            assert own_package or layer_of(imported) < layer_of(module), f"{module} must not import {imported}"


def test_every_layer_exists() -> None:
    for name in LAYERS:
        path = ROOT.joinpath(*name.split("."))
        assert path.with_suffix(".py").exists() or (path / "__init__.py").exists(), f"{name} is listed but not there"
