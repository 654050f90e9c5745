"""Commands for named data sets and the paper's tables."""

from fdmvgcl.cli import options as o
from fdmvgcl.cli.commands.start import app


@app.command()
def datasets(data_root: o.DataRoot = None) -> None:
    """List the data sets that can be named, and whether their files are there."""
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.datasets import list_datasets

    list_datasets(data_root, Reporter())


@app.command(
    epilog="NAME is one of nodes, tasks, views, depth, dim, cost, theory, pca, tsne, ratio, losses, dynamics, graphs, "
    "robustness; or a study of our own: curves.\n\n"
    "Example:\n\n  fdmvgcl reproduce nodes --datasets cora,texas --seeds 2\n\n"
    "Records are kept one by one: the same command goes on where it was stopped."
)
def reproduce(
    name: o.ExperimentName,
    datasets: o.Datasets = None,
    methods: o.Methods = None,
    seeds: o.Seeds = None,
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
