import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grale.graphs.batch import GraphBatch
from grale.graphs.permute import (
    gather_edges,
    gather_nodes,
    inverse_permutation,
    permutation_to_plan,
    permute_batch,
    random_permutations,
)
from strategies import generator_from, graph_lists, seeds, unhurried


def batch_and_order(listed, seed):
    """A padded batch of the graphs and an order of the real nodes of each."""
    batch = GraphBatch.from_graphs(listed, 8)
    return batch, random_permutations(batch.num_nodes, 8, generator_from(seed))


def random_orders(seed, batch=3, width=6):
    return torch.rand(batch, width, generator=generator_from(seed)).argsort(dim=1)


@pytest.mark.slow
@given(graph_lists(), seeds)
@unhurried
def test_permuting_a_batch_is_permuting_each_graph(listed, seed):
    batch, order = batch_and_order(listed, seed)
    moved = permute_batch(batch, order).to_graphs()
    expected = [g.permuted(row[: g.num_nodes].tolist()) for g, row in zip(listed, order)]
    assert moved == expected


@pytest.mark.slow
@given(graph_lists(), seeds)
@unhurried
def test_the_inverse_permutation_undoes_a_permutation(listed, seed):
    batch, order = batch_and_order(listed, seed)
    inverse = inverse_permutation(order)
    assert permute_batch(permute_batch(batch, order), inverse).to_graphs() == listed
    assert gather_nodes(order, inverse).tolist() == [list(range(8))] * len(listed)


def test_a_permutation_applied_twice_is_not_its_own_inverse():
    """Control of the test above."""
    order = torch.tensor([[1, 2, 0]])
    values = torch.arange(3)[None]
    assert not torch.equal(gather_nodes(gather_nodes(values, order), order), values)


@given(seeds)
@unhurried
def test_a_plan_times_values_is_gathering_by_its_permutation(seed):
    order = random_orders(seed)
    nodes = torch.randn(3, 6, 2, generator=generator_from(seed))
    edges = torch.randn(3, 6, 6, generator=generator_from(seed))
    plan = permutation_to_plan(order)
    assert torch.equal(plan @ nodes, gather_nodes(nodes, order))
    assert torch.equal(plan @ edges @ plan.transpose(1, 2), gather_edges(edges, order))


def test_a_transposed_plan_gathers_by_the_inverse_and_not_by_the_permutation():
    """Control: the direction of the plan is rows for inputs, columns for slots."""
    order = torch.tensor([[2, 0, 1]])
    values = torch.randn(1, 3, 2, generator=generator_from(0))
    moved = permutation_to_plan(order).transpose(1, 2) @ values
    assert torch.equal(moved, gather_nodes(values, inverse_permutation(order)))
    assert not torch.equal(moved, gather_nodes(values, order))


@pytest.mark.parametrize("trailing", [(), (1,), (3,), (2, 4)])
def test_gathering_keeps_the_dimensions_behind(trailing):
    order = random_orders(1)
    nodes = torch.randn(3, 6, *trailing, generator=generator_from(2))
    edges = torch.randn(3, 6, 6, *trailing, generator=generator_from(2))
    for b, i, k in [(0, 0, 5), (1, 3, 3), (2, 4, 1)]:
        assert torch.equal(gather_nodes(nodes, order)[b, i], nodes[b, order[b, i]])
        assert torch.equal(gather_edges(edges, order)[b, i, k], edges[b, order[b, i], order[b, k]])


def test_gathering_may_pick_fewer_rows_than_there_are():
    values = torch.tensor([[10, 11, 12]])
    assert gather_nodes(values, torch.tensor([[2, 0]])).tolist() == [[12, 10]]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), seeds)
@unhurried
def test_random_permutations_order_real_nodes_and_leave_padding_last(sizes, seed):
    orders = random_permutations(torch.tensor(sizes), 9, generator_from(seed))
    for size, order in zip(sizes, orders.tolist()):
        assert sorted(order[:size]) == list(range(size))
        assert order[size:] == list(range(size, 9))


def test_random_permutations_reach_every_order_about_equally_often():
    orders = random_permutations(torch.full((6000,), 3), 5, generator_from(0))
    counts = torch.stack(
        [
            (orders[:, :3] == torch.tensor(p)).all(1).sum()
            for p in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0])
        ]
    )
    assert int(counts.sum()) == 6000
    five_sigma = 5 * (6000 * 1 / 6 * 5 / 6) ** 0.5
    assert (counts - 1000).abs().max() < five_sigma


def test_the_same_generator_state_gives_the_same_permutations():
    sizes = torch.full((4,), 8)
    first, second, other = (random_permutations(sizes, 8, generator_from(s)) for s in (3, 3, 4))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)
