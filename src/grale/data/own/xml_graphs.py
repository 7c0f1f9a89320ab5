"""GraphML and GEXF, read by networkx after a look at the XML itself.

The look refuses what networkx would accept in silence: declarations of entities (a few lines of
them can expand to gigabytes), nodes listed twice, and edges to nodes that are not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

import networkx

from grale.graphs.record import GraphRecord, RecordError, record_of

GEXF_EXTRAS = {"id", "viz", "start", "end", "pid", "parents", "spells", "slices"}
"""What networkx adds to nodes and edges of GEXF besides their attributes."""


def read_graphml(path: Path) -> Iterator[GraphRecord]:
    """All graphs of a GraphML file."""
    check_xml(path)
    reader = networkx.readwrite.graphml.GraphMLReader(node_type=str)
    found = _parsed(path, lambda: list(reader(path=str(path))))
    for number, graph in enumerate(found):
        place = f"{path}, graph {number}" if len(found) > 1 else str(path)
        for _, values in graph.nodes(data=True):
            values.pop("id", None)
        for *_, values in graph.edges(data=True):
            values.pop("id", None)
        yield record_of(graph, place)


def read_gexf(path: Path) -> Iterator[GraphRecord]:
    """The graph of a GEXF file; a node's label that only repeats its id does not count."""
    check_xml(path)
    graph = _parsed(path, lambda: networkx.read_gexf(path))
    only_titles = all(
        str(values.get("label", name)) == str(name) for name, values in graph.nodes(data=True)
    )
    for _, values in graph.nodes(data=True):
        _drop(values, GEXF_EXTRAS | ({"label"} if only_titles else set()))
    for *_, values in graph.edges(data=True):
        _drop(values, GEXF_EXTRAS)
    graph.graph = {}
    yield record_of(graph, str(path))


def _drop(values: dict[str, Any], names: set[str]) -> None:
    for name in names & values.keys():
        del values[name]


def _parsed(path: Path, parse: Any) -> Any:
    try:
        return parse()
    except (networkx.NetworkXError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise RecordError(f"{path}: {error}") from error


class _Look:
    """What the XML declares: nodes and ends of edges of each graph."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.graphs: list[tuple[set[str], list[tuple[str, str]]]] = []

    def refuse_entity(self, name: str, *_: Any) -> None:
        raise RecordError(
            f"{self.path} declares the entity {name[:60]!r}; entities are refused, since they can "
            "fill the memory. Write the file without them"
        )

    def start(self, tag: str, values: dict[str, str]) -> None:
        kind = tag.rpartition(":")[2]
        if kind == "graph":
            self.graphs.append((set(), []))
        elif kind == "hyperedge":
            raise RecordError(f"{self.path} has a hyperedge; only edges of two nodes can be read")
        elif kind == "node" and self.graphs:
            nodes, name = self.graphs[-1][0], values.get("id", "")
            if name in nodes:
                raise RecordError(
                    f"{self._place()}: node {name[:60]!r} is listed twice; node ids must differ"
                )
            nodes.add(name)
        elif kind == "edge" and self.graphs:
            self.graphs[-1][1].append((values.get("source", ""), values.get("target", "")))

    def end(self, tag: str) -> None:
        if tag.rpartition(":")[2] != "graph":
            return
        nodes, edges = self.graphs[-1]
        for source, target in edges:
            for name in (source, target):
                if name not in nodes:
                    raise RecordError(
                        f"{self._place()}: edge {source[:60]!r} - {target[:60]!r} names the "
                        f"missing node {name[:60]!r}"
                    )

    def _place(self) -> str:
        return f"{self.path}, graph {len(self.graphs) - 1}"


def check_xml(path: Path) -> None:
    """Raise a `RecordError` for XML that must not be read any further."""
    look, parser = _Look(path), expat.ParserCreate()
    parser.EntityDeclHandler = look.refuse_entity
    parser.StartElementHandler = look.start
    parser.EndElementHandler = look.end
    try:
        with path.open("rb") as file:
            parser.ParseFile(file)
    except expat.ExpatError as error:
        raise RecordError(f"{path} is not XML: {error}") from error
    if not look.graphs:
        raise RecordError(f"{path} holds no element 'graph'")
