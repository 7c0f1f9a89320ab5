"""The edits that a mapping implies (paper: appendix "Graph reconstruction metrics").

    Edit(G, G_hat) = min over P of  sum_i 1[F_i != F_hat_i] + sum_ij 1[C_ij != C_hat_ij]

This file evaluates the sum for one given mapping P, lists its terms as edits, and replays
them. The minimum is bounded in :mod:`grale.matching.local_search`.

Departures: the paper's sum over ordered pairs counts an undirected edge twice; here it
counts once. Graphs may differ in size: a node without a partner is deleted or inserted,
and so is each of its edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
from jaxtyping import Int64

from grale.graphs.attributes import Attributes
from grale.graphs.graph import Graph, IntArray
from grale.metrics.isomorphism import check_same_direction

EditKind = Literal[
    "relabel node", "delete node", "insert node", "relabel edge", "delete edge", "insert edge"
]


@dataclass(frozen=True)
class Edit:
    """One edit, at unit cost.

    >>> print(Edit("relabel node", (2,), before=0, after=3))
    relabel node 2: 0 -> 3
    >>> print(Edit("insert edge", (0, 4), before=None, after=1))
    insert edge (0, 4): label 1
    """

    kind: EditKind
    where: tuple[int] | tuple[int, int]
    """The node, or the two ends of the edge. Nodes of the first graph keep their index;
    inserted nodes are numbered after its last node, in the order of the second graph."""
    before: int | None
    """The label there before the edit; None for an insertion."""
    after: int | None
    """The label there after the edit; None for a deletion."""

    def __str__(self) -> str:
        return self.text(None)

    def text(self, attributes: Attributes | None) -> str:
        """The edit in words, with the names of the labels if there are any."""
        place = self.where[0] if len(self.where) == 1 else self.where
        before, after = (self._name(label, attributes) for label in (self.before, self.after))
        if self.before is not None and self.after is not None:
            return f"{self.kind} {place}: {before} -> {after}"
        return f"{self.kind} {place}: label {after if self.before is None else before}"

    def _name(self, label: int | None, attributes: Attributes | None) -> str:
        if label is None or attributes is None:
            return str(label)
        is_node = len(self.where) == 1
        return attributes.node_text(label) if is_node else attributes.edge_text(label)


def edit_distance(g1: Graph, g2: Graph, mapping: Sequence[int] | np.ndarray) -> int:
    """Count the edits that turn `g1` into `g2` when nodes correspond as in `mapping`.

    This is the cost of the mapping given, an upper bound on the graph edit distance.

    Parameters
    ----------
    g1, g2
        Two graphs, both directed or both undirected.
    mapping
        `mapping[i]` is the node of `g2` for node `i` of `g1`, or -1 if node `i` is deleted.
        Nodes of `g2` that are not named are inserted.

    >>> edit_distance(Graph([0, 1], [(0, 1)]), Graph([1, 1, 0], [(0, 2)]), [2, 0])
    1
    """
    mapping = checked_mapping(g1, g2, mapping)
    kept = np.flatnonzero(mapping >= 0)
    relabelled = np.count_nonzero(g1.node_labels[kept] != g2.node_labels[mapping[kept]])
    labels_of_g2 = padded_label_matrix(g2, g2.num_nodes + 1)  # -1 finds the last row: no edges
    images = labels_of_g2[mapping[g1.edges[:, 0]], mapping[g1.edges[:, 1]]]
    edges_inserted = g2.num_edges - np.count_nonzero(images)
    edges_changed = np.count_nonzero(images != g1.edge_labels)
    nodes_changed = g1.num_nodes + g2.num_nodes - 2 * len(kept) + relabelled
    return int(nodes_changed + edges_changed + edges_inserted)


def edits(g1: Graph, g2: Graph, mapping: Sequence[int] | np.ndarray) -> list[Edit]:
    """List the edits that :func:`edit_distance` counts, in an order that can be replayed.

    Parameters are those of :func:`edit_distance`. Edges are deleted before their nodes and
    inserted after them; see :attr:`Edit.where` for how inserted nodes are numbered.

    >>> for edit in edits(Graph([0, 1], [(0, 1)]), Graph([0, 2, 5], [(0, 1), (1, 2)]), [0, 1]):
    ...     print(edit)
    relabel node 1: 1 -> 2
    insert node 2: label 5
    insert edge (1, 2): label 1
    """
    mapping = checked_mapping(g1, g2, mapping)
    place_in_g1 = _places(g1, g2, mapping)
    nodes_before = {(i,): label for i, label in enumerate(g1.node_labels.tolist())}
    nodes_after = {(i,): label for i, label in zip(place_in_g1.tolist(), g2.node_labels.tolist())}
    edges_before = _edge_table(g1.edges, g1)
    edges_after = _edge_table(place_in_g1[g2.edges], g2)
    node_edits = _differences("node", nodes_before, nodes_after)
    edge_edits = _differences("edge", edges_before, edges_after)
    return [
        *(edit for edit in edge_edits if edit.kind == "delete edge"),
        *node_edits,
        *(edit for edit in edge_edits if edit.kind != "delete edge"),
    ]


def apply_edits(graph: Graph, changes: Iterable[Edit]) -> Graph:
    """Replay edits on a graph: `apply_edits(g1, edits(g1, g2, mapping))` is `g2`, reordered.

    Parameters
    ----------
    graph
        The graph to start from; it is not changed.
    changes
        Edits as listed by :func:`edits`. Each must find what it says was there before.

    Returns
    -------
    Graph
        Nodes that were kept, in their order, then nodes that were inserted, in theirs.

    >>> edge = Graph([0, 1], edges=[(0, 1)])
    >>> apply_edits(edge, [Edit("relabel edge", (0, 1), 1, 2)]).edge_labels.tolist()
    [2]
    """
    nodes: dict[tuple[int, ...], int] = {
        (i,): label for i, label in enumerate(graph.node_labels.tolist())
    }
    edges = _edge_table(graph.edges, graph)
    for edit in changes:
        table = nodes if len(edit.where) == 1 else edges
        found = table.pop(edit.where, None)
        if found != edit.before:
            raise ValueError(f"edit '{edit}' expects {edit.before} at {edit.where}, found {found}")
        if edit.after is not None:
            table[edit.where] = edit.after
    order = {node: rank for rank, (node,) in enumerate(sorted(nodes))}
    for edge in edges:
        missing = [node for node in edge if node not in order]
        if missing:
            raise ValueError(f"after the edits, edge {edge} ends at missing node {missing[0]}")
    pairs = [(order[i], order[j]) for i, j in edges]
    labels = [nodes[node,] for node in order]
    return Graph(labels, pairs, list(edges.values()), graph.directed)


def checked_mapping(g1: Graph, g2: Graph, mapping: Sequence[int] | np.ndarray) -> IntArray:
    """Return `mapping` as an array, or raise and say why it does not map `g1` to `g2`."""
    check_same_direction(g1, g2)
    array = np.asarray(mapping)
    if array.shape != (g1.num_nodes,) or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(
            f"mapping must hold one integer for each of the {g1.num_nodes} nodes of g1, "
            f"got {array.dtype} of shape {array.shape}"
        )
    outside = np.flatnonzero((array < -1) | (array >= g2.num_nodes))
    if len(outside):
        node = outside[0]
        raise ValueError(
            f"mapping[{node}] is {array[node]}; expected a node of g2, 0..{g2.num_nodes - 1}, "
            "or -1 for a deleted node"
        )
    uses = np.bincount(array[array >= 0], minlength=1)
    if uses.max() > 1:
        image = int(uses.argmax())
        first, second = np.flatnonzero(array == image)[:2]
        raise ValueError(
            f"mapping[{first}] and mapping[{second}] are both {image}; "
            "each node of g2 may be used once"
        )
    return array.astype(np.int64)


def padded_label_matrix(graph: Graph, size: int) -> Int64[np.ndarray, "N N"]:
    """Return the matrix of edge labels with null nodes added, up to `size` nodes."""
    matrix = np.zeros((size, size), dtype=np.int64)
    matrix[: graph.num_nodes, : graph.num_nodes] = graph.label_matrix()
    return matrix


def _places(g1: Graph, g2: Graph, mapping: IntArray) -> IntArray:
    """Number the nodes of `g2` as edits do: by their node of `g1`, or after its last node."""
    places = np.full(g2.num_nodes, -1, dtype=np.int64)
    kept = np.flatnonzero(mapping >= 0)
    places[mapping[kept]] = kept
    inserted = places < 0
    places[inserted] = g1.num_nodes + np.arange(np.count_nonzero(inserted))
    return places


def _edge_table(pairs: IntArray, graph: Graph) -> dict[tuple[int, ...], int]:
    """Map the ends of each edge to its label; undirected edges have the smaller end first."""
    ends = pairs if graph.directed else np.sort(pairs, axis=1)
    return {(i, j): label for (i, j), label in zip(ends.tolist(), graph.edge_labels.tolist())}


def _differences(
    noun: Literal["node", "edge"], before: dict[tuple, int], after: dict[tuple, int]
) -> list[Edit]:
    """List deletions, then relabellings, then insertions, each in order of place."""
    common = before.keys() & after.keys()
    places = {
        "delete": before.keys() - common,
        "relabel": {place for place in common if before[place] != after[place]},
        "insert": after.keys() - common,
    }
    return [
        Edit(cast(EditKind, f"{verb} {noun}"), place, before.get(place), after.get(place))
        for verb in places
        for place in sorted(places[verb])
    ]
