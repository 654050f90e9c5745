"""Options of the command line, by panel of ``--help``. Nothing here imports torch: help must be there at once."""

from pathlib import Path
from typing import Annotated, Any

import typer

from fdmvgcl.learning import settings as s

INPUT, OUTPUT, MODEL, COMMON = "Input", "Output", "Model", "Every command"


def _option(panel: str, name: str, text: str, *more: str, **settings: Any) -> Any:
    return typer.Option(name, *more, help=text, rich_help_panel=panel, **settings)


def _output(text: str) -> Path:
    if not text:  # an unset variable of a shell would otherwise mean the working folder
        raise typer.BadParameter("must name a file or folder, got ''")
    return Path(text)


# -- input ------------------------------------------------------------------------------------------------------------

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A data set's name (see fdmvgcl datasets), or an edge file: CSV, TSV, spaces, Parquet, GraphML, .npz. "
        "A known name is the data set even if a file is called so; write ./name for the file.",
    ),
]
Features = Annotated[
    Path | None,
    _option(INPUT, "--features", "Node features: a column id (else the first) and numbers.", metavar="FILE"),
]
Labels = Annotated[
    Path | None,
    _option(INPUT, "--labels", "Labels id,label: only to evaluate at the end; they never change z.", metavar="FILE"),
]
Directed = Annotated[bool, _option(INPUT, "--directed", "Keep the direction of edges; else it is dropped.")]
Weight = Annotated[
    str | None,
    _option(INPUT, "--weight", "Column of the edge weights; without it, one named weight is used.", metavar="COL"),
]
Header = Annotated[
    bool,
    _option(INPUT, "--header", "The first line is a header, though it names no source/target, src/dst or from/to."),
]
FillMissing = Annotated[bool, _option(INPUT, "--fill-missing", "Give zeros to nodes without features; else refuse.")]
DataRoot = Annotated[
    Path | None,
    _option(
        COMMON, "--data-root", "Where data sets lie; without it FDMVGCL_DATA, else the cache folder.", metavar="DIR"
    ),
]

# -- output -----------------------------------------------------------------------------------------------------------

Folder = Annotated[
    Path | None,
    _option(
        OUTPUT,
        "--output",
        "Result folder; without it edges.fdmvgcl for edges.csv.",
        "-o",
        parser=_output,
        metavar="DIR",
    ),
]
File = Annotated[
    Path, _option(OUTPUT, "--output", "The Parquet file to write: id, z.", "-o", parser=_output, metavar="FILE")
]
Resume = Annotated[bool, _option(OUTPUT, "--resume", "Go on from the checkpoint that a stopped run left in DIR.")]
KeepViews = Annotated[bool, _option(OUTPUT, "--keep-views", "Write each view too, to views.parquet.")]
NoReport = Annotated[bool, _option(OUTPUT, "--no-report", "Leave out report.html.")]
Quiet = Annotated[bool, _option(COMMON, "--quiet", "Print nothing but errors.", "-q")]

# -- the model --------------------------------------------------------------------------------------------------------


def _setting(name: str, text: str, default: object, **settings: Any) -> Any:
    """An option that settings from a file may stand in for: not given is None, and help shows the default."""
    return _option(MODEL, name, text, show_default=str(default), **settings)


Dim = Annotated[int | None, _setting("--dim", "Width of the embedding.", s.DIM, metavar="D")]
Views = Annotated[
    int | None, _setting("--views", "Views to begin with; those whose orders meet are merged.", s.VIEWS, metavar="K")
]
Epochs = Annotated[int | None, _setting("--epochs", "Epochs of each phase of training.", s.EPOCHS, metavar="N")]
Time = Annotated[float | None, _setting("--time", "Diffusion time; larger reaches further.", s.TIME, metavar="T")]
Seed = Annotated[int | None, _setting("--seed", "Same seed, threads and machine: same bytes.", 0, metavar="S")]
Device = Annotated[str | None, _setting("--device", "Where to compute: cpu, cuda, cuda:1, mps.", "cpu", metavar="D")]
Set = Annotated[
    list[str] | None,
    _option(
        MODEL,
        "--set",
        "Any other setting, as often as needed: schedule.lr=0.01, diffusion.skip=1, features.scaling=rows, "
        "loss=vicreg, loss.eta=0.1. All of them: docs/reference, or a misspelt one.",
        metavar="NAME=VALUE",
    ),
]
SettingsFile = Annotated[
    Path | None,
    _option(
        MODEL, "--settings", "A TOML file of settings, with tables diffusion, …; options go over it.", metavar="FILE"
    ),
]

# -- the other commands -----------------------------------------------------------------------------------------------

Results = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that fdmvgcl embed has written.")]
Extend = Annotated[
    bool,
    _option(
        INPUT,
        "--extend",
        "SOURCE and --features hold only what is new: they are added to the training graph, and the nodes that it did "
        "not have are written.",
    ),
]
Node = Annotated[str, typer.Option("--id", help="The node's id, exactly as in the input.", metavar="ID")]
Count = Annotated[int, typer.Option("-k", "--count", help="How many neighbours.", min=1, metavar="K")]
LabelsOrName = Annotated[
    str, _option(INPUT, "--labels", "Labels id,label, or the name of the data set that was embedded.", metavar="FILE")
]
Splits = Annotated[
    Path | None,
    _option(
        INPUT,
        "--splits",
        "Splits id,split,part with part train, val or test; without it ten seeded ones.",
        metavar="FILE",
    ),
]

# -- experiments ------------------------------------------------------------------------------------------------------

ExperimentName = Annotated[str, typer.Argument(metavar="NAME", help="What to reproduce; see below.")]
DatasetName = Annotated[str, typer.Argument(metavar="DATASET", help="A data set's name; see fdmvgcl datasets.")]
Datasets = Annotated[
    list[str] | None,
    typer.Option("--datasets", help="Only these, separated by commas or named again; without it all.", metavar="A,B"),
]
Seeds = Annotated[int, typer.Option("--seeds", help="Runs of each setting, seeds 0, 1, …", min=1, metavar="N")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Runs at a time, one thread each.", min=1, metavar="N")]
PoolDim = Annotated[int, typer.Option("--dim", help="Width of the embeddings.", min=1, metavar="D")]
Trials = Annotated[int, typer.Option("--trials", help="Settings in the pool.", min=1, max=30, metavar="N")]
Records = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", help="Folder of records and tables; without it results/NAME.", parser=_output, metavar="DIR"
    ),
]
PoolFile = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", help="The TOML file to write; without it DATASET.toml.", parser=_output, metavar="FILE"
    ),
]
