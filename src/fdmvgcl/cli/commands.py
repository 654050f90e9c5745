"""The commands and their options; what a command needs is imported when it is called."""

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fdmvgcl import __version__
from fdmvgcl.cli import options as o
from fdmvgcl.errors import ArgumentError, UserError
from fdmvgcl.learning.settings import full_name

BAD_INPUT, INTERNAL, INTERRUPTED, TERMINATED = 2, 1, 130, 143
DEBUG_VARIABLE = "FDMVGCL_DEBUG"


class _Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a run as Ctrl-C does: what is done is kept, and no worker is left behind."""


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise _Terminated

    if threading.current_thread() is not threading.main_thread():  # where no handler can be set
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _OneLineErrors(TyperGroup):
    """Every error is one line on stderr and an exit code: 2 for what the user can mend, 1 for what we must."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:  # closed by whoever called
                setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, it serves until the end
            if hasattr(getattr(sys, name), "reconfigure"):
                getattr(sys, name).reconfigure(errors="replace")  # a terminal that is not UTF-8 must not end a run
        try:
            code = super().main(*args, **{**kwargs, "standalone_mode": False})
        except (UserError, OSError, FloatingPointError, MemoryError) as error:
            code = _fail(_told(error), BAD_INPUT, error)
        except Exception as error:
            if hasattr(error, "format_message"):  # typer's own, whose class has moved between versions
                code = _fail(" ".join(error.format_message().split()), BAD_INPUT, error)
            else:
                told = f"internal error: {type(error).__name__}: {error}"
                advice = f"please report it with what {DEBUG_VARIABLE}=1 shows"
                code = _fail(f"{told} ({advice})", INTERNAL, error)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        try:
            with _ended_by_sigterm():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            print("interrupted; the same command goes on where it was, embed with --resume", file=sys.stderr)
            return TERMINATED if isinstance(error, _Terminated) else INTERRUPTED
        except ArgumentError as error:
            params = self.commands[ctx.invoked_subcommand].params
            raise UserError(f"{_option_of(error.argument, params)} {error.rule}") from error


def _option_of(argument: str, params: Sequence[Any]) -> str:
    """What a user types for an argument of this name."""
    options = {param.name: max(param.opts, key=len) for param in params}
    if "changes" in options and argument not in options:
        return f"{options['changes']} {full_name(argument)}"
    return options.get(argument, argument)


def _told(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def _fail(message: str, code: int, error: BaseException | None = None) -> int:
    from fdmvgcl.cli.console import printable

    if error is not None and os.environ.get(DEBUG_VARIABLE):
        traceback.print_exception(error)
    print(f"error: {printable(' '.join(message.splitlines()))}", file=sys.stderr)
    return code


app = typer.Typer(
    cls=_OneLineErrors,
    add_completion=False,
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


@app.command(
    epilog="Examples:\n\n  fdmvgcl embed digits\n\n  fdmvgcl embed edges.csv --features nodes.parquet -o out\n\n"
    "  fdmvgcl embed edges.csv -o out --resume\n\n"
    "DIR gets embeddings.parquet (id, z), graph.npz, model/, history.jsonl and report.html."
)
def embed(
    source: o.Source,
    features: o.Features = None,
    labels: o.Labels = None,
    directed: o.Directed = False,
    weight: o.Weight = None,
    header: o.Header = False,
    fill_missing: o.FillMissing = False,
    output: o.Folder = None,
    resume: o.Resume = False,
    keep_views: o.KeepViews = False,
    no_report: o.NoReport = False,
    dim: o.Dim = None,
    views: o.Views = None,
    epochs: o.Epochs = None,
    time: o.Time = None,
    seed: o.Seed = None,
    device: o.Device = None,
    changes: o.Set = None,
    settings: o.SettingsFile = None,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
) -> None:
    """Embed a graph: learn from it without labels and write embeddings keyed by your ids."""
    from fdmvgcl.cli import embed as command
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.settings import model_of
    from fdmvgcl.cli.sources import ReadOptions

    given = {"dim": dim, "views": views, "epochs": epochs, "time": time, "seed": seed, "device": device}
    model = model_of(settings, changes or (), given)
    reading = ReadOptions(features, directed, weight, header, fill_missing)
    wanted = command.EmbedOptions(output, labels, keep_views, resume, data_root, not no_report)
    try:
        command.embed(source, model, reading, wanted, Reporter(quiet))
    except command.Interrupted:
        print("stopped; the state is saved: go on with the same command and --resume", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None


@app.command(
    epilog="Examples:\n\n  fdmvgcl transform out tomorrow.csv --features nodes.csv -o tomorrow.parquet\n\n"
    "  fdmvgcl transform out new-edges.csv --features new-nodes.csv --extend -o new.parquet"
)
def transform(
    folder: o.Results,
    source: o.Source,
    output: o.File,
    features: o.Features = None,
    extend: o.Extend = False,
    directed: o.Directed = False,
    weight: o.Weight = None,
    header: o.Header = False,
    fill_missing: o.FillMissing = False,
    data_root: o.DataRoot = None,
    device: o.Device = None,
    quiet: o.Quiet = False,
) -> None:
    """Embed new nodes, or another graph with the same feature columns, by a model trained before."""
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.sources import ReadOptions
    from fdmvgcl.cli.transform import transform as command
    from fdmvgcl.results.outputs import ResultFolder

    reading = ReadOptions(features, directed, weight, header, fill_missing)
    results = ResultFolder(folder)
    command(
        results, source, reading, output, Reporter(quiet), extend=extend, data_root=data_root, device=device or "cpu"
    )


@app.command(epilog="Example:\n\n  fdmvgcl similar out --id alice -k 5")
def similar(folder: o.Results, node: o.Node, count: o.Count = 10) -> None:
    """The nodes most like one, by cosine; separated by tabs where the output is no terminal."""
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.similar import similar as command
    from fdmvgcl.results.outputs import ResultFolder

    command(ResultFolder(folder), node, count, Reporter())


@app.command(epilog="Example:\n\n  fdmvgcl evaluate out --labels labels.csv")
def evaluate(
    folder: o.Results,
    labels: o.LabelsOrName,
    splits: o.Splits = None,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
) -> None:
    """Probe embeddings with labels, beside the controls that tell whether learning helped; writes evaluation.json."""
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.evaluate import evaluate as command
    from fdmvgcl.results.outputs import ResultFolder

    command(ResultFolder(folder), labels, splits, Reporter(quiet), data_root=data_root)


@app.command(epilog="Example:\n\n  fdmvgcl report out")
def report(folder: o.Results, quiet: o.Quiet = False) -> None:
    """Write report.html, one page to open in a browser, from what is in the folder."""
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.report import report as command
    from fdmvgcl.results.outputs import ResultFolder

    command(ResultFolder(folder), Reporter(quiet))


@app.command()
def datasets(data_root: o.DataRoot = None) -> None:
    """List the data sets that can be named, and whether their files are there."""
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.datasets import list_datasets

    list_datasets(data_root, Reporter())


@app.command(
    epilog="NAME is one of nodes, views, depth, dim, cost, theory, pca, tsne, ratio, losses, dynamics; or a "
    "study of our own: curves, halves.\n\n"
    "Example:\n\n  fdmvgcl reproduce nodes --datasets cora,texas --seeds 2\n\n"
    "Records are kept one by one: the same command goes on where it was stopped."
)
def reproduce(
    name: o.ExperimentName,
    datasets: o.Datasets = None,
    seeds: o.Seeds = 10,
    output: o.Records = None,
    jobs: o.Jobs = 1,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
) -> None:
    """Make a table or a figure of the paper, with controls beside every number."""
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.reproduce import reproduce as command

    command(name, datasets, seeds, output, Reporter(quiet), jobs=jobs, data_root=data_root)


@app.command(epilog="Example:\n\n  fdmvgcl tune cora --trials 30")
def tune(
    dataset: o.DatasetName,
    trials: o.Trials = 30,
    dim: o.PoolDim = 1024,
    seeds: o.Seeds = 1,
    output: o.PoolFile = None,
    jobs: o.Jobs = 1,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
) -> None:
    """Train a pool of settings and let each split's validation nodes choose among them; writes a TOML file."""
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.reproduce import tune as command

    command(dataset, trials, dim, seeds, output, Reporter(quiet), jobs=jobs, data_root=data_root)


def main() -> None:
    """The entry point."""
    app(prog_name="fdmvgcl")
