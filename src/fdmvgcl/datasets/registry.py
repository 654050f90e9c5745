"""The data sets by name."""

import difflib
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa

from fdmvgcl.errors import InputError, UserError

from . import builtin, geom_gcn, musae, npz, ogb, planetoid
from .dataset import Dataset
from .root import Source, data_root

Loader = Callable[[str, Source, Path], Dataset]


@dataclass(frozen=True)
class Entry:
    """One line of ``fdmvgcl datasets``; ``source`` is None for a set that ships with the dependencies."""

    name: str
    description: str
    source: Source | None
    loader: Callable[[Path], Dataset]

    def available(self, root: str | os.PathLike[str] | None = None) -> bool:
        """Whether its files are at hand, without fetching anything."""
        if self.source is None:
            return True
        folder = data_root(root) / self.source.folder
        return all((folder / file).is_file() for file in self.source.files)


def _from_files(name: str, description: str, source: Source, loader: Loader) -> Entry:
    return Entry(name, description, source, partial(loader, name, source))


def _built_in(name: str, description: str, loader: Callable[[str], Dataset]) -> Entry:
    return Entry(name, description, None, lambda root: loader(name))


_roc = partial(npz.load_yandex, metric="roc_auc")
_listed = partial(geom_gcn.load, listed=True)

_ENTRIES = (
    _from_files("cora", "citations, subject of a paper", planetoid.source("Cora"), planetoid.load),
    _from_files("citeseer", "citations, subject of a paper", planetoid.source("CiteSeer"), planetoid.load),
    _from_files("pubmed", "citations, kind of diabetes", planetoid.source("PubMed"), planetoid.load),
    _from_files("computers", "goods bought together, category", npz.amazon_source("Computers"), npz.load_amazon),
    _from_files("photo", "goods bought together, category", npz.amazon_source("Photo"), npz.load_amazon),
    _from_files("cornell", "web pages, role of a page", geom_gcn.source("cornell", "WebKB"), geom_gcn.load),
    _from_files("texas", "web pages, role of a page", geom_gcn.source("texas", "WebKB"), geom_gcn.load),
    _from_files("wisconsin", "web pages, role of a page", geom_gcn.source("wisconsin", "WebKB"), geom_gcn.load),
    _from_files("actor", "actors named on one page, kind of actor", geom_gcn.source("film", "Actor"), _listed),
    _from_files("squirrel", "Wikipedia, filtered, traffic", npz.yandex_source("squirrel_filtered"), npz.load_yandex),
    _from_files("chameleon", "Wikipedia, filtered, traffic", npz.yandex_source("chameleon_filtered"), npz.load_yandex),
    _from_files("crocodile", "Wikipedia, all 13 183 nouns as features, traffic", musae.SOURCE, musae.load),
    _from_files("acm", "papers of one author, field", npz.graph_data_source("acm"), npz.load_graph_data),
    _from_files("blogcatalog", "bloggers, interest", npz.graph_data_source("blogcatalog"), npz.load_graph_data),
    _from_files("dblp", "citations, research area", npz.graph_data_source("dblp"), npz.load_graph_data),
    _from_files("polblogs", "political blogs, no features", npz.graph_data_source("polblogs"), npz.load_graph_data),
    _from_files("twitch_es", "streamers, for adults or for all", musae.TWITCH, musae.load_twitch),
    _from_files("minesweeper", "a synthetic grid, mine or not (ROC AUC)", npz.yandex_source("minesweeper"), _roc),
    _from_files("tolokers", "crowd workers, banned or not (ROC AUC)", npz.yandex_source("tolokers"), _roc),
    _from_files("roman-empire", "words of an article, role", npz.yandex_source("roman_empire"), npz.load_yandex),
    _from_files(
        "amazon-ratings", "goods bought together, rating", npz.yandex_source("amazon_ratings"), npz.load_yandex
    ),
    _from_files("ogbn-arxiv", "citations, subject area", ogb.SOURCE, ogb.load_arxiv),
    _from_files("arxiv-year", "citations, time of publication", ogb.SOURCE, ogb.load_arxiv_year),
    _built_in("digits", "handwritten digits, 10 nearest neighbours", builtin.load_digits),
    _built_in("karate", "Zachary's karate club, no features", builtin.load_karate),
)
_BY_NAME = MappingProxyType({entry.name: entry for entry in _ENTRIES})


def datasets() -> Mapping[str, Entry]:
    """Every known data set by name, in the order of the paper's tables."""
    return _BY_NAME


def load(name: str, root: str | os.PathLike[str] | None = None) -> Dataset:
    """Read the data set ``name`` from the data root (see :func:`fdmvgcl.datasets.data_root`)."""
    if name not in _BY_NAME:
        close = difflib.get_close_matches(name.lower(), _BY_NAME, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise UserError(f"unknown data set {name!r}{hint} Known: {', '.join(_BY_NAME)}")
    entry, folder = _BY_NAME[name], data_root(root)
    try:
        return entry.loader(folder)
    except InputError:
        raise
    except (ValueError, LookupError, EOFError, OSError, zipfile.BadZipFile, pa.ArrowException) as error:
        place = folder if entry.source is None else folder / entry.source.folder
        reason = " ".join(str(error).split())
        raise InputError(place, f"cannot be read as the data set {name}: {reason}") from error
