"""Options of the command line, by panel of ``--help``. Nothing here imports torch: help must be there at once.

The defaults of the model's parameters stand in ``cli.py`` and are held to those of ``FDMVGCL`` by a test.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

INPUT, OUTPUT, MODEL, DIFFUSION, LEARNING = "Input", "Output", "Model", "Diffusion", "Learning"


def _option(panel: str, name: str, text: str, *more: str, **settings: Any) -> Any:
    return typer.Option(name, *more, help=text, rich_help_panel=panel, **settings)


def _output(text: str) -> Path:
    if not text:  # an unset variable of a shell would otherwise mean the working folder
        raise typer.BadParameter("must name a file or folder, got ''")
    return Path(text)


def _rounds(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdecimal():
        raise typer.BadParameter(f"must be auto or a whole number of at least 0, got {text!r}")
    return int(text)


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
        INPUT, "--data-root", "Where data sets lie; without it FDMVGCL_DATA, else the cache folder.", metavar="DIR"
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
NoViews = Annotated[bool, _option(OUTPUT, "--no-views", "Leave out views.parquet.")]
NoEvaluate = Annotated[bool, _option(OUTPUT, "--no-evaluate", "Do not evaluate, even where labels are known.")]
NoReport = Annotated[bool, _option(OUTPUT, "--no-report", "Leave out report.html.")]
Quiet = Annotated[bool, _option(OUTPUT, "--quiet", "Print nothing but errors.", "-q")]

# -- the model --------------------------------------------------------------------------------------------------------

Dim = Annotated[int, _option(MODEL, "--dim", "Width of the embedding.", min=1, metavar="D")]
Views = Annotated[
    int, _option(MODEL, "--views", "Views to begin with; those whose orders meet are merged.", min=2, metavar="K")
]
Activation = Annotated[str, _option(MODEL, "--activation", "After each view.", metavar="leaky|relu|identity")]
Initialisation = Annotated[
    str,
    _option(
        MODEL,
        "--initialisation",
        "Of the projections; joint: orthogonal between views too, for wide embeddings; whitened: as joint, with less "
        "weight on what neighbours differ in.",
        metavar="orthogonal|joint|whitened|glorot",
    ),
]
FeatureScaling = Annotated[
    str,
    _option(
        MODEL,
        "--feature-scaling",
        "auto divides rows by their sums (none where neighbours have features of like magnitude), or columns by their "
        "deviations if a feature is negative; both does columns, then rows.",
        metavar="auto|rows|columns|both|none",
    ),
]
CentreFeatures = Annotated[
    bool, _option(MODEL, "--centre-features/--no-centre-features", "Subtract the mean row of the scaled features.")
]
ViewScaling = Annotated[
    str,
    _option(
        MODEL,
        "--view-scaling",
        "Before the sum: rows of unit length; each view divided by one number, which keeps lengths; or none. auto: "
        "view where the features' magnitudes are kept, else rows.",
        metavar="auto|rows|view|none",
    ),
]
Seed = Annotated[
    int, _option(MODEL, "--seed", "Same seed, threads and machine: same bytes.", min=0, max=2**32 - 1, metavar="S")
]
Device = Annotated[str, _option(MODEL, "--device", "Where to compute: cpu, cuda, cuda:1, mps.", metavar="D")]

# -- diffusion --------------------------------------------------------------------------------------------------------

Time = Annotated[float, _option(DIFFUSION, "--time", "Diffusion time T; larger reaches further.", metavar="T")]
LearnTime = Annotated[bool, _option(DIFFUSION, "--learn-time", "Learn a time for each view.")]
Dynamics = Annotated[
    str,
    _option(
        DIFFUSION,
        "--dynamics",
        "The equation: grand (linear diffusion, fast), grand-attention, gread (or gread-bs, gread-fisher, "
        "gread-allen-cahn, gread-zeldovich), cde or graphcon. All but grand are solved step by step, which takes many "
        "times longer.",
        metavar="NAME",
    ),
]
Scheme = Annotated[
    str,
    _option(
        DIFFUSION,
        "--scheme",
        "How the equation is solved: exact, or with --step predictor, pece, l1, gl or trapezoid. Other dynamics than "
        "grand have no exact solution and take trapezoid.",
        metavar="NAME",
    ),
]
Step = Annotated[
    float | None,
    _option(
        DIFFUSION, "--step", "Step of a time-stepping scheme; other dynamics than grand have a default.", metavar="H"
    ),
]
Skip = Annotated[
    Any,
    _option(
        DIFFUSION,
        "--skip",
        "Rounds of skip-connection; auto takes one where neighbours' features hardly resemble each other, else none.",
        metavar="auto|M",
        parser=_rounds,
    ),
]
SkipWeight = Annotated[
    float | None,
    _option(
        DIFFUSION,
        "--skip-weight",
        "Share of undiffused features that a round adds; without it 1, or 10 where auto decided for a round.",
        metavar="S",
    ),
]
LearnSkip = Annotated[bool, _option(DIFFUSION, "--learn-skip", "Learn that share.")]
Normalisation = Annotated[
    str | None,
    _option(
        DIFFUSION,
        "--normalisation",
        "Of the adjacency; without it sym, or rw if directed or with attention.",
        metavar="sym|rw",
    ),
]
SelfLoops = Annotated[
    float, _option(DIFFUSION, "--self-loops", "Weight of the self-loop added to every node; 0 is 1 with attention.")
]
LikeEdges = Annotated[
    int,
    _option(
        DIFFUSION,
        "--like-edges",
        "Edges added from every node to those whose diffused features are most like its own. All pairs are compared.",
        min=0,
        metavar="K",
    ),
]
LikeWeight = Annotated[
    float, _option(DIFFUSION, "--like-weight", "Weight of such an edge between nodes of equal features.", metavar="W")
]
OrderOfWork = Annotated[
    str | None,
    _option(
        DIFFUSION,
        "--order-of-work",
        "What comes first; the numbers are the same. Without it the faster one.",
        metavar="project|diffuse",
    ),
]

# -- learning ---------------------------------------------------------------------------------------------------------

Epochs = Annotated[int, _option(LEARNING, "--epochs", "Epochs of each phase.", min=0, metavar="N")]
LearningRate = Annotated[float, _option(LEARNING, "--lr", "Learning rate of the projections.")]
OrderRate = Annotated[float, _option(LEARNING, "--order-lr", "Learning rate of orders, times and the skip's weight.")]
WeightDecay = Annotated[float, _option(LEARNING, "--weight-decay", "Of the projections.")]
Loss = Annotated[
    str,
    _option(
        LEARNING,
        "--loss",
        "Between neighbouring views: regularised-cosmean, cosmean, euclidean, barlow-twins, vicreg or cca-ssg.",
        metavar="NAME",
    ),
]
Eta = Annotated[
    float,
    _option(LEARNING, "--eta", "Weight of the penalty on views with one dominant direction (regularised-cosmean)."),
]
MinRank = Annotated[
    float, _option(LEARNING, "--min-rank", "End a phase when the effective rank falls below this share of its start.")
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
