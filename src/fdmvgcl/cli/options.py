"""Options of the command line, by panel of ``--help``. Nothing here imports torch: help must be there at once."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fdmvgcl.learning import settings as s

INPUT, OUTPUT, MODEL, COMMON = "Input", "Output", "Model", "Common"


def _option(panel: str, name: str, text: str, *more: str, **settings: Any) -> Any:
    return typer.Option(name, *more, help=text, rich_help_panel=panel, **settings)


def _flag(panel: str, name: str, text: str, *more: str, **settings: Any) -> Any:
    """An option that is there or not: help shows no value after it."""
    return _option(panel, name, text, *more, metavar="", **settings)


def _rare(panel: str, name: str, text: str, **settings: Any) -> Any:
    """An option that ``--help-all`` shows and ``--help`` does not."""
    return _option(panel, name, text, hidden=True, **settings)


def listed(names: str | None) -> tuple[str, ...]:
    """``A,B`` as names."""
    return tuple(name.strip() for name in names.split(",") if name.strip()) if names else ()


def _show_all(ctx: typer.Context, wanted: bool) -> None:
    if wanted:
        for param in ctx.command.params:
            param.hidden = False  # type: ignore[attr-defined]
        typer.echo(ctx.get_help(), nl=False)
        raise typer.Exit


def _output(text: str) -> Path:
    if not text:  # an unset variable of a shell would otherwise mean the working folder
        raise typer.BadParameter("must name a file or folder, got ''")
    return Path(text)


# -- input ------------------------------------------------------------------------------------------------------------

Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="A data set's name (see fdmvgcl datasets), or an edge file: CSV or other text, Parquet, Arrow, JSON "
        "lines, GraphML, Matrix Market, .npz, packed or not; - is the standard input. "
        "A known name is the data set even if a file is called so; write ./name for the file.",
    ),
]
Level = Annotated[
    Literal["node", "graph"],
    _option(
        INPUT,
        "--level",
        "A vector for each node, or, with graph, for each of many graphs: SOURCE then is proteins, dd, mutag, a folder "
        "of the TU collection, or a table of edges with a column graph; --features has columns graph and id, --labels "
        "graph and label.",
    ),
]
Features = Annotated[
    Path | None,
    _option(
        INPUT,
        "--features",
        "Node features: a column id (else the first) and columns of any kind.",
        metavar="FILE",
    ),
]
Labels = Annotated[
    Path | None,
    _option(INPUT, "--labels", "Labels id,label: only to evaluate at the end; they never change z.", metavar="FILE"),
]
Directed = Annotated[bool, _flag(INPUT, "--directed", "Keep the direction of edges; else it is dropped.")]
SourceColumn = Annotated[
    str | None,
    _option(INPUT, "--source", "Column of the edges' sources; needed where it is not certain.", metavar="COL"),
]
TargetColumn = Annotated[str | None, _option(INPUT, "--target", "Column of the edges' targets.", metavar="COL")]
Weight = Annotated[
    str | None,
    _option(INPUT, "--weight", "Column of the edge weights; without it, one named weight is used.", metavar="COL"),
]
NoHeader = Annotated[
    bool, _flag(INPUT, "--no-header", "The first line of SOURCE is an edge; columns are called 1, 2, …", hidden=True)
]
Repeated = Annotated[
    str,
    _rare(
        INPUT,
        "--repeated",
        "What an edge that is listed more than once weighs: max, sum, count or first of its weights. Logs of "
        "interactions want sum or count.",
        metavar="HOW",
    ),
]
Columns = Annotated[str | None, _rare(INPUT, "--columns", "Columns of features to take, and no others.", metavar="A,B")]
Drop = Annotated[str | None, _rare(INPUT, "--drop", "Columns of the features not to take.", metavar="A,B")]
Encoding = Annotated[
    str | None, _rare(INPUT, "--encoding", "Of text files, such as cp1252; without it UTF-8.", metavar="NAME")
]
FillMissing = Annotated[
    bool,
    _flag(INPUT, "--fill-missing", "Give nodes without features the mean of each column; else refuse.", hidden=True),
]
HelpAll = Annotated[
    bool,
    _flag(COMMON, "--help-all", "Show the rarer options too.", callback=_show_all, is_eager=True, expose_value=False),
]
DataRoot = Annotated[
    Path | None,
    _option(
        COMMON, "--data-root", "Where data sets lie; without it FDMVGCL_DATA, else the cache folder.", metavar="DIR"
    ),
]

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def _size(text: str) -> int:
    """``8GB`` as bytes."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?B|)", text.strip().upper())
    size = 0 if found is None else int(float(found[1]) * _UNITS[found[2]])
    if size < 1:
        raise typer.BadParameter(f"must be a size such as 8GB or 500MB, got {text!r:.60}")
    return size


_MEMORY = "What work may take; without it half of the machine's."
Memory = Annotated[int | None, _option(COMMON, "--memory", _MEMORY, parser=_size, metavar="SIZE")]
RareMemory = Annotated[int | None, _rare(COMMON, "--memory", _MEMORY, parser=_size, metavar="SIZE")]
Scratch = Annotated[
    Path | None,
    _rare(COMMON, "--scratch", "A folder for what exceeds memory; without it DIR/scratch.", metavar="DIR"),
]
EdgeReader = Annotated[
    Literal["auto", "memory", "duckdb"],
    _rare(INPUT, "--reader", "Read SOURCE at once (memory), in pieces (duckdb), or as it fits the memory (auto)."),
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
    Path,
    _option(
        OUTPUT,
        "--output",
        "The file to write: .parquet (id, z), .csv, .npy (ids beside it in .ids.csv), or .vec for word2vec text.",
        "-o",
        parser=_output,
        metavar="FILE",
    ),
]
Resume = Annotated[bool, _flag(OUTPUT, "--resume", "Go on from the checkpoint that a stopped run left in DIR.")]
KeepViews = Annotated[bool, _flag(OUTPUT, "--keep-views", "Write each view too, to views.parquet.", hidden=True)]
NoReport = Annotated[bool, _flag(OUTPUT, "--no-report", "Leave out report.html.", hidden=True)]
Quiet = Annotated[bool, _flag(COMMON, "--quiet", "Print nothing but errors, and JSON that is asked for.", "-q")]

# -- the model --------------------------------------------------------------------------------------------------------


def _setting(name: str, text: str, default: object, **settings: Any) -> Any:
    """An option that settings from a file may stand in for: not given is None, and help shows the default."""
    return _option(MODEL, name, f"{text} [dim]\\[default: {default}][/dim]", show_default=False, **settings)


Dim = Annotated[int | None, _setting("--dim", "Width of the embedding.", s.DIM, metavar="D")]
Views = Annotated[
    int | None, _setting("--views", "Views to begin with; those whose orders meet are merged.", s.VIEWS, metavar="K")
]
Epochs = Annotated[int | None, _setting("--epochs", "Epochs of each phase of training.", s.EPOCHS, metavar="N")]
Time = Annotated[float | None, _setting("--time", "Diffusion time; larger reaches further.", s.TIME, metavar="T")]
StructureUse = Annotated[
    str | None,
    _setting(
        "--structure",
        "Columns made of the edges: auto adds them where features are missing or tell nothing, only, none.",
        "auto",
        metavar="USE",
    ),
]
TrainRows = Annotated[
    str | None,
    _setting(
        "--train-rows", "Train on so many nodes, drawn by the seed, and embed all.", "all", metavar="N|all", hidden=True
    ),
]
BasisDtype = Annotated[
    str | None,
    _setting(
        "--basis-dtype",
        "Keep diffused features in float16, half the size, where rows are worked on in blocks.",
        "float32",
        metavar="TYPE",
        hidden=True,
    ),
]
Control = Annotated[
    Literal["untrained", "diffused", "raw", "structure"] | None,
    _rare(
        MODEL,
        "--control",
        "Write a control in place of trained vectors: the untrained encoder, the features diffused or raw, or the "
        "columns made of the edges. The verdict names one that does better.",
    ),
]
Seed = Annotated[int | None, _setting("--seed", "Same seed, threads and machine: same bytes.", 0, metavar="S")]
Device = Annotated[
    str | None,
    _option(COMMON, "--device", "Where to compute: cpu (if not given), cuda, cuda:1, mps.", metavar="D"),
]
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

# -- after embedding --------------------------------------------------------------------------------------------------

AsJson = Annotated[bool, _flag(OUTPUT, "--json", "Print JSON, for programs.")]
ForceFolder = Annotated[bool, _flag(OUTPUT, "--force", "Write over the results of another source that are in DIR.")]
Force = Annotated[bool, _flag(OUTPUT, "--force", "Write over a file that is there; never over an input.")]
Exported = Annotated[
    Path,
    _option(
        OUTPUT,
        "--output",
        "The file to write: .parquet, .csv, .npy (ids beside it in .ids.csv), or .vec for word2vec text.",
        "-o",
        parser=_output,
        metavar="FILE",
    ),
]
Format = Annotated[
    str | None, _option(OUTPUT, "--format", "parquet, csv, npy or word2vec, whatever the ending.", metavar="NAME")
]
Unit = Annotated[bool, _flag(OUTPUT, "--unit", "Divide vectors by their lengths, so that inner products are cosines.")]
NoCheck = Annotated[
    bool,
    _flag(OUTPUT, "--no-check", "Answer at once: do not measure how good answers are where that is not on record yet."),
]
TableFile = Annotated[
    Path | None,
    _option(OUTPUT, "--output", "Write the table to this .csv or .parquet.", "-o", parser=_output, metavar="FILE"),
]
Nodes = Annotated[
    list[str] | None,
    _option(INPUT, "--id", "A node's id, exactly as in the input; as often as needed.", metavar="ID"),
]
IdsFile = Annotated[Path | None, _option(INPUT, "--ids", "A file of ids, one a line.", metavar="FILE")]
Clusters = Annotated[
    int | None, typer.Option("-k", "--count", help="How many; without it 2 to 20, by the silhouette.", metavar="K")
]
LinkCount = Annotated[int, typer.Option("-k", "--count", help="How many, for each node.", min=1, metavar="K")]
NewEdges = Annotated[
    str | None,
    typer.Argument(
        metavar="EDGES", help="An edge file of what is new; an edge that is there already takes its new weight."
    ),
]
NewFeatures = Annotated[
    Path | None,
    _option(INPUT, "--features", "Rows of new nodes, and of old ones whose features have changed.", metavar="FILE"),
]
Removed = Annotated[
    list[Path] | None,
    _option(
        INPUT,
        "--removed",
        "What goes: a file of edges, or of ids, one a line, below a line id; as often as needed.",
        metavar="FILE",
    ),
]
Train = Annotated[
    bool, _flag(MODEL, "--train", "Train on, from the weights that there are; vectors move more, and so do all.")
]
Since = Annotated[
    str | None,
    _rare(INPUT, "--since", "Only edges from this time on, by their column time or timestamp.", metavar="TIME"),
]
Until = Annotated[
    str | None, _rare(INPUT, "--until", "Only edges up to this time: a number or an ISO date.", metavar="TIME")
]
HalfLife = Annotated[
    str | None,
    _rare(
        INPUT,
        "--half-life",
        "Weights halve with each such age before --until, else before the latest edge: 30d, 12h, 2w, or a number.",
        metavar="AGE",
    ),
]
SomeLabels = Annotated[
    str | None,
    _option(
        INPUT,
        "--labels",
        "Labels id,label, or the data set's name, to compare with; without it those that the folder knows.",
        metavar="FILE",
    ),
]
KnownLabels = Annotated[
    str,
    _option(INPUT, "--labels", "Labels id,label of some nodes, or the data set's name.", metavar="FILE"),
]
DrawSeed = Annotated[int, typer.Option("--seed", help="Same seed: same answer.", min=0, metavar="S")]
Asked = Annotated[
    Path | None,
    _option(
        INPUT,
        "--of",
        "Vectors that transform has written: the nodes asked for are its; without ids all of them.",
        metavar="FILE",
    ),
]

# -- the other commands -----------------------------------------------------------------------------------------------

Results = Annotated[Path, typer.Argument(metavar="DIR", help="A folder that fdmvgcl embed has written.")]
Extend = Annotated[
    bool,
    _flag(
        INPUT,
        "--extend",
        "SOURCE and --features hold only what is new: they are added to the training graph, and the nodes that it did "
        "not have are written.",
    ),
]
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

LabelsAre = Annotated[
    Literal["auto", "classes", "numbers"],
    _option(
        INPUT,
        "--labels-are",
        "auto takes labels for a number to foretell where all are numbers, more than 20 are distinct, and either some "
        "are not whole or the distinct ones are more than a tenth of all.",
    ),
]

# -- attacks ----------------------------------------------------------------------------------------------------------

AttackKind = Annotated[
    str, typer.Option("--kind", help="random, dice, prbcd, metattack or nettack; all but random need labels.")
]
AttackRate = Annotated[float, typer.Option("--rate", help="Flips as a share of the edges, 0 to 1.", metavar="R")]
AttackRates = Annotated[
    list[float] | None,
    typer.Option(
        "--rate",
        help="As often as needed; 0.05, 0.1, 0.15, 0.2 and 0.25 if not given.",
        metavar="R",
        show_default=False,
    ),
]
AttackSeed = Annotated[int, typer.Option("--seed", help="Of every draw.", min=0, metavar="S")]
AttackLabels = Annotated[
    Path | None, _option(INPUT, "--labels", "Labels id,label that the attacker knows.", metavar="FILE")
]
AttackedFile = Annotated[
    Path,
    _option(OUTPUT, "--output", "The file of edges to write: .parquet or .csv.", "-o", parser=_output, metavar="FILE"),
]

# -- experiments ------------------------------------------------------------------------------------------------------

ExperimentName = Annotated[str, typer.Argument(metavar="NAME", help="What to reproduce; see below.")]
DatasetName = Annotated[str, typer.Argument(metavar="DATASET", help="A data set's name; see fdmvgcl datasets.")]
Datasets = Annotated[
    list[str] | None,
    typer.Option("--datasets", help="Only these, separated by commas or named again; without it all.", metavar="A,B"),
]
Seeds = Annotated[
    int | None,
    typer.Option(
        "--seeds", help="Runs of each setting, seeds 0, 1, …; without it 10, 3 of robustness.", min=1, metavar="N"
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Runs at a time, one thread each.", min=1, metavar="N")]
Methods = Annotated[
    list[str] | None,
    typer.Option("--methods", help="Only these, separated by commas or named again; without it all.", metavar="A,B"),
]
MethodName = Annotated[str, typer.Option("--method", help="Whose settings are tried.", metavar="NAME")]
Trials = Annotated[int, typer.Option("--trials", help="Settings to try.", min=1, max=100, metavar="N")]
Records = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", help="Folder of records and tables; without it results/NAME.", parser=_output, metavar="DIR"
    ),
]
TrialsFile = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", help="The TOML file to write; without it DATASET.toml.", parser=_output, metavar="FILE"
    ),
]
