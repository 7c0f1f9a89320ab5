"""A position for each node that does not depend on the order in which nodes are listed.

The noise of the featurizer breaks symmetries (paper: "Graph pre-processing and
featurizer"). At inference, it follows a node's canonical position, so that a graph has
one embedding, however its nodes are numbered.

Colour refinement over whole pairs: the colour of a node is a hash of its own colour and of
the multiset of (pair colour, other node's colour); the pair colour starts from the edge
label and the path length. Where colours tie, pairs are refined too (two-dimensional
Weisfeiler-Leman), then one node of the first tied class is individualised and colours are
refined again, until every node has its own colour. Nodes that still tie before that step
are images of each other under a symmetry, so that it does not matter which one is taken.
Exceptions are rare, such as strongly regular graphs without transitive symmetry.

On a CPU, `canonical_kernel.py` computes the same, compiled.

Departures: not in the paper, which draws fresh noise at every call (decisions/003).
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grale.extras import is_installed
from grale.graphs.batch import GraphBatch

_ODD_A, _ODD_B, _ODD_C = 0x9E3779B97F4A7C15 - 2**64, 0x2545F4914F6CDD1D, 0x5851F42D4C957F2D


def canonical_positions(graphs: GraphBatch) -> Int[Tensor, "B N"]:
    """Rank of each node in the canonical order of its graph; padding comes last.

    >>> from grale.graphs.graph import Graph
    >>> path = GraphBatch.from_graphs([Graph([0, 1, 2], [(0, 1), (1, 2)])])
    >>> moved = GraphBatch.from_graphs([Graph([2, 0, 1], [(1, 2), (2, 0)])])
    >>> first, second = canonical_positions(path)[0], canonical_positions(moved)[0]
    >>> [int(first[i]) for i in (2, 0, 1)] == second.tolist()
    True
    """
    on_cpu = graphs.node_mask.device.type == "cpu" and not torch.compiler.is_compiling()
    if on_cpu and is_installed("numba"):
        return _compiled_positions(graphs)
    return positions_in_torch(graphs)


def _compiled_positions(graphs: GraphBatch) -> Int[Tensor, "B N"]:
    from grale.graphs.canonical_kernel import positions

    tensors = (graphs.node_mask, graphs.node_labels, graphs.edge_labels, graphs.path_length)
    arrays = (tensor.contiguous().numpy() for tensor in tensors)
    return torch.from_numpy(positions(*arrays, graphs.directed))


def positions_in_torch(graphs: GraphBatch) -> Int[Tensor, "B N"]:
    """Evaluate :func:`canonical_positions` for all graphs at once, on any device."""
    pairs = _mix(graphs.edge_labels * 4096 + graphs.path_length + 2) * graphs.edge_mask
    if graphs.directed:
        pairs = _mix(pairs * 3 + pairs.transpose(1, 2))
    nodes = _refine_nodes(_mix(graphs.node_labels + 1), pairs, graphs)
    tied = _has_ties(_ranks(nodes, graphs), graphs)
    if bool(tied.any()):
        rows = tied.nonzero()[:, 0]
        nodes = nodes.index_copy(0, rows, _break_ties(nodes[rows], pairs[rows], graphs[rows]))
    return _order(nodes, graphs)


def by_canonical_position(
    table: Float[Tensor, "M ..."], graphs: GraphBatch
) -> Float[Tensor, "B N ..."]:
    """Row of the table for each node's position; padding beyond its end gets the last row."""
    return table[canonical_positions(graphs).clamp_max(len(table) - 1)]


def _break_ties(
    nodes: Int[Tensor, "B N"], pairs: Int[Tensor, "B N N"], graphs: GraphBatch
) -> Int[Tensor, "B N"]:
    pairs = _refine_pairs(nodes, pairs, graphs)
    nodes = _refine_nodes(nodes, pairs, graphs)
    ranks = _ranks(nodes, graphs)
    while bool(_has_ties(ranks, graphs).any()):
        chosen = _first_tied_node(ranks, graphs)
        nodes = torch.where(chosen, _mix(nodes + 1), nodes)
        nodes = _refine_nodes(nodes, pairs, graphs)
        ranks = _ranks(nodes, graphs)
    return nodes


def _mix(values: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
    """Scramble integers (wrapping arithmetic; equal inputs give equal outputs)."""
    values = (values ^ (values >> 31)) * _ODD_A
    values = (values ^ (values >> 29)) * _ODD_B
    return values ^ (values >> 32)


def _refine_nodes(
    nodes: Int[Tensor, "B N"], pairs: Int[Tensor, "B N N"], graphs: GraphBatch
) -> Int[Tensor, "B N"]:
    """Refine each graph until its number of colours stops growing, independent of the others."""
    nodes = nodes * graphs.node_mask
    count = _num_colours(nodes)
    for _ in range(nodes.shape[1]):
        refined = _mix(nodes * _ODD_C + _seen(nodes, pairs, graphs)) * graphs.node_mask
        refined_count = _num_colours(refined)
        grew = refined_count > count
        if not bool(grew.any()):
            break
        nodes = torch.where(grew[:, None], refined, nodes)
        count = torch.where(grew, refined_count, count)
    return nodes


def _seen(
    nodes: Int[Tensor, "B N"], pairs: Int[Tensor, "B N N"], graphs: GraphBatch
) -> Int[Tensor, "B N"]:
    """Hash of the multiset of (pair colour, node colour) over the real nodes."""
    return (_mix(pairs + nodes[:, None, :]) * graphs.node_mask[:, None, :]).sum(dim=2)


def _refine_pairs(
    nodes: Int[Tensor, "B N"], pairs: Int[Tensor, "B N N"], graphs: GraphBatch
) -> Int[Tensor, "B N N"]:
    """Two-dimensional refinement: pair (i, j) sees all (pair (i, k), pair (k, j))."""
    pairs = _mix(pairs + nodes[:, :, None] * _ODD_C + nodes[:, None, :]) * graphs.edge_mask
    for _ in range(3):
        through = torch.zeros_like(pairs)
        for k in range(pairs.shape[1]):
            joined = _mix(pairs[:, :, k, None] * _ODD_C + pairs[:, k, None, :])
            through += joined * graphs.node_mask[:, k, None, None]
        pairs = _mix(pairs + through) * graphs.edge_mask
    return pairs


def _num_colours(nodes: Int[Tensor, "B N"]) -> Int[Tensor, " B"]:
    ordered = nodes.sort(dim=1).values
    return (ordered[:, 1:] != ordered[:, :-1]).sum(dim=1)


def _order(nodes: Int[Tensor, "B N"], graphs: GraphBatch) -> Int[Tensor, "B N"]:
    """Distinct ranks 0..N-1 of the real nodes by colour, padding after them."""
    keys = torch.where(graphs.node_mask, nodes >> 1, torch.iinfo(torch.int64).max)
    return keys.argsort(dim=1, stable=True).argsort(dim=1)


def _ranks(nodes: Int[Tensor, "B N"], graphs: GraphBatch) -> Int[Tensor, "B N"]:
    """For each real node the number of real nodes with a smaller colour (ties share it)."""
    smaller = (nodes[:, None, :] < nodes[:, :, None]) & graphs.node_mask[:, None, :]
    return smaller.sum(dim=2)


def _has_ties(ranks: Int[Tensor, "B N"], graphs: GraphBatch) -> Tensor:
    return _is_tied(ranks, graphs).any(dim=1)


def _is_tied(ranks: Int[Tensor, "B N"], graphs: GraphBatch) -> Tensor:
    equal = (ranks[:, :, None] == ranks[:, None, :]) & graphs.edge_mask
    return equal.sum(dim=2) > 1


def _first_tied_node(ranks: Int[Tensor, "B N"], graphs: GraphBatch) -> Tensor:
    """One-hot: a node of the first tied class, or zeros if nothing ties."""
    tied = _is_tied(ranks, graphs)
    keys = torch.where(tied, ranks, ranks.shape[1] + 1)
    first = torch.nn.functional.one_hot(keys.argmin(dim=1), ranks.shape[1]).bool()
    return first & tied
