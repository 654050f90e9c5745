"""Commands that tell how good vectors are."""

from fdmvgcl.cli import options as o
from fdmvgcl.cli.commands.start import app, results_in
from fdmvgcl.cli.groups import EdgeOptions, grouped
from fdmvgcl.cli.presence import check_there


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
    encoding: o.Encoding = None,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
    help_all: o.HelpAll = False,
) -> None:
    """Put embeddings to three tasks, beside the controls that tell whether learning helped; writes evaluation.json."""
    results = results_in(folder)
    check_there(labels, splits)
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.evaluate import evaluate as command

    with results.locked():
        command(results, labels, splits, Reporter(quiet), kind=labels_are, data_root=data_root, encoding=encoding)


@app.command(
    epilog="Examples:\n\n  fdmvgcl attack karate --kind random --rate 0.1 -o attacked.parquet\n\n"
    "  fdmvgcl attack edges.csv --features nodes.csv --labels labels.csv --kind prbcd --rate 0.05 -o bad.parquet\n\n"
    "random adds edges; dice takes edges within classes away and adds others; prbcd and nettack mislead a model of "
    "their own about test nodes; metattack spoils training."
)
@grouped
def attack(
    graph: o.Source,
    *,
    kind: o.AttackKind,
    rate: o.AttackRate,
    labels: o.AttackLabels = None,
    features: o.Features = None,
    edges: EdgeOptions,
    output: o.AttackedFile,
    force: o.Force = False,
    seed: o.AttackSeed = 0,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
    help_all: o.HelpAll = False,
) -> None:
    """Flip edges of a graph as an attacker would, and write the edges that are left."""
    check_there(graph, features, labels)
    from fdmvgcl.cli.attack import attack as command
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.sources import ReadOptions

    reading = ReadOptions(features=features, **vars(edges))
    command(graph, kind, rate, labels, output, reading, seed, Reporter(quiet), force=force, data_root=data_root)


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
    encoding: o.Encoding = None,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
    help_all: o.HelpAll = False,
) -> None:
    """How much accuracy attacks on the edges take away, beside raw features, which no edge can touch."""
    results = results_in(folder)
    check_there(labels, splits)
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.robustness import RATES
    from fdmvgcl.cli.robustness import robustness as command

    command(results, labels, splits, rates or RATES, seed, Reporter(quiet), data_root=data_root, encoding=encoding)


@app.command(epilog="Example:\n\n  fdmvgcl report out")
def report(folder: o.Results, quiet: o.Quiet = False) -> None:
    """Write report.html, one page to open in a browser, from what is in the folder."""
    results = results_in(folder)
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.report import report as command

    with results.locked():
        command(results, Reporter(quiet))
