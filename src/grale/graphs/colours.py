"""Counts that describe a labelled graph: colours of Weisfeiler and Leman, bonds, path lengths.

    c_0(i)     = label of node i
    c_{r+1}(i) = hash(c_r(i), sum over neighbours j of hash(c_r(j), label of the edge ij))

Colours are hashed into a fixed number of buckets, so that every labelled graph has a vector of the
same length, computed on the device of the batch. The counts do not depend on the order of the
nodes.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grale.graphs.batch import GraphBatch

LABEL_BUCKETS, BOND_BUCKETS, COLOUR_BUCKETS, PATH_BUCKETS = 32, 128, 256, 16
NUM_COUNTS = LABEL_BUCKETS + BOND_BUCKETS + 2 * COLOUR_BUCKETS + PATH_BUCKETS
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9)  # of splitmix64
_SHIFT = 31


def colour_counts(graphs: GraphBatch) -> Float[Tensor, "B n_counts"]:
    """Counts of labels, bonds, colours of radius 1 and 2, and path lengths of each graph."""
    nodes = graphs.node_mask
    edges = graphs.edge_labels
    is_edge = graphs.adjacency & graphs.edge_mask
    colours = [graphs.node_labels]
    for _ in range(2):
        before = colours[-1]
        around = torch.where(is_edge, _mix(before[:, None, :] * 64 + edges), 0).sum(dim=2)
        colours.append(_mix(_mix(before) + 3 * around))
    bonds = _mix(label_pairs(graphs.node_labels)) + _mix(edges)
    off_diagonal = ~torch.eye(nodes.shape[1], dtype=torch.bool, device=nodes.device)
    paths = graphs.path_length.clamp(max=PATH_BUCKETS - 1)
    is_pair = graphs.edge_mask & off_diagonal & (graphs.path_length >= 0)
    return torch.cat(
        [
            _count(graphs.node_labels, nodes, LABEL_BUCKETS),
            _count(_mix(bonds), is_edge, BOND_BUCKETS),
            _count(colours[1], nodes, COLOUR_BUCKETS),
            _count(colours[2], nodes, COLOUR_BUCKETS),
            _count(paths, is_pair, PATH_BUCKETS),
        ],
        dim=1,
    )


def label_pairs(labels: Int[Tensor, "B N"]) -> Int[Tensor, "B N N"]:
    """One number for the two labels of each pair, the same in both directions."""
    hashed = _mix(labels)
    return hashed[:, :, None] + hashed[:, None, :]


def _count(keys: Int[Tensor, "B ..."], real: Tensor, buckets: int) -> Float[Tensor, "B n"]:
    """How many real entries of each graph fall into each bucket."""
    places = keys.flatten(1).remainder(buckets)
    counts = torch.zeros(len(keys), buckets, device=keys.device)
    return counts.scatter_add_(1, places, real.flatten(1).to(counts))


def _mix(values: Int[Tensor, "..."]) -> Int[Tensor, "..."]:
    """Scramble 64-bit integers; overflow wraps around."""
    for multiplier in _MULTIPLIERS:
        values = (values + 1) * _signed(multiplier)
        values = values ^ (values >> _SHIFT)
    return values


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
