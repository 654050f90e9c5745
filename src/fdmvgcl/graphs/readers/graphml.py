"""GraphML: nodes, edges and one edge attribute, the weight; and attributes of nodes, which are features if asked for.

Read with expat directly: it gives the line of every error, and a document type, the door to entity bombs and external
entities, is refused in whatever encoding it comes.
"""

import re
from dataclasses import dataclass, field
from xml.parsers import expat

import pyarrow as pa

from fdmvgcl.errors import InputError, RowError, UserError, shown
from fdmvgcl.files import StrPath
from fdmvgcl.graphs.graph import Graph
from fdmvgcl.graphs.provenance import SYMMETRISED, Origin
from fdmvgcl.graphs.readers.tables import WEIGHT_RULE
from fdmvgcl.graphs.readers.text import NUMBER

_UNSUPPORTED = {"hyperedge": "hyperedges", "port": "ports"}


def read_graphml(
    path: StrPath, data: bytes, weight: str | None, *, directed: bool, repeated: str = "max", features: bool = False
) -> tuple[Graph, Origin]:
    """A graph from a GraphML file, and how it was understood; ``features``: whether nodes' attributes are taken."""
    content = _parse(path, data, weight)
    if not content.source:
        raise InputError(path, "holds no edges")
    source, target, weights = content.source, content.target, content.weights()
    lines = content.lines
    if directed:
        both = [i for i, one_way in enumerate(content.one_way) if not one_way]
        source, target = source + [target[i] for i in both], target + [source[i] for i in both]
        weights = None if weights is None else weights + [weights[i] for i in both]
        lines = lines + [lines[i] for i in both]
    remarks: tuple[str, ...] = (SYMMETRISED,) if any(content.one_way) and not directed else ()
    if content.attributes and not features:
        names = ", ".join(f"`{content.node_keys.get(key, key)}`" for key in list(content.attributes)[:8])
        remarks += (f"attributes of nodes left out: {names} (take them with --features and the same file)",)
    try:
        graph = Graph.from_edges(
            source, target, weight=weights, nodes=content.nodes or None, directed=directed, repeated=repeated
        )
    except RowError as error:
        raise InputError(path, error.rule, lines[error.row] if error.row < len(lines) else None) from None
    except UserError as error:
        raise InputError(path, str(error)) from None
    return graph, Origin("GraphML", weight=content.weight_name, remarks=remarks)


def read_node_attributes(path: StrPath, data: bytes) -> tuple[tuple[str, ...], pa.Table]:
    """The nodes that a GraphML file lists, and their attributes as columns of texts."""
    content = _parse(path, data, None)
    if not content.attributes:
        raise InputError(path, "holds no attributes of nodes")
    if len(set(content.nodes)) < len(content.nodes):
        raise InputError(path, "must list each node once")
    merged: dict[str, list[str | None]] = {}
    for key, given in content.attributes.items():
        cells = merged.setdefault(content.node_keys.get(key, key), [None] * len(content.nodes))
        default = content.defaults.get(key)
        for place, node in enumerate(content.nodes):
            cells[place] = given.get(node, default) if cells[place] is None else cells[place]
    return tuple(content.nodes), pa.table({n: pa.array(c, pa.large_string()) for n, c in merged.items()})


def _parse(path: StrPath, data: bytes, weight: str | None) -> "_Content":
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    content = _Content(path, parser, weight)
    parser.StartDoctypeDeclHandler = content.refuse_doctype
    parser.StartElementHandler = content.start
    parser.EndElementHandler = content.end
    parser.CharacterDataHandler = content.text
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise InputError(path, f"is not well-formed XML ({expat.ErrorString(error.code)})", error.lineno) from None
    except (ValueError, LookupError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(path, f"cannot be read as XML ({error})") from None
    content.finish()
    return content


@dataclass
class _Content:
    """What the parser has met so far: lists with an entry an edge, and the element it stands in."""

    path: StrPath
    parser: expat.XMLParserType
    asked: str | None
    nodes: list[str] = field(default_factory=list)
    source: list[str] = field(default_factory=list)
    target: list[str] = field(default_factory=list)
    one_way: list[bool] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)
    text_lines: list[int] = field(default_factory=list)
    edge_keys: dict[str, str] = field(default_factory=dict)
    node_keys: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)
    stack: list[str] = field(default_factory=list)
    directed_default: bool = False
    graphs: int = 0
    key: str | None = None
    weight_keys: tuple[str, ...] = ()
    characters: list[str] = field(default_factory=list)

    @property
    def weight_name(self) -> str | None:
        return self.edge_keys[self.weight_keys[0]] if self.weight_keys else None

    def error(self, rule: str) -> InputError:
        return InputError(self.path, rule, self.parser.CurrentLineNumber)

    def refuse_doctype(self, *_: object) -> None:
        raise self.error("must not have a document type (<!DOCTYPE …>), which can hide entity bombs")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rsplit(" ", 1)[-1]
        if not self.stack and name != "graphml":
            raise self.error(f"must be GraphML, got XML that begins with <{name[:40]}>")
        if name in _UNSUPPORTED:
            raise self.error(f"GraphML with {_UNSUPPORTED[name]} is not supported")
        self.characters.clear()
        if name == "graph":
            self._start_graph(attributes)
        elif name == "key" and attributes.get("for", "all") in ("edge", "node", "all"):
            self.key = self._attribute(attributes, "id", name)
            for kind, keys in (("edge", self.edge_keys), ("node", self.node_keys)):
                if attributes.get("for", "all") in (kind, "all"):
                    keys[self.key] = attributes.get("attr.name", self.key)
        elif name == "node" and "graph" in self.stack:
            self.nodes.append(self._attribute(attributes, "id", name))
        elif name == "edge" and "graph" in self.stack:
            self._start_edge(attributes)
        elif name == "data":
            self.key = self._attribute(attributes, "key", name)
        self.stack.append(name)

    def _attribute(self, attributes: dict[str, str], name: str, tag: str) -> str:
        if not attributes.get(name):
            raise self.error(f"<{tag}> must have a {name} that is not empty")
        return attributes[name]

    def _start_graph(self, attributes: dict[str, str]) -> None:
        self.graphs += 1
        if self.graphs > 1:
            raise self.error("must hold one graph, got another (nested graphs are not supported)")
        self.directed_default = attributes.get("edgedefault") == "directed"
        self.weight_keys = self._choose_weight()

    def _choose_weight(self) -> tuple[str, ...]:
        """The keys of the weight, declared before the graph; NetworkX writes one for each type of number."""
        if self.asked is None:
            found = [key for key, name in self.edge_keys.items() if name.lower() == "weight"]
        else:
            found = [key for key, name in self.edge_keys.items() if name == self.asked]
            if not found:
                there = ", ".join(shown(name) for name in self.edge_keys.values()) or "none"
                raise self.error(f"weight {shown(self.asked)} must be one of the edges' attributes: {there}")
        names = sorted({self.edge_keys[key] for key in found})
        if len(names) > 1:
            raise self.error(f"weight must be one attribute of the edges, got {' and '.join(names)}")
        return tuple(found)

    def _start_edge(self, attributes: dict[str, str]) -> None:
        self.source.append(self._attribute(attributes, "source", "edge"))
        self.target.append(self._attribute(attributes, "target", "edge"))
        own = attributes.get("directed")
        self.one_way.append(self.directed_default if own is None else own == "true")
        self.lines.append(self.parser.CurrentLineNumber)
        self.texts.append(None)
        self.text_lines.append(self.parser.CurrentLineNumber)

    def text(self, characters: str) -> None:
        if self.stack and self.stack[-1] in ("data", "default"):
            self.characters.append(characters)

    def end(self, tag: str) -> None:
        name = self.stack.pop()
        within = self.stack[-1] if self.stack else ""
        if name == "default" and within == "key" and self.key is not None:
            self.defaults[self.key] = "".join(self.characters).strip()
        elif name == "data" and within == "edge" and self.source and self.key in self.weight_keys:
            self.texts[-1] = "".join(self.characters).strip()
            self.text_lines[-1] = self.parser.CurrentLineNumber
        elif name == "data" and within == "node" and self.nodes and self.key is not None:
            self.attributes.setdefault(self.key, {})[self.nodes[-1]] = "".join(self.characters).strip()
        if name in ("key", "data"):
            self.key = None
        self.characters.clear()

    def finish(self) -> None:
        if not self.graphs:
            raise InputError(self.path, "must hold a <graph>, got none")

    def weights(self) -> list[float] | None:
        """A weight an edge, None if the edges have no such attribute."""
        if not self.weight_keys:
            return None
        fallback = next((self.defaults[key] for key in self.weight_keys if key in self.defaults), None)
        values = []
        for text, line in zip(self.texts, self.text_lines, strict=True):
            number = fallback if text is None else text
            if number is None:
                raise InputError(self.path, f"{WEIGHT_RULE} on every edge, got none on this one", line)
            if not re.match(NUMBER, number) and number.lower() not in ("nan", "inf", "-inf"):
                raise InputError(self.path, f"{WEIGHT_RULE}, got {shown(number)}", line)
            values.append(float(number))
        return values
