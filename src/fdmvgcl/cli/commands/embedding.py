"""Commands that make vectors."""

import sys

import typer

from fdmvgcl.cli import options as o
from fdmvgcl.cli.commands.start import app, results_in
from fdmvgcl.cli.endings import INTERRUPTED
from fdmvgcl.cli.groups import EdgeOptions, ModelOptions, WindowOptions, grouped
from fdmvgcl.cli.presence import check_there


@app.command(
    epilog="Examples:\n\n  fdmvgcl embed digits\n\n  fdmvgcl embed edges.csv --features nodes.parquet -o out\n\n"
    "  fdmvgcl embed edges.csv -o out --resume\n\n"
    "  fdmvgcl embed molecules.csv --features atoms.csv --level graph --dim 128 -o out\n\n"
    "DIR gets embeddings.parquet (id, z), graph.npz, model/, history.jsonl and report.html."
)
@grouped
def embed(
    graph: o.Source,
    *,
    level: o.Level = "node",
    features: o.Features = None,
    labels: o.Labels = None,
    edges: EdgeOptions,
    directed: o.Directed = False,
    columns: o.Columns = None,
    drop: o.Drop = None,
    times: WindowOptions,
    output: o.Folder = None,
    force: o.ForceFolder = False,
    resume: o.Resume = False,
    keep_views: o.KeepViews = False,
    no_report: o.NoReport = False,
    learner: ModelOptions,
    control: o.Control = None,
    reader: o.EdgeReader = "auto",
    memory: o.RareMemory = None,
    scratch: o.Scratch = None,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
    help_all: o.HelpAll = False,
) -> None:
    """Embed a graph, or many: learn without labels and write embeddings keyed by your ids."""
    if level == "node":
        check_there(graph, features, labels, learner.settings)  # before torch comes in, which takes seconds
    from fdmvgcl.cli import embed as command
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.sources import ReadOptions

    reading = ReadOptions(
        features=features,
        directed=directed,
        columns=o.listed(columns),
        drop=o.listed(drop),
        **vars(edges),
        **vars(times),
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
        command.embed(graph, learner.model(), reading, wanted, Reporter(quiet))
    except command.Interrupted:
        print("stopped; the state is saved: go on with the same command and --resume", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None


@app.command(
    epilog="Examples:\n\n  fdmvgcl plan edges.parquet --features nodes.parquet --dim 64\n\n"
    "  fdmvgcl plan edges.parquet --memory 8GB --json\n\n"
    "Sizes are told from the file's head, speeds are timed here in a second. embed tells the same before it begins."
)
@grouped
def plan(
    graph: o.Source,
    *,
    features: o.Features = None,
    edges: EdgeOptions,
    directed: o.Directed = False,
    times: WindowOptions,
    output: o.Folder = None,
    no_report: o.NoReport = False,
    learner: ModelOptions,
    reader: o.EdgeReader = "auto",
    memory: o.Memory = None,
    scratch: o.Scratch = None,
    as_json: o.AsJson = False,
    data_root: o.DataRoot = None,
    help_all: o.HelpAll = False,
) -> None:
    """What embedding would take: memory, disk and time of each phase. Exit code 2 where there is too little."""
    check_there(graph, features, learner.settings)
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.embed import EmbedOptions
    from fdmvgcl.cli.plan import plan as command
    from fdmvgcl.cli.sources import ReadOptions

    reading = ReadOptions(features=features, directed=directed, **vars(edges), **vars(times))
    options = EmbedOptions(
        output, data_root=data_root, report=not no_report, memory=memory, scratch=scratch, reader=reader
    )
    command(graph, learner.model(), reading, options, Reporter(), as_json=as_json)


@app.command(
    epilog="Examples:\n\n  fdmvgcl transform out tomorrow.csv --features nodes.csv -o tomorrow.parquet\n\n"
    "  fdmvgcl transform out new-edges.csv --features new-nodes.csv --extend -o new.parquet"
)
@grouped
def transform(
    folder: o.Results,
    graph: o.Source,
    *,
    features: o.Features = None,
    edges: EdgeOptions,
    extend: o.Extend = False,
    directed: o.Directed = False,
    output: o.File,
    force: o.Force = False,
    data_root: o.DataRoot = None,
    device: o.Device = None,
    quiet: o.Quiet = False,
    help_all: o.HelpAll = False,
) -> None:
    """Embed new nodes, or another graph with the same feature columns, by a model trained before."""
    results = results_in(folder)
    check_there(graph, features)
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.sources import ReadOptions
    from fdmvgcl.cli.transform import transform as command

    reading = ReadOptions(features=features, directed=directed, **vars(edges))
    command(
        results,
        graph,
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
@grouped
def update(
    folder: o.Results,
    new_edges: o.NewEdges = None,
    *,
    features: o.NewFeatures = None,
    removed: o.Removed = None,
    edges: EdgeOptions,
    times: WindowOptions,
    train: o.Train = False,
    no_report: o.NoReport = False,
    as_json: o.AsJson = False,
    device: o.Device = None,
    quiet: o.Quiet = False,
    help_all: o.HelpAll = False,
) -> None:
    """Bring DIR up to date with a graph that has changed: new and removed nodes and edges, the same encoder."""
    results = results_in(folder)
    check_there(new_edges, features, *(removed or ()))
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.sources import ReadOptions
    from fdmvgcl.cli.update import UpdateOptions
    from fdmvgcl.cli.update import update as command

    reading = ReadOptions(features=features, **vars(edges), **vars(times))
    wanted = UpdateOptions(removed or (), train, device or "cpu", not no_report, as_json)
    with results.locked():
        command(results, new_edges, reading, wanted, Reporter(quiet, as_json))
