"""Commands that answer from vectors."""

from fdmvgcl.cli import options as o
from fdmvgcl.cli.commands.start import app, results_in
from fdmvgcl.cli.presence import check_there


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
    encoding: o.Encoding = None,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
    help_all: o.HelpAll = False,
) -> None:
    """Groups of nodes that lie together: id and cluster, 0 the largest."""
    results = results_in(folder)
    check_there(labels)
    from fdmvgcl.cli.answers import Wanted
    from fdmvgcl.cli.cluster import cluster as command
    from fdmvgcl.cli.console import Reporter

    wanted = Wanted(output, force, as_json)
    command(results, count, labels, wanted, Reporter(quiet), seed=seed, data_root=data_root, encoding=encoding)


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
    encoding: o.Encoding = None,
    data_root: o.DataRoot = None,
    quiet: o.Quiet = False,
    help_all: o.HelpAll = False,
) -> None:
    """Labels of some nodes in, label and probability of the others out."""
    results = results_in(folder)
    check_there(labels)
    from fdmvgcl.cli.answers import Wanted
    from fdmvgcl.cli.console import Reporter
    from fdmvgcl.cli.predict import predict as command

    wanted = Wanted(output, force, as_json)
    command(results, labels, wanted, Reporter(quiet), seed=seed, data_root=data_root, encoding=encoding)


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
    results = results_in(folder)
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
    results = results_in(folder)
    from fdmvgcl.cli.anomalies import anomalies as command
    from fdmvgcl.cli.answers import Wanted
    from fdmvgcl.cli.console import Reporter

    command(results, Wanted(output, force, as_json), Reporter(quiet), check=not no_check)
