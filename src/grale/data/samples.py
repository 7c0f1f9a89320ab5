"""Graphs to show what a model does: one by its name, or many that suit the model.

CCO                a SMILES, for models of molecules
coloring20:17      graph 17 of those held out from training, for models of colourings
graph.json         {"node_labels": [...], "edges": [[0, 1], ...], "edge_labels": [...]}
mine.jsonl:3       graph 3 of a file or folder of one's own graphs (docs/own-graphs.md)
data/mine:3        graph 3 of the test split of a dataset
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.data.molecules.library import library_graphs
from grale.data.own.files import is_graph_file
from grale.data.own.graph_set import read_for
from grale.data.sources import HELD_OUT_SEED, NUM_COLOURS, first_graphs, stream_held_out
from grale.data.storage import MANIFEST
from grale.files import read_json
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.graphs.space import GraphSpace

LIBRARY = "library"


def named_graph(text: str, space: GraphSpace) -> Graph:
    """Read one graph from what a user typed; see the top of this file."""
    name, _, number = text.partition(":")
    if name in COLORING_VARIANTS and number.isdigit():
        if is_molecular(space):
            raise ValueError(
                f"{text} is a colouring, but this model was trained on molecules; "
                "choose another --model"
            )
        return generate_coloring(1, COLORING_VARIANTS[name], HELD_OUT_SEED, int(number))[0]
    own = _own_graph(text, space)
    if own is not None:
        return own
    if text.endswith(".json"):
        return _from_json(Path(text))
    if is_molecular(space):
        return Graph.from_smiles(text)
    raise ValueError(
        f"{text!r} is not a graph: give a held-out graph such as coloring10:3, a .json file "
        "with node_labels, edges and edge_labels, or FILE:3 for graph 3 of a file of graphs"
    )


def _own_graph(text: str, space: GraphSpace) -> Graph | None:
    """Graph of a file or folder of one's own graphs, or of a dataset; None if it is neither."""
    name, colon, number = text.rpartition(":")
    path, row = (Path(name), int(number)) if colon and number.isdigit() else (Path(text), 0)
    if (path / "test" / MANIFEST).is_file():
        graphs: list[Graph | str] = [*first_graphs(path / "test", row + 1)]
        reason = f"its test split has {len(graphs)} graphs"
    elif space.attributes is not None and path.exists() and is_graph_file(path):
        found = [entry for _, entry in read_for(path, space.attributes, space.directed)]
        graphs, reason = found[: row + 1], f"it has {len(found)} graphs"
    else:
        return None
    if row >= len(graphs):
        raise ValueError(f"{path} has no graph {row}: {reason}, counted from 0")
    graph = graphs[row]
    if isinstance(graph, str):
        raise ValueError(graph)
    return graph


def _from_json(path: Path) -> Graph:
    values = read_json(path)
    known = {"node_labels", "edges", "edge_labels", "directed"}
    if not isinstance(values, dict) or "node_labels" not in values or not values.keys() <= known:
        raise ValueError(
            f"{path} must be an object with node_labels and no other keys than {sorted(known)}"
        )
    if not isinstance(values.get("directed", False), bool):
        raise ValueError(f"{path}: directed must be true or false, got {values['directed']!r:.40}")
    try:
        return Graph(**values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def usual_data(space: GraphSpace) -> str:
    """Name of the data that suits a space best and needs no file."""
    if is_molecular(space):
        return LIBRARY
    for name, variant in COLORING_VARIANTS.items():
        if space == GraphSpace(max_nodes=variant.max_nodes, num_node_labels=NUM_COLOURS):
            return name
    raise ValueError("no generator makes graphs for this model; give --data with a dataset folder")


def sample_graphs(space: GraphSpace, count: int, data: str | None, split: str) -> list[Graph]:
    """First graphs of a named dataset, or of one that suits the space; all must be in the space."""
    return list(stream_graphs(space, count, data, split))


def stream_graphs(space: GraphSpace, count: int, data: str | None, split: str) -> Iterator[Graph]:
    """The same graphs as a stream, never all in memory."""
    name = data or usual_data(space)
    if name == LIBRARY and is_molecular(space):
        yield from library_graphs(count, space.max_nodes)
        return
    if name in (LIBRARY, *COLORING_VARIANTS) and (name == LIBRARY) != is_molecular(space):
        raise ValueError(f"{name} does not suit this model: its labels mean something else")
    path = Path(name)
    if space.attributes is not None and not (path / split).is_dir() and is_graph_file(path):
        yield from _own_graphs(path, space, count)
        return
    for row, graph in enumerate(stream_held_out(name, count, split)):
        reason = space.why_not(graph)
        if reason is not None:
            raise ValueError(f"graph {row} of {name} {reason}; choose data that suits the model")
        yield graph


def _own_graphs(path: Path, space: GraphSpace, count: int) -> Iterator[Graph]:
    """First graphs of a file of one's own; each must be in the space."""
    for record, graph in islice(read_for(path, space.attributes, space.directed), count):
        reason = graph if isinstance(graph, str) else space.why_not(graph)
        if reason is not None or isinstance(graph, str):
            raise ValueError(f"{record.where}: {reason}; leave it out, or fit a model with it")
        yield graph
