"""The program that commands are added to, and how it begins."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fdmvgcl import __version__
from fdmvgcl.cli.endings import OneLineErrors
from fdmvgcl.machine import ask_for_huge_pages

if TYPE_CHECKING:
    from fdmvgcl.results.outputs import ResultFolder


def results_in(folder: Path) -> "ResultFolder":
    """A folder of results, asked for before what takes seconds to import."""
    from fdmvgcl.results.outputs import ResultFolder

    return ResultFolder(folder).require()


app = typer.Typer(
    cls=OneLineErrors,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Begin with [bold]fdmvgcl embed digits[/], or with a file of yours: [bold]fdmvgcl embed edges.csv[/].",
)


@app.callback(invoke_without_command=True)
def overview(
    ctx: typer.Context, version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False
) -> None:
    """Label-free embeddings of a graph's nodes by multi-view fractional diffusion."""
    if version:
        print(f"fdmvgcl {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


def main() -> None:
    """The entry point."""
    ask_for_huge_pages()
    app(prog_name="fdmvgcl")
