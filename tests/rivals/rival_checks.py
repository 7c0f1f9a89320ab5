"""What every rival owes, whatever it is."""

import numpy as np
import torch

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from strategies import random_graph

SPACES = {
    directed: GraphSpace(max_nodes=9, num_node_labels=3, num_edge_labels=2, directed=directed)
    for directed in (False, True)
}
ATOL_FLOAT32 = 1e-4  # sums of some hundred terms of order one, through several layers


def batch_of(rng, sizes, directed):
    """Random graphs of these sizes, in one of `SPACES`."""
    return GraphBatch.from_graphs([random_graph(rng, n, directed, 3, 2, 0.5) for n in sizes])


def with_statistics(model):
    """The model for inference; its running statistics are not those it was made with."""
    others = batch_of(np.random.default_rng(5), (2, 3, 5, 8, 9), model.space.directed)
    losses_of(model, others)
    return model.eval()


def losses_of(model, batch, seed=3):
    """Losses of a batch under the noise of a seed."""
    return model.losses(batch, model.draw_noise(len(batch), torch.Generator().manual_seed(seed)))


def gaps_of_changes(model):
    """Distances of a graph's embedding from itself, and from those of four others.

    One has another node label, one another edge, one another edge label, one another direction.
    """
    directed = model.space.directed
    graphs = [
        Graph([0, 1, 2], [(0, 1), (1, 2)], [1, 1], directed),
        Graph([0, 1, 1], [(0, 1), (1, 2)], [1, 1], directed),
        Graph([0, 1, 2], [(0, 1), (0, 2)], [1, 1], directed),
        Graph([0, 1, 2], [(0, 1), (1, 2)], [1, 2], directed),
        Graph([0, 1, 2], [(1, 0), (1, 2)], [1, 1], directed),
    ]
    latents = torch.from_numpy(model.encode(graphs))
    return torch.cdist(latents, latents)[0]


def check_padding(model, batch, training):
    """Padding more changes neither the losses nor the running statistics."""
    model.train(training)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    narrow = losses_of(model, batch)
    buffers = {name: value.clone() for name, value in model.named_buffers()}
    model.load_state_dict(state)
    wide = losses_of(model, batch.padded_to(model.space.max_nodes))
    assert model.space.max_nodes > batch.max_nodes
    for name, value in narrow.items():
        torch.testing.assert_close(wide[name], value, atol=ATOL_FLOAT32, rtol=ATOL_FLOAT32)
    for name, value in model.named_buffers():
        torch.testing.assert_close(value, buffers[name], atol=ATOL_FLOAT32, rtol=ATOL_FLOAT32)
