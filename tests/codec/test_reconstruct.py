"""Reconstructions and matches: graphs, and which of their nodes belong together."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from grale.codec.options import CodecOptions
from grale.codec.reconstruct import reconstruct
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.metrics.edit_distance import apply_edits, edit_distance
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE
from model.sample_graphs import shuffled
from strategies import random_graph

TOO_LARGE = Graph([0] * 13)


@pytest.mark.slow
def test_reconstructions_are_the_decoded_graphs_in_another_node_order(tiny_model, graphs):
    decoded = tiny_model.decode(tiny_model.encode(graphs))
    again = tiny_model.reconstruct(graphs)
    assert len(again) == len(graphs)
    assert all(is_isomorphic(first, second) for first, second in zip(decoded, again))
    assert any(first != second for first, second in zip(decoded, again))


@pytest.mark.slow
def test_mappings_say_which_decoded_node_plays_each_input(tiny_model, graphs):
    found, mappings, latents = reconstruct(tiny_model, graphs, CodecOptions(batch_size=7))
    assert np.array_equal(latents, tiny_model.encode(graphs, batch_size=7))
    for graph, again, mapping in zip(graphs, found, mappings, strict=True):
        assert mapping.shape == (graph.num_nodes,)
        assert mapping.dtype == np.int64
        matched = mapping[mapping >= 0]
        assert (mapping >= -1).all()
        assert (mapping < again.num_nodes).all()
        # matched nodes come first and in the input's order, the others after them
        assert np.array_equal(matched, np.arange(len(matched)))
        edit_distance(graph, again, mapping)  # raises for an invalid mapping


@pytest.mark.slow
def test_matched_nodes_carry_what_their_slot_says(tiny_model, graphs):
    """Slot permutation[i] plays input node i: its label is found at mapping[i]."""
    graph = next(g for g in graphs if g.num_nodes == 7)
    found, (mapping,), _ = reconstruct(tiny_model, [graph])
    batch = GraphBatch.from_graphs([graph])
    with torch.no_grad():
        nodes, latent = tiny_model.encoder(tiny_model.featurizer(batch), tiny_model.matcher)[:2]
        slots, logits, _ = tiny_model.decoder(latent)
        permutation = tiny_model.matcher.hard(nodes, slots)[0]
    likely = logits.most_likely(directed=False)
    assert likely.node_mask[0, permutation[:7]].any()
    labels = found[0].label_matrix()
    for i in range(7):
        slot = permutation[i]
        assert (mapping[i] >= 0) == bool(likely.node_mask[0, slot])
        if mapping[i] < 0:
            continue
        assert found[0].node_labels[mapping[i]] == likely.node_labels[0, slot]
        for k in range(7):
            if mapping[k] >= 0:
                edge = likely.edge_labels[0, slot, permutation[k]]
                assert labels[mapping[i], mapping[k]] == edge


@pytest.mark.slow
def test_reconstructed_graphs_do_not_depend_on_node_order(tiny_model, graphs, rng):
    moved = [shuffled(graph, rng) for graph in graphs]
    first, second = tiny_model.reconstruct(graphs), tiny_model.reconstruct(moved)
    assert all(is_isomorphic(one, other) for one, other in zip(first, second))
    assert not all(is_isomorphic(one, other) for one, other in zip(first, first[1:]))


@pytest.mark.slow
@pytest.mark.parametrize("affinity", ["l1", "sphere"])
def test_matching_a_graph_with_itself_in_another_order_costs_nothing(
    space, tiny_config, graphs, rng, affinity
):
    torch.manual_seed(0)
    matcher = replace(tiny_config.matcher, affinity=affinity)
    model = GRALE(space, replace(tiny_config, matcher=matcher))
    for graph in graphs:
        order = rng.permutation(graph.num_nodes)
        found = model.match(graph, graph.permuted(order))
        assert found.edit_distance == 0, (graph, found.mapping)
        assert found.edits == []
        assert np.array_equal(np.sort(found.mapping), np.arange(graph.num_nodes))


@pytest.mark.slow
def test_a_match_is_a_valid_mapping_and_counts_its_edits(tiny_model, graphs, rng):
    costs = []
    for first, second in zip(graphs, rng.permutation(len(graphs))):
        second = graphs[second]
        found = tiny_model.match(first, second)
        assert found.mapping.shape == (first.num_nodes,)
        matched = found.mapping[found.mapping >= 0]
        assert len(np.unique(matched)) == len(matched)
        assert (matched < second.num_nodes).all()
        assert found.edit_distance == len(found.edits)
        assert found.edit_distance == edit_distance(first, second, found.mapping)
        assert is_isomorphic(apply_edits(first, found.edits), second)
        costs.append(found.edit_distance)
    assert max(costs) > 0


def test_a_larger_graph_loses_nodes_in_a_match(tiny_model, rng):
    large, small = random_graph(rng, 9), random_graph(rng, 4)
    assert (tiny_model.match(large, small).mapping == -1).sum() >= 5
    assert tiny_model.match(small, large).mapping.shape == (4,)


@pytest.mark.slow
def test_graphs_that_cannot_be_reconstructed_leave_a_gap_or_are_left_out(tiny_model) -> None:
    items = [TOO_LARGE, Graph([0, 1], [(0, 1)]), Graph([2])]
    good = tiny_model.reconstruct(items[1:])
    assert tiny_model.reconstruct(items, on_error="null") == [None, *good]
    assert tiny_model.reconstruct(items, on_error="skip") == good
    with pytest.raises(ValueError, match="item 0"):
        tiny_model.reconstruct(items)
