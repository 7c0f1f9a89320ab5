"""Orbits are those of the automorphism group, found by brute force on small graphs."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grale.graphs.graph import Graph
from grale.metrics.symmetry import orbit_sizes, orbits


def orbits_by_brute_force(graph: Graph) -> set[frozenset[int]]:
    together = np.eye(graph.num_nodes, dtype=bool)
    for order in permutations(range(graph.num_nodes)):
        if graph.permuted(np.array(order)) == graph:
            for node, image in enumerate(order):
                together[node, image] = True
    return {frozenset(np.flatnonzero(row).tolist()) for row in together}


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_orbits_are_those_of_all_symmetries(seed: int, directed: bool) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 6))
    pairs = [
        (i, k) for i in range(size) for k in range(size)
        if (i != k if directed else i < k) and rng.random() < 0.5
    ]  # fmt: skip
    graph = Graph(rng.integers(0, 2, size), pairs, rng.integers(1, 3, len(pairs)), directed)
    assert {frozenset(orbit) for orbit in orbits(graph)} == orbits_by_brute_force(graph)


def test_sizes_of_a_ring_and_of_a_marked_ring() -> None:
    ring = [(i, (i + 1) % 6) for i in range(6)]
    assert orbit_sizes(Graph([0] * 6, ring)).tolist() == [6] * 6
    assert orbit_sizes(Graph([1, 0, 0, 0, 0, 0], ring)).tolist() == [1, 2, 2, 1, 2, 2]
