"""Graphs to show what a model does: one by its name, or many that suit the model.

CCO                a SMILES, for models of molecules
coloring20:17      graph 17 of those held out from training, for models of colourings
graph.json         {"node_labels": [...], "edges": [[0, 1], ...], "edge_labels": [...]}
molecules.csv:17   row 17, from 0, of a file of molecules or graphs, or of `grale embed`
data/mine:3        graph 3 of the test split of a dataset
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.data.graph_files import graph_of
from grale.data.molecules.library import library_graphs
from grale.data.row_files import is_row_name, named_row, open_rows, stream_good
from grale.data.sources import HELD_OUT_SEED, NUM_COLOURS, first_graphs, stream_held_out
from grale.data.storage import MANIFEST
from grale.files import read_json
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.graphs.space import GraphSpace

LIBRARY = "library"


def named_graph(text: str, space: GraphSpace, column: str | None = None) -> Graph:
    """Read one graph from what a user typed; see the top of this file.

    `column` is that of the SMILES, if the text names a row of a table.
    """
    name, _, number = text.partition(":")
    if name in COLORING_VARIANTS and number.isdigit():
        if is_molecular(space):
            raise ValueError(
                f"{text} is a colouring, but this model was trained on molecules; "
                "choose another --model"
            )
        return generate_coloring(1, COLORING_VARIANTS[name], HELD_OUT_SEED, int(number))[0]
    stored = _stored_graph(text)
    if stored is not None:
        return stored
    if is_row_name(text):
        return named_row(text, space, column)
    if text.endswith(".json"):
        return _from_json(Path(text))
    if is_molecular(space):
        return Graph.from_smiles(text)
    raise ValueError(
        f"{text!r} is not a graph: give a held-out graph such as coloring10:3, a .json file "
        "with node_labels, edges and edge_labels, or FILE:3 for graph 3 of a file of graphs"
    )


def _stored_graph(text: str) -> Graph | None:
    """Graph of the test split of a dataset, such as data/mine:3; None if it is not such a text."""
    name, colon, number = text.rpartition(":")
    path, row = (Path(name), int(number)) if colon and number.isdecimal() else (Path(text), 0)
    if not (path / "test" / MANIFEST).is_file():
        return None
    graphs = [*first_graphs(path / "test", row + 1)]
    if row >= len(graphs):
        raise ValueError(
            f"{path} has no graph {row}: its test split has {len(graphs)} graphs, counted from 0"
        )
    return graphs[row]


def _from_json(path: Path) -> Graph:
    try:
        return graph_of(read_json(path))
    except ValueError as error:
        told = str(error)
        raise ValueError(told if told.startswith(str(path)) else f"{path}: {told}") from error


def usual_data(space: GraphSpace) -> str:
    """Name of the data that suits a space best and needs no file."""
    if is_molecular(space):
        return LIBRARY
    for name, variant in COLORING_VARIANTS.items():
        if space == GraphSpace(max_nodes=variant.max_nodes, num_node_labels=NUM_COLOURS):
            return name
    raise ValueError("no generator makes graphs for this model; give --data with a dataset folder")


def sample_graphs(
    space: GraphSpace, count: int, data: str | None, split: str, column: str | None = None
) -> list[Graph]:
    """First graphs of a named dataset, or of one that suits the space; all must be in the space.

    `data` may also be a file of molecules or graphs; rows that are not in the space are left out.
    """
    return list(stream_graphs(space, count, data, split, column))


def is_file_of_rows(name: str, split: str) -> bool:
    """Whether the name of data is a file or folder of rows, not of a generator or a dataset."""
    path = Path(name)
    return (
        path.exists() and name not in (LIBRARY, *COLORING_VARIANTS) and not (path / split).is_dir()
    )


def stream_graphs(
    space: GraphSpace, count: int | None, data: str | None, split: str, column: str | None = None
) -> Iterator[Graph]:
    """The same graphs as a stream, never all in memory; without a count, all rows of a file."""
    name = data or usual_data(space)
    if is_file_of_rows(name, split):
        good = stream_good(open_rows(Path(name), space, column), space)
        yield from (graph for _, graph in islice(good, count))
        return
    assert count is not None  # only a file has an end
    if name == LIBRARY and is_molecular(space):
        yield from library_graphs(count, space.max_nodes)
        return
    if name in (LIBRARY, *COLORING_VARIANTS) and (name == LIBRARY) != is_molecular(space):
        raise ValueError(f"{name} does not suit this model: its labels mean something else")
    for row, graph in enumerate(stream_held_out(name, count, split)):
        reason = space.why_not(graph)
        if reason is not None:
            raise ValueError(f"graph {row} of {name} {reason}; choose data that suits the model")
        yield graph
