"""The commands and their options; what a command needs is imported when it is called."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fdmvgcl import __version__
from fdmvgcl.cli import options as o
from fdmvgcl.cli.endings import INTERRUPTED, OneLineErrors
from fdmvgcl.cli.presence import check_there
from fdmvgcl.machine import ask_for_huge_pages

if TYPE_CHECKING:
    from fdmvgcl.results.outputs import ResultFolder


def _results(folder: Path) -> "ResultFolder":
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


@app.command(
    epilog="Examples:\n\n  fdmvgcl embed digits\n\n  fdmvgcl embed edges.csv --features nodes.parquet -o out\n\n"
    "  fdmvgcl embed edges.csv -o out --resume\n\n"
    "  fdmvgcl embed molecules.csv --features atoms.csv --level graph --dim 128 -o out\n\n"
    "DIR gets embeddings.parquet (id, z), graph.npz, model/, history.jsonl and report.html."
)
def embed(
    source: o.Source,
    level: o.Level = "node",
    features: o.Features = None,
    labels: o.Labels = None,
    source_column: o.SourceColumn = None,
    target_column: o.TargetColumn = None,
    weight: o.Weight = None,
    directed: o.Directed = False,
    no_header: o.NoHeader = False,
    repeated: o.Repeated = "max",
    columns: o.Columns = None,
    drop: o.Drop = None,
    encoding: o.Encoding = None,
    fill_missing: o.FillMissing = False,
    since: o.Since = None,
    until: o.Until = None,
    half_life: o.HalfLife = None,
    output: o.Folder = None,
    force: o.ForceFolder = False,
    resume: o.Resume = False,
    keep_views: o.KeepViews = False,
    no_report: o.NoReport = False,
    dim: o.Dim = None,
    views: o.Views = None,
    epochs: o.Epochs = None,
    time: o.Time = None,
    structure: o.StructureUse = None,
    train_rows: o.TrainRows = None,
    basis_dtype: o.BasisDtype = None,
    control: o.Control = None,
    seed: o.Seed = None,
    device: o.Device = None,
    changes: o.Set = None,
    settings: o.SettingsFile = None,
    reader: o.EdgeReader = "auto",
    memory: o.RareMemory = None,
    scratch: o.Scratch = None,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
    help_all: o.HelpAll = False,
) -> None:
    """Embed a graph, or many: learn without labels and write embeddings keyed by your ids."""
    if level == "node":
        check_there(source, features, labels, settings)  # before torch comes in, which takes seconds
    from fdmvgcl.cli import embed as command
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.settings import model_of
    from fdmvgcl.cli.sources import ReadOptions

    given = {"dim": dim, "views": views, "epochs": epochs, "time": time, "seed": seed, "device": device}
    given |= {"features.structure": structure, "diffusion.basis_dtype": basis_dtype}
    given["schedule.train_rows"] = int(train_rows) if train_rows and train_rows.isdecimal() else train_rows
    model = model_of(settings, changes or (), given)
    reading = ReadOptions(
        features=features,
        directed=directed,
        source=source_column,
        target=target_column,
        weight=weight,
        no_header=no_header,
        repeated=repeated,
        columns=o.listed(columns),
        drop=o.listed(drop),
        encoding=encoding,
        fill_missing=fill_missing,
        since=since,
        until=until,
        half_life=half_life,
    )
    wanted = command.EmbedOptions(
        output,
        labels,
        keep_views,
        resume,
        data_root,
        report=not no_report,
        level=level,
        force=force,
        memory=memory,
        scratch=scratch,
        reader=reader,
        control=control,
    )
    try:
        command.embed(source, model, reading, wanted, Reporter(quiet))
    except command.Interrupted:
        print("stopped; the state is saved: go on with the same command and --resume", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None


@app.command(
    epilog="Examples:\n\n  fdmvgcl plan edges.parquet --features nodes.parquet --dim 64\n\n"
    "  fdmvgcl plan edges.parquet --memory 8GB --json\n\n"
    "Sizes are told from the file's head, speeds are timed here in a second. embed tells the same before it begins."
)
def plan(
    source: o.Source,
    features: o.Features = None,
    source_column: o.SourceColumn = None,
    target_column: o.TargetColumn = None,
    weight: o.Weight = None,
    directed: o.Directed = False,
    no_header: o.NoHeader = False,
    output: o.Folder = None,
    no_report: o.NoReport = False,
    dim: o.Dim = None,
    views: o.Views = None,
    epochs: o.Epochs = None,
    time: o.Time = None,
    device: o.Device = None,
    changes: o.Set = None,
    settings: o.SettingsFile = None,
    reader: o.EdgeReader = "auto",
    memory: o.Memory = None,
    scratch: o.Scratch = None,
    as_json: o.AsJson = False,
    data_root: o.DataRoot = None,
    help_all: o.HelpAll = False,
) -> None:
    """What embedding would take: memory, disk and time of each phase. Exit code 2 where there is too little."""
    check_there(source, features, settings)
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.embed import EmbedOptions
    from fdmvgcl.cli.plan import plan as command
    from fdmvgcl.cli.settings import model_of
    from fdmvgcl.cli.sources import ReadOptions

    given = {"dim": dim, "views": views, "epochs": epochs, "time": time, "device": device}
    model = model_of(settings, changes or (), given)
    reading = ReadOptions(
        features=features,
        directed=directed,
        source=source_column,
        target=target_column,
        weight=weight,
        no_header=no_header,
    )
    options = EmbedOptions(
        output, data_root=data_root, report=not no_report, memory=memory, scratch=scratch, reader=reader
    )
    command(source, model, reading, options, Reporter(), as_json=as_json)


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
    source_column: o.SourceColumn = None,
    target_column: o.TargetColumn = None,
    weight: o.Weight = None,
    directed: o.Directed = False,
    no_header: o.NoHeader = False,
    repeated: o.Repeated = "max",
    encoding: o.Encoding = None,
    fill_missing: o.FillMissing = False,
    force: o.Force = False,
    data_root: o.DataRoot = None,
    device: o.Device = None,
    quiet: o.Quiet = False,
    help_all: o.HelpAll = False,
) -> None:
    """Embed new nodes, or another graph with the same feature columns, by a model trained before."""
    results = _results(folder)
    check_there(source, features)
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.sources import ReadOptions
    from fdmvgcl.cli.transform import transform as command

    reading = ReadOptions(
        features=features,
        directed=directed,
        source=source_column,
        target=target_column,
        weight=weight,
        no_header=no_header,
        repeated=repeated,
        encoding=encoding,
        fill_missing=fill_missing,
    )
    command(
        results,
        source,
        reading,
        output,
        Reporter(quiet),
        extend=extend,
        force=force,
        data_root=data_root,
        device=device or "cpu",
    )


@app.command(
    epilog="Examples:\n\n  fdmvgcl update out new-edges.csv\n\n"
    "  fdmvgcl update out new-edges.csv --features new-nodes.csv --removed gone.csv\n\n"
    "  fdmvgcl update out --removed left.txt --train\n\n"
    "The encoder stays, so old and new vectors can be compared; it says how far old nodes moved. All files change "
    "together: a run that is killed leaves the folder as it was."
)
def update(
    folder: o.Results,
    edges: o.NewEdges = None,
    features: o.NewFeatures = None,
    removed: o.Removed = None,
    train: o.Train = False,
    source_column: o.SourceColumn = None,
    target_column: o.TargetColumn = None,
    weight: o.Weight = None,
    no_header: o.NoHeader = False,
    repeated: o.Repeated = "max",
    encoding: o.Encoding = None,
    fill_missing: o.FillMissing = False,
    since: o.Since = None,
    until: o.Until = None,
    half_life: o.HalfLife = None,
    no_report: o.NoReport = False,
    as_json: o.AsJson = False,
    device: o.Device = None,
    quiet: o.Quiet = False,
    help_all: o.HelpAll = False,
) -> None:
    """Bring DIR up to date with a graph that has changed: new and removed nodes and edges, the same encoder."""
    results = _results(folder)
    check_there(edges, features, *(removed or ()))
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.sources import ReadOptions
    from fdmvgcl.cli.update import UpdateOptions
    from fdmvgcl.cli.update import update as command

    reading = ReadOptions(
        features=features,
        source=source_column,
        target=target_column,
        weight=weight,
        no_header=no_header,
        repeated=repeated,
        encoding=encoding,
        fill_missing=fill_missing,
        since=since,
        until=until,
        half_life=half_life,
    )
    wanted = UpdateOptions(removed or (), train, device or "cpu", not no_report, as_json)
    with results.locked():
        command(results, edges, reading, wanted, Reporter(quiet, as_json))


@app.command(
    epilog="Examples:\n\n  fdmvgcl similar out --id alice -k 5\n\n  fdmvgcl similar out --ids customers.txt --json\n\n"
    "  fdmvgcl transform out new-edges.csv --extend -o new.parquet\n\n  fdmvgcl similar out --of new.parquet"
)
def similar(
    folder: o.Results,
    nodes: o.Nodes = None,
    ids: o.IdsFile = None,
    asked: o.Asked = None,
    count: o.Count = 10,
    as_json: o.AsJson = False,
) -> None:
    """The nodes most like one or many, by cosine; separated by tabs where the output is no terminal."""
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.similar import similar as command
    from fdmvgcl.results.outputs import ResultFolder

    command(ResultFolder(folder), nodes or [], ids, asked, count, Reporter(), as_json=as_json)


@app.command(
    epilog="Examples:\n\n  fdmvgcl export out -o vectors.npy --unit\n\n  fdmvgcl export out -o vectors.csv\n\n"
    "  fdmvgcl export out -o vectors.txt --format word2vec\n\n"
    "FAISS takes vectors.npy (float32, row after row), LanceDB the Parquet (id, z: a list of fixed size)."
)
def export(
    folder: o.Results,
    output: o.Exported,
    kind: o.Format = None,
    unit: o.Unit = False,
    force: o.Force = False,
    as_json: o.AsJson = False,
) -> None:
    """Write the vectors for other programs: Parquet, CSV, NumPy or word2vec text."""
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.export import export as command
    from fdmvgcl.results.outputs import ResultFolder

    command(ResultFolder(folder), output, kind, Reporter(as_json=as_json), unit=unit, force=force, as_json=as_json)


@app.command(
    epilog="Examples:\n\n  fdmvgcl cluster out\n\n  fdmvgcl cluster out -k 12 -o clusters.csv\n\n"
    "k-means by cosine. The silhouette tells how well apart clusters are: near 1 far apart, near 0 not at all."
)
def cluster(
    folder: o.Results,
    count: o.Clusters = None,
    labels: o.SomeLabels = None,
    output: o.TableFile = None,
    force: o.Force = False,
    as_json: o.AsJson = False,
    seed: o.DrawSeed = 0,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
) -> None:
    """Groups of nodes that lie together: id and cluster, 0 the largest."""
    results = _results(folder)
    check_there(labels)
    from fdmvgcl.cli.answers import Wanted
    from fdmvgcl.cli.cluster import cluster as command
    from fdmvgcl.cli.console import Reporter

    wanted = Wanted(output, force, as_json)
    command(results, count, labels, wanted, Reporter(quiet), seed=seed, data_root=data_root)


@app.command(
    epilog="Examples:\n\n  fdmvgcl predict out --labels some-labels.csv\n\n"
    "  fdmvgcl predict out --labels some-labels.csv -o rest.csv\n\n"
    "The score beside is cross-validated on the labelled nodes, and so is that of raw features."
)
def predict(
    folder: o.Results,
    labels: o.KnownLabels,
    output: o.TableFile = None,
    force: o.Force = False,
    as_json: o.AsJson = False,
    seed: o.DrawSeed = 0,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
) -> None:
    """Labels of some nodes in, label and probability of the others out."""
    results = _results(folder)
    check_there(labels)
    from fdmvgcl.cli.answers import Wanted
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.predict import predict as command

    wanted = Wanted(output, force, as_json)
    command(results, labels, wanted, Reporter(quiet), seed=seed, data_root=data_root)


@app.command(
    epilog="Examples:\n\n  fdmvgcl links out --id alice -k 5\n\n  fdmvgcl links out -k 10000 -o links.csv\n\n"
    "The score is the cosine of two vectors. How well it finds edges that were hidden is measured once and kept in "
    "DIR/checks.json, beside common neighbours and features that were only diffused."
)
def links(
    folder: o.Results,
    nodes: o.Nodes = None,
    ids: o.IdsFile = None,
    count: o.LinkCount = 10,
    output: o.TableFile = None,
    force: o.Force = False,
    as_json: o.AsJson = False,
    no_check: o.NoCheck = False,
    quiet: o.Quiet = False,
) -> None:
    """The likeliest missing edges, of nodes or of the whole graph: source, target and score."""
    results = _results(folder)
    check_there(None, ids)
    from fdmvgcl.cli.answers import Wanted
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.links import links as command

    command(results, nodes or [], ids, count, Wanted(output, force, as_json), Reporter(quiet), check=not no_check)


@app.command(
    epilog="Examples:\n\n  fdmvgcl anomalies out\n\n  fdmvgcl anomalies out -o oddities.csv\n\n"
    "The score is one minus the cosine of the vector that a node would have by its features alone with the mean of its "
    "neighbours' vectors (without features: one minus the mean cosine with its neighbours' vectors). How well it finds "
    "planted nodes is measured once and kept in DIR/checks.json, beside plain controls."
)
def anomalies(
    folder: o.Results,
    output: o.TableFile = None,
    force: o.Force = False,
    as_json: o.AsJson = False,
    no_check: o.NoCheck = False,
    quiet: o.Quiet = False,
) -> None:
    """Nodes whose neighbourhood does not explain them, the oddest first: id, score and number of edges."""
    results = _results(folder)
    from fdmvgcl.cli.anomalies import anomalies as command
    from fdmvgcl.cli.answers import Wanted
    from fdmvgcl.cli.console import Reporter

    command(results, Wanted(output, force, as_json), Reporter(quiet), check=not no_check)


@app.command(
    epilog="Example:\n\n  fdmvgcl evaluate out --labels labels.csv\n\n"
    "Node classification by a linear probe (accuracy, macro-F1, ROC AUC of two classes; of numbers R² by ridge "
    "regression), groups by k-means against the labels (NMI, ARI), and edges that are hidden from a copy of the model, "
    "which is trained anew for that (AUC, average precision)."
)
def evaluate(
    folder: o.Results,
    labels: o.LabelsOrName,
    splits: o.Splits = None,
    labels_are: o.LabelsAre = "auto",
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
) -> None:
    """Put embeddings to three tasks, beside the controls that tell whether learning helped; writes evaluation.json."""
    results = _results(folder)
    check_there(labels, splits)
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.evaluate import evaluate as command

    with results.locked():
        command(results, labels, splits, Reporter(quiet), kind=labels_are, data_root=data_root)


@app.command(
    epilog="Examples:\n\n  fdmvgcl attack karate --kind random --rate 0.1 -o attacked.parquet\n\n"
    "  fdmvgcl attack edges.csv --features nodes.csv --labels labels.csv --kind prbcd --rate 0.05 -o bad.parquet\n\n"
    "random adds edges; dice takes edges within classes away and adds others; prbcd and nettack mislead a model of "
    "their own about test nodes; metattack spoils training."
)
def attack(
    source: o.Source,
    output: o.AttackedFile,
    kind: o.AttackKind,
    rate: o.AttackRate,
    labels: o.AttackLabels = None,
    features: o.Features = None,
    source_column: o.SourceColumn = None,
    target_column: o.TargetColumn = None,
    weight: o.Weight = None,
    no_header: o.NoHeader = False,
    repeated: o.Repeated = "max",
    encoding: o.Encoding = None,
    fill_missing: o.FillMissing = False,
    force: o.Force = False,
    seed: o.AttackSeed = 0,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
) -> None:
    """Flip edges of a graph as an attacker would, and write the edges that are left."""
    check_there(source, features, labels)
    from fdmvgcl.cli.attack import attack as command
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.sources import ReadOptions

    reading = ReadOptions(
        features=features,
        source=source_column,
        target=target_column,
        weight=weight,
        no_header=no_header,
        repeated=repeated,
        encoding=encoding,
        fill_missing=fill_missing,
    )
    command(source, kind, rate, labels, output, reading, seed, Reporter(quiet), force=force, data_root=data_root)


@app.command(
    epilog="Example:\n\n  fdmvgcl robustness out --labels labels.csv --rate 0.1\n\n"
    "The probe is trained on the clean graph, then edges are flipped: at random, by an attack on another model "
    "(transfer), and by attacks on this one (adaptive). An adaptive attack that does less than the others is weak, and "
    "that is said. DIR gets robustness.json and robustness.png."
)
def robustness(
    folder: o.Results,
    labels: o.LabelsOrName,
    splits: o.Splits = None,
    rates: o.AttackRates = None,
    seed: o.AttackSeed = 0,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
) -> None:
    """How much accuracy attacks on the edges take away, beside raw features, which no edge can touch."""
    results = _results(folder)
    check_there(labels, splits)
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.robustness import RATES
    from fdmvgcl.cli.robustness import robustness as command

    command(results, labels, splits, rates or RATES, seed, Reporter(quiet), data_root=data_root)


@app.command(epilog="Example:\n\n  fdmvgcl report out")
def report(folder: o.Results, quiet: o.Quiet = False) -> None:
    """Write report.html, one page to open in a browser, from what is in the folder."""
    results = _results(folder)
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.report import report as command

    with results.locked():
        command(results, Reporter(quiet))


@app.command()
def datasets(data_root: o.DataRoot = None) -> None:
    """List the data sets that can be named, and whether their files are there."""
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.datasets import list_datasets

    list_datasets(data_root, Reporter())


@app.command(
    epilog="NAME is one of nodes, views, depth, dim, cost, theory, pca, tsne, ratio, losses, dynamics, graphs, "
    "robustness; or a study of our own: curves.\n\n"
    "Example:\n\n  fdmvgcl reproduce nodes --datasets cora,texas --seeds 2\n\n"
    "Records are kept one by one: the same command goes on where it was stopped."
)
def reproduce(
    name: o.ExperimentName,
    datasets: o.Datasets = None,
    methods: o.Methods = None,
    seeds: o.Seeds = 10,
    output: o.Records = None,
    jobs: o.Jobs = 1,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
) -> None:
    """Make a table or a figure of the paper, with controls beside every number."""
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.reproduce import reproduce as command

    command(name, datasets, seeds, output, Reporter(quiet), methods=methods, jobs=jobs, data_root=data_root)


@app.command(
    epilog="Example:\n\n  fdmvgcl tune cora --method grace -o grace.toml\n\n"
    "The first trial are the method's defaults, the others are drawn from its search space before a label is read. "
    "Their records are beside the TOML file: the same command goes on where it was stopped."
)
def tune(
    dataset: o.DatasetName,
    method: o.MethodName = "fd-mvgcl",
    trials: o.Trials = 12,
    output: o.TrialsFile = None,
    jobs: o.Jobs = 1,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
) -> None:
    """Try settings of a method on a data set, and let each split's validation nodes choose; writes a TOML file."""
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.reproduce import tune as command

    command(dataset, method, trials, output, Reporter(quiet), jobs=jobs, data_root=data_root)


def main() -> None:
    """The entry point."""
    ask_for_huge_pages()
    app(prog_name="fdmvgcl")
