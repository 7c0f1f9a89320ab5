"""Graphs in, vectors out: the same in any order, batch and mode."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from grale.graphs.graph import Graph
from grale.model.autoencoder import GRALE
from model.sample_graphs import SYMMETRIC, shuffled
from strategies import random_graph

ATOL_ORDER = 1e-4  # the same sums in another order, float32, through four stacks
ATOL_BATCH = 1e-5  # the same sums over more zeros
TOO_LARGE = Graph([0] * 13)


def largest_gap(first, second):
    return float(np.abs(first - second).max())


@pytest.mark.slow
def test_encode_gives_one_row_per_graph_in_order(tiny_model, graphs):
    latents = tiny_model.encode(graphs)
    assert latents.shape == (len(graphs), tiny_model.latent_dim) == (len(graphs), 16)
    assert latents.dtype == np.float32
    assert np.isfinite(latents).all()
    sizes = [graph.num_nodes for graph in graphs]
    assert sizes != sorted(sizes)  # they are grouped by size on the way
    alone = np.concatenate([tiny_model.encode([graph]) for graph in graphs])
    assert largest_gap(latents, alone) < ATOL_BATCH
    assert largest_gap(latents, alone[::-1]) > 100 * ATOL_BATCH


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("affinity", ["l1", "sphere"])
def test_embeddings_do_not_depend_on_node_order(space, tiny_config, graphs, rng, norm, affinity):
    matcher = replace(tiny_config.matcher, affinity=affinity)
    torch.manual_seed(1)
    model = GRALE(space, replace(tiny_config, norm=norm, matcher=matcher))
    latents = model.encode(graphs)
    moved = [shuffled(graph, rng) for graph in graphs]
    assert sum(first != second for first, second in zip(graphs, moved)) > len(graphs) // 2
    assert largest_gap(model.encode(moved), latents) < ATOL_ORDER


@pytest.mark.parametrize("name", SYMMETRIC)
def test_the_embedding_of_a_symmetric_graph_does_not_depend_on_node_order(tiny_model, rng, name):
    graph = Graph.from_networkx(SYMMETRIC[name])
    latents = tiny_model.encode([graph, *(shuffled(graph, rng) for _ in range(3))])
    assert largest_gap(latents, latents[:1]) < ATOL_ORDER


def test_directed_embeddings_do_not_depend_on_node_order(directed_model, rng):
    graphs = [random_graph(rng, size, directed=True) for size in (1, 2, 3, 5, 8)]
    moved = [shuffled(graph, rng) for graph in graphs]
    latents = directed_model.encode(graphs)
    assert largest_gap(directed_model.encode(moved), latents) < ATOL_ORDER
    reversed_graph = Graph([0, 0, 1], [(0, 2), (1, 2)], directed=True)
    forward_graph = Graph([0, 0, 1], [(2, 0), (2, 1)], directed=True)
    both = directed_model.encode([reversed_graph, forward_graph])
    assert largest_gap(both[0], both[1]) > 10 * ATOL_ORDER  # direction counts


def test_noise_by_index_would_break_the_order_test(tiny_model, graphs, rng, monkeypatch):
    featurizer = tiny_model.featurizer

    def as_numbered(batch):
        noise = featurizer.noise_table[: batch.max_nodes].expand(len(batch), -1, -1)
        return featurizer(batch, noise), torch.arange(batch.max_nodes).expand(len(batch), -1)

    monkeypatch.setattr(featurizer, "in_canonical_order", as_numbered)
    moved = [shuffled(graph, rng) for graph in graphs]
    assert largest_gap(tiny_model.encode(moved), tiny_model.encode(graphs)) > 10 * ATOL_ORDER


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [1, 3, 7, 1000])
def test_embeddings_do_not_depend_on_the_batch_size(tiny_model, graphs, batch_size):
    whole = tiny_model.encode(graphs)
    assert largest_gap(tiny_model.encode(graphs, batch_size=batch_size), whole) < ATOL_BATCH


@pytest.mark.slow
def test_embeddings_do_not_depend_on_batch_mates(tiny_model, graphs):
    backwards = tiny_model.encode(graphs[::-1], batch_size=4)[::-1]
    some = tiny_model.encode(graphs[::2])
    whole = tiny_model.encode(graphs)
    assert largest_gap(backwards, whole) < ATOL_BATCH
    assert largest_gap(some, whole[::2]) < ATOL_BATCH


def test_encoding_twice_gives_the_same_bits(tiny_model, graphs):
    assert np.array_equal(tiny_model.encode(graphs), tiny_model.encode(graphs))


@pytest.mark.parametrize("batch_size", [0, -1])
def test_a_batch_size_below_one_is_refused(tiny_model, graphs, batch_size):
    latents = tiny_model.encode(graphs[:2])
    with pytest.raises(ValueError, match=f"batch_size must be at least 1, got {batch_size}"):
        tiny_model.encode(graphs, batch_size=batch_size)
    with pytest.raises(ValueError, match="batch_size must be at least 1"):
        tiny_model.decode(latents, batch_size=batch_size)
    with pytest.raises(ValueError, match="batch_size must be at least 1"):
        tiny_model.reconstruct(graphs, batch_size=batch_size)


@pytest.mark.slow
@pytest.mark.parametrize("training", [True, False])
def test_the_model_stays_in_the_mode_it_was_in(tiny_model, graphs, training):
    tiny_model.train(training)
    latents = tiny_model.encode(graphs)
    tiny_model.decode(latents)
    tiny_model.reconstruct(graphs)
    tiny_model.match(graphs[0], graphs[1])
    with pytest.raises(ValueError, match="item 0"):
        tiny_model.encode([TOO_LARGE])
    assert all(module.training is training for module in tiny_model.modules())
    assert all(parameter.grad is None for parameter in tiny_model.parameters())


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_a_model_of_another_precision_encodes_and_decodes(tiny_model, graphs, dtype):
    single = tiny_model.encode(graphs)
    model = tiny_model.to(dtype)
    latents = model.encode(graphs)
    assert latents.dtype == np.float32
    assert largest_gap(latents, single) < (1e-4 if dtype == torch.float64 else 0.5)
    assert len(model.decode(latents)) == len(graphs)
    assert len(model.reconstruct(graphs)) == len(graphs)


@pytest.mark.slow
def test_a_graph_of_one_node_works_everywhere(tiny_model):
    dot = Graph([2])
    assert tiny_model.encode([dot]).shape == (1, 16)
    assert len(tiny_model.reconstruct([dot])) == 1
    assert tiny_model.match(dot, dot).mapping.tolist() == [0]


@pytest.mark.slow
def test_a_disconnected_graph_works_everywhere(tiny_model):
    pieces = Graph([0, 1, 2, 3, 0], [(0, 1), (3, 4)])
    joined = Graph([0, 1, 2, 3, 0], [(0, 1), (3, 4), (1, 2)])
    latents = tiny_model.encode([pieces, joined])
    assert largest_gap(latents[0], latents[1]) > 10 * ATOL_ORDER
    assert tiny_model.match(pieces, pieces).edit_distance == 0
    assert len(tiny_model.reconstruct([pieces])) == 1
