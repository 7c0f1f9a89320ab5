"""Solvers against brute force and networkx; edits replay to the second graph."""

from __future__ import annotations

import time
from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.graphs.graph import Graph
from grale.matching import graduated, solve
from grale.matching.affinity import affinity
from grale.matching.beam import beam_search
from grale.matching.exact import branch_and_bound
from grale.matching.local_search import edit_distance_bound
from grale.matching.peers import SOLVERS, assign, solve_by_peer
from grale.matching.problem import assignment_cost, assignment_start, lower_bound, pose
from grale.matching.tabu import tabu_search
from grale.metrics.edit_distance import apply_edits, edit_distance
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE
from strategies import random_graph


def random_pair(seed: int, most: int, directed: bool = False) -> tuple[Graph, Graph]:
    rng = np.random.default_rng(seed)
    return tuple(random_graph(rng, int(rng.integers(1, most + 1)), directed) for _ in range(2))


def distance_by_brute_force(g1: Graph, g2: Graph) -> int:
    problem = pose(g1, g2)
    orders = permutations(range(problem.size))
    return min(edit_distance(g1, g2, problem.mapping(np.array(order))) for order in orders)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_exact_is_exact_and_tabu_search_never_below(seed: int, directed: bool) -> None:
    g1, g2 = random_pair(seed, 5, directed)
    truth = distance_by_brute_force(g1, g2)
    found = solve(g1, g2, "exact")
    assert found.is_optimal
    assert found.edit_distance == truth
    assert truth >= lower_bound(g1, g2)
    assert solve(g1, g2, "tabu").edit_distance >= truth
    assert solve(g2, g1, "exact").edit_distance == truth


@pytest.mark.parametrize("seed", range(8))
def test_exact_agrees_with_networkx(seed: int) -> None:
    g1, g2 = random_pair(seed, 5)

    def same(a: dict, b: dict) -> bool:
        return a == b

    first, second = g1.to_networkx(), g2.to_networkx()
    truth = nx.graph_edit_distance(first, second, node_match=same, edge_match=same)
    assert solve(g1, g2, "exact").edit_distance == truth


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.sampled_from(["tabu", "exact"]))
def test_replaying_the_edits_gives_the_second_graph(seed: int, directed: bool, method: str) -> None:
    g1, g2 = random_pair(seed, 8, directed)
    found = solve(g1, g2, method, time_limit=1.0)
    assert len(found.edits) == found.edit_distance
    assert is_isomorphic(apply_edits(g1, found.edits), g2)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_isomorphic_graphs_and_only_they_have_distance_zero(seed: int, directed: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, int(rng.integers(1, 9)), directed)
    assert (
        solve(graph, graph.permuted(rng.permutation(graph.num_nodes)), "exact").edit_distance == 0
    )
    other = random_graph(rng, graph.num_nodes, directed)
    assert (solve(graph, other, "exact").edit_distance == 0) == is_isomorphic(graph, other)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.integers(0, 60))
def test_tabu_search_never_makes_it_worse_and_counts_right(
    seed: int, directed: bool, steps: int
) -> None:
    g1, g2 = random_pair(seed, 9, directed)
    problem = pose(g1, g2)
    start = np.random.default_rng(seed).permutation(problem.size)
    before = edit_distance(g1, g2, problem.mapping(start))
    found = tabu_search(problem, start, steps=steps)
    assert found.edit_distance == edit_distance(g1, g2, problem.mapping(found.permutation))
    assert found.edit_distance <= before
    assert found.steps <= steps
    assert sorted(found.permutation) == list(range(problem.size))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_a_wide_beam_is_exact_and_a_narrow_one_a_bound(seed: int, directed: bool) -> None:
    g1, g2 = random_pair(seed, 4, directed)
    problem = pose(g1, g2)
    truth = distance_by_brute_force(g1, g2)
    guide = assignment_cost(problem)
    costs = [
        edit_distance(g1, g2, problem.mapping(beam_search(problem, guide, width)))
        for width in (1, 100)
    ]
    assert costs[1] == truth <= costs[0]


@pytest.mark.slow
def test_the_guided_beam_never_spoils_the_learned_mapping(
    tiny_model: GRALE, coloring_graphs: list[Graph]
) -> None:
    pairs = list(zip(coloring_graphs[:6], coloring_graphs[6:12]))
    for pair in pairs:
        guided = solve(*pair, "grale+beam", model=tiny_model)
        assert guided.edit_distance <= tiny_model.match(*pair).edit_distance
    beam = sum(solve(*pair, "beam").edit_distance for pair in pairs)
    learned = sum(solve(*pair, "grale", model=tiny_model).edit_distance for pair in pairs)
    assert beam < learned  # the model is untrained


@pytest.mark.slow
def test_tabu_search_beats_descent_on_larger_graphs() -> None:
    graphs = generate_coloring(40, COLORING_VARIANTS["coloring20"], seed=3)
    pairs = list(zip(graphs[::2], graphs[1::2]))
    descent = sum(edit_distance_bound(*pair).edit_distance for pair in pairs)
    tabu = sum(solve(*pair, "tabu").edit_distance for pair in pairs)
    assert tabu < 0.97 * descent
    assert all(solve(*pair).edit_distance >= lower_bound(*pair) for pair in pairs[:5])


@pytest.mark.parametrize("method", ["tabu", "exact"])
def test_the_time_limit_is_kept(method: str) -> None:
    rng = np.random.default_rng(0)
    g1, g2 = random_graph(rng, 30), random_graph(rng, 30)
    solve(g1, g2, method, time_limit=0.05)  # compile
    began = time.perf_counter()
    found = solve(g1, g2, method, time_limit=0.3)
    assert time.perf_counter() - began < 1.5
    assert not found.is_optimal
    assert found.edit_distance >= lower_bound(g1, g2)


@pytest.mark.slow
def test_the_learned_mapping_is_a_start_that_tabu_search_never_spoils(
    tiny_model: GRALE, coloring_graphs: list[Graph]
) -> None:
    for g1, g2 in zip(coloring_graphs[:4], coloring_graphs[4:8]):
        learned = solve(g1, g2, "grale", model=tiny_model)
        assert learned.edit_distance == tiny_model.match(g1, g2).edit_distance
        searched = solve(g1, g2, "grale+tabu", time_limit=0.002, model=tiny_model)
        assert searched.edit_distance <= learned.edit_distance
        assert searched.edit_distance >= branch_and_bound(g1, g2).edit_distance


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "magic"}, "expected one of grale"),
        ({"method": "grale"}, "needs a model"),
        ({"time_limit": 0.0}, "above 0 seconds"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solve(Graph([0]), Graph([1]), **arguments)
    with pytest.raises(ValueError, match="both graphs must be directed"):
        solve(Graph([0]), Graph([0], directed=True))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_graduated_scores_equal_the_rounds_in_plain_numpy(
    rounds: int, directed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graduated, "ROUNDS", rounds)
    monkeypatch.setattr(graduated, "NOISE", 0.0)
    for seed in range(5):
        problem = pose(*random_pair(seed, 6, directed))
        a, b, n = problem.matrix1, problem.matrix2, problem.size
        unlike = (problem.labels1[:, None] != problem.labels2).astype(float)
        layers = [(a, b), (a.T, b.T)] if directed else [(a, b)]
        plan = np.full((n, n), 1 / n)
        for number in range(1, rounds + 1):
            costs = unlike.copy()
            for x, y in layers:
                differ = x[:, None, :, None] != y[None, :, None, :]
                costs += np.einsum("ijkl,kl->ij", differ, plan)
            scores = -graduated.LAST_WEIGHT * number / rounds * costs
            plan = np.exp(scores - scores.max())
            for _ in range(graduated.SWEEPS):
                plan = plan / plan.sum(axis=0)
                plan = plan / plan.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(graduated._scores(problem), scores, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_graduated_assignment_beats_the_linear_one_and_never_the_truth() -> None:
    linear, sharp = 0, 0
    for seed in range(30):
        g1, g2 = random_pair(seed, 8)
        problem = pose(g1, g2)
        found = solve(g1, g2, "graduated")
        assert found.edit_distance >= branch_and_bound(g1, g2).edit_distance
        assert is_isomorphic(apply_edits(g1, found.edits), g2)
        sharp += found.edit_distance
        linear += edit_distance(g1, g2, problem.mapping(assignment_start(problem)))
    assert sharp < linear


def test_graphs_outside_the_model_are_refused_with_a_way_out(tiny_model: GRALE) -> None:
    large, small = Graph([0] * 13), Graph([3])
    with pytest.raises(ValueError, match="the first graph has 13 nodes.*'tabu' needs no model"):
        solve(large, small, "grale", model=tiny_model)
    with pytest.raises(ValueError, match="the second graph has label 9 on node 0"):
        solve(small, Graph([9]), "grale+tabu", model=tiny_model)
    with pytest.raises(ValueError, match="the second graph has label 3 on edge"):
        solve(small, Graph([0, 0], [(0, 1)], [3]), "grale", model=tiny_model)
    assert solve(large, small, "tabu").edit_distance == 13
    with pytest.raises(ValueError, match="at least one node"):
        solve(Graph([]), small)


def test_one_node_against_many() -> None:
    many = Graph([0, 1, 2], [(0, 1), (1, 2)])
    for method in ("exact", "tabu"):
        assert solve(Graph([1]), many, method).edit_distance == 4
        assert solve(many, Graph([1]), method).edit_distance == 4
        assert solve(Graph([7]), Graph([0]), method).edit_distance == 1


@pytest.mark.parametrize("seed", range(6))
def test_the_affinity_counts_the_edits(seed: int) -> None:
    g1, g2 = sorted(random_pair(seed, 5), key=lambda graph: graph.num_nodes)
    n1, n2 = g1.num_nodes, g2.num_nodes
    matrix = affinity(g1, g2)
    assert (matrix == matrix.T).all()
    assert matrix.min() >= 0
    for order in list(permutations(range(n2), n1))[:50]:
        x = np.zeros((n1, n2))
        x[np.arange(n1), order] = 1
        vector = x.T.reshape(-1)  # index j n1 + i
        edits = n2 + n1 * (n1 - 1) / 2 + g2.num_edges - vector @ matrix @ vector
        assert edits == edit_distance(g1, g2, np.array(order))


def test_every_row_gets_a_partner_also_an_empty_one() -> None:
    assert sorted(assign(np.array([[0, 0, 0], [1, 0, 0.0]]))) in ([0, 1], [0, 2])


@pytest.mark.slow
@pytest.mark.parametrize("method", SOLVERS)
def test_peers_give_valid_mappings_and_keep_the_time_limit(method: str) -> None:
    pytest.importorskip("pygmtools")
    g1, g2 = generate_coloring(2, COLORING_VARIANTS["coloring10"], seed=4)
    for pair in ((g1, g2), (g2, g1)):
        found = solve(*pair, method, time_limit=60.0)
        assert len(found.edits) == found.edit_distance
        assert found.edit_distance >= branch_and_bound(*pair).edit_distance
        assert not found.is_optimal or found.edit_distance == lower_bound(*pair)
    assert (solve_by_peer(g1, g2, method, None) == solve_by_peer(g1, g2, method, 60.0)).all()


@pytest.mark.slow
def test_a_solver_that_takes_too_long_is_stopped() -> None:
    pytest.importorskip("pygmtools")
    rng = np.random.default_rng(0)
    g1, g2 = random_graph(rng, 20), random_graph(rng, 20)
    began = time.perf_counter()
    with pytest.raises(TimeoutError, match="astar took longer than 2 s"):
        solve(g1, g2, "astar", time_limit=2.0)
    assert time.perf_counter() - began < 60
    assert solve(Graph([0]), Graph([1]), "sm", time_limit=60.0).edit_distance == 1


def test_former_names_of_methods_are_accepted(tiny_model: GRALE) -> None:
    g1, g2 = Graph([0, 1], [(0, 1)]), Graph([1, 1], [(0, 1)])
    assert solve(g1, g2, "refine").method == "tabu"
    assert solve(g1, g2, "grale+refine", model=tiny_model).method == "grale+tabu"
    with pytest.raises(ValueError, match="method='refined'; expected one of grale, grale\\+tabu"):
        solve(g1, g2, "refined")
