"""Canonical positions, graph by graph, compiled by numba (see `canonical.py`).

The torch functions of `canonical.py` are the literal version: same hashes, same order, bit for bit.
Here, one graph is finished before the next one starts, so that its pair colours stay in the nearest
cache.
"""

from __future__ import annotations

from typing import no_type_check

import numpy as np

from grale.compiled import compiled

ODD_A, ODD_B = np.int64(0x9E3779B97F4A7C15 - 2**64), np.int64(0x2545F4914F6CDD1D)
ODD_C = np.int64(0x5851F42D4C957F2D)
PAIR_ROUNDS = 3


@compiled()
@no_type_check
def positions(node_mask, node_labels, edge_labels, path_length, directed):
    """Rank of each node in the canonical order of its graph; padding comes last."""
    num_graphs, width = node_mask.shape
    out = np.empty((num_graphs, width), np.int64)
    for graph in range(num_graphs):
        real = np.flatnonzero(node_mask[graph])
        count = len(real)
        nodes, pairs = _first_colours(
            real, node_labels[graph], edge_labels[graph], path_length[graph], directed
        )
        nodes = _refine_nodes(nodes, pairs)
        if _num_colours(nodes) < count:
            nodes = _break_ties(nodes, pairs)
        order = np.argsort(nodes >> 1, kind="mergesort")
        out[graph] = count - 1
        last = count
        for place in range(width):
            if not node_mask[graph, place]:
                out[graph, place] = last
                last += 1
        for rank in range(count):
            out[graph, real[order[rank]]] = rank
    return out


@compiled()
@no_type_check
def _mix(value):
    """Scramble an integer."""
    value = (value ^ (value >> 31)) * ODD_A
    value = (value ^ (value >> 29)) * ODD_B
    return value ^ (value >> 32)


@compiled()
@no_type_check
def _first_colours(real, node_labels, edge_labels, path_length, directed):
    """Colours of nodes by label, of pairs by edge label and path length."""
    count = len(real)
    nodes, pairs = np.empty(count, np.int64), np.empty((count, count), np.int64)
    for i in range(count):
        nodes[i] = _mix(node_labels[real[i]] + 1)
        for j in range(count):
            at, to = real[i], real[j]
            pairs[i, j] = _mix(edge_labels[at, to] * 4096 + path_length[at, to] + 2)
    if directed:
        pairs = _both_ways(pairs)
    return nodes, pairs


@compiled()
@no_type_check
def _both_ways(pairs):
    """Mix the colour of the opposite pair into each pair's colour."""
    count = len(pairs)
    out = np.empty_like(pairs)
    for i in range(count):
        for j in range(count):
            out[i, j] = _mix(pairs[i, j] * 3 + pairs[j, i])
    return out


@compiled()
@no_type_check
def _num_colours(nodes):
    ordered = np.sort(nodes)
    count = 1
    for place in range(1, len(ordered)):
        count += ordered[place] != ordered[place - 1]
    return count


@compiled()
@no_type_check
def _refine_nodes(nodes, pairs):
    """Refine until the number of colours stops growing."""
    count = _num_colours(nodes)
    size = len(nodes)
    for _ in range(size):
        if count == size:
            break
        refined = np.empty_like(nodes)
        for i in range(size):
            seen = np.int64(0)
            for j in range(size):
                seen += _mix(pairs[i, j] + nodes[j])
            refined[i] = _mix(nodes[i] * ODD_C + seen)
        refined_count = _num_colours(refined)
        if refined_count <= count:
            break
        nodes, count = refined, refined_count
    return nodes


@compiled()
@no_type_check
def _refine_pairs(nodes, pairs):
    """Two-dimensional refinement: pair (i, j) sees all (pair (i, k), pair (k, j))."""
    size = len(nodes)
    pairs = pairs.copy()
    for i in range(size):
        for j in range(size):
            pairs[i, j] = _mix(pairs[i, j] + nodes[i] * ODD_C + nodes[j])
    for _ in range(PAIR_ROUNDS):
        refined = np.empty_like(pairs)
        through = np.empty(size, np.int64)
        for i in range(size):
            through[:] = 0
            for k in range(size):
                own = pairs[i, k] * ODD_C
                for j in range(size):
                    through[j] += _mix(own + pairs[k, j])
            for j in range(size):
                refined[i, j] = _mix(pairs[i, j] + through[j])
        pairs = refined
    return pairs


@compiled()
@no_type_check
def _break_ties(nodes, pairs):
    """Refine pairs, then individualise one node of the first tied class, until nothing ties."""
    pairs = _refine_pairs(nodes, pairs)
    nodes = _refine_nodes(nodes, pairs)
    while _num_colours(nodes) < len(nodes):
        chosen = _first_tied(nodes)
        nodes = nodes.copy()
        nodes[chosen] = _mix(nodes[chosen] + 1)
        nodes = _refine_nodes(nodes, pairs)
    return nodes


@compiled()
@no_type_check
def _first_tied(nodes):
    """First node of the smallest colour that several nodes have."""
    ordered = np.sort(nodes)
    for place in range(1, len(ordered)):
        if ordered[place] == ordered[place - 1]:
            break
    for node in range(len(nodes)):
        if nodes[node] == ordered[place]:
            return node
    return 0
