"""Hypothesis strategies: random graphs, orders, plans and masks."""

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st

from grale.graphs.graph import Graph
from reference.transport_reference import plain_sinkhorn

unhurried = settings(deadline=None, max_examples=30)  # shape checks are slow on a busy machine

seeds = st.integers(0, 2**32 - 1)


@st.composite
def graphs(draw, directed=None, max_nodes=7, num_node_labels=3, num_edge_labels=3):
    """Labelled graphs of 1 to `max_nodes` nodes, often disconnected, sometimes directed."""
    if directed is None:
        directed = draw(st.booleans())
    num_nodes = draw(st.integers(1, max_nodes))
    rng = np.random.default_rng(draw(seeds))
    density = draw(st.sampled_from([0.0, 0.15, 0.4, 0.8]))
    return random_graph(rng, num_nodes, directed, num_node_labels, num_edge_labels, density)


@st.composite
def graph_lists(draw, max_graphs=5, **options):
    """Lists of graphs of several sizes, all directed or all undirected."""
    directed = draw(st.booleans())
    one = graphs(directed=directed, **options)
    return draw(st.lists(one, min_size=1, max_size=max_graphs))


@st.composite
def graphs_in_two_orders(draw, **options):
    """A graph and an order of its nodes."""
    graph = draw(graphs(**options))
    return graph, draw(st.permutations(range(graph.num_nodes)))


@st.composite
def plans(draw, num_plans=2, max_nodes=5):
    """Bistochastic plans, from nearly uniform to nearly hard, in float64."""
    num_nodes = draw(st.integers(1, max_nodes))
    sharpness = draw(st.sampled_from([0.1, 1.0, 4.0]))
    return random_plans(generator_from(draw(seeds)), num_plans, num_nodes, sharpness)


@st.composite
def masks(draw, shape):
    """Boolean tensors that contain both values."""
    size = int(np.prod(shape))
    flat = torch.tensor(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    first = draw(st.integers(0, size - 1))
    second = draw(st.integers(0, size - 2))
    flat[first] = True
    flat[second + (second >= first)] = False
    assert bool(flat.any())
    assert not bool(flat.all())
    return flat.reshape(shape)


def generator_from(seed):
    return torch.Generator().manual_seed(seed)


def random_graph(
    rng, num_nodes=None, directed=False, num_node_labels=4, num_edge_labels=2, density=None
):
    """A graph of given or random size, often disconnected; the one that all tests draw."""
    num_nodes = int(rng.integers(1, 13)) if num_nodes is None else num_nodes
    density = rng.uniform(0.1, 0.7) if density is None else density
    labels = rng.integers(0, num_node_labels, num_nodes)
    matrix = rng.integers(1, num_edge_labels + 1, (num_nodes, num_nodes))
    matrix *= rng.random(matrix.shape) < density
    matrix = matrix * (1 - np.eye(num_nodes, dtype=np.int64)) if directed else np.triu(matrix, 1)
    return Graph.from_label_matrix(labels, matrix if directed else matrix + matrix.T, directed)


def random_plans(generator, num_plans, num_nodes, sharpness=1.0):
    scores = torch.randn(num_plans, num_nodes, num_nodes, generator=generator, dtype=torch.float64)
    return plain_sinkhorn((sharpness * scores).exp(), num_sweeps=300)
