"""What every encoder owes: the order of the nodes, padding and batch-mates change nothing."""

import torch
from torch import nn

from grale.graphs.batch import GraphBatch
from grale.graphs.permute import gather_nodes
from grale.model.parts import build_parts
from model.sample_graphs import permuted_inputs, random_orders


class WholeEncoder(nn.Module):
    """Featurizer, encoder and matcher of a model, called like one function."""

    def __init__(self, space, config):
        super().__init__()
        self.featurizer, self.encoder, _, self.matcher = build_parts(space, config)

    def forward(self, inputs):
        return self.encoder(inputs, self.matcher)


def with_random_noise(encoder, graphs, max_nodes=None):
    """phi(x) with noise drawn once, to be carried along with the nodes."""
    batch = GraphBatch.from_graphs(graphs, max_nodes)
    noise = encoder.featurizer.draw_noise(len(batch), torch.Generator().manual_seed(0))
    return encoder.featurizer(batch, noise)


def change_under_permutation(encoder, inputs):
    """Largest change of nodes (carried back) and latent when the inputs are permuted."""
    orders = random_orders(inputs.graphs, torch.Generator().manual_seed(0))
    with torch.no_grad():
        found = encoder(inputs)
        moved = encoder(permuted_inputs(inputs, orders))
    width = orders.shape[1]
    expected = gather_nodes(found.nodes[:, :width], orders)
    return (
        float((moved.nodes[:, :width] - expected).abs().max()),
        float((moved.latent - found.latent).abs().max()),
    )


def change_under_padding(encoder, graphs):
    """Largest change when each graph is encoded alone instead of padded among others."""
    inputs = with_random_noise(encoder, graphs, max_nodes=12)
    changes = []
    with torch.no_grad():
        together = encoder(inputs)
        for row, graph in enumerate(graphs):
            batch = GraphBatch.from_graphs([graph])
            alone = encoder.featurizer(batch, inputs.noise[row : row + 1] / 0.1)
            own = encoder(alone)
            changes += [
                (own.nodes[0] - together.nodes[row]).abs().max(),
                (own.latent[0] - together.latent[row]).abs().max(),
            ]
    return float(torch.stack(changes).max())
