"""Encoder of PIGVAE: graph -> latent and node states (Winter et al. 2021, "Encoder").

    M      = layers(one-hot edge class, one-hot labels of both ends), with an embedding node v_0
    z      = Linear(ReLU(m_00)),   or mu and log sigma^2
    node i = m_ii

v_0 has its own node column, and pairs that touch it have their own edge column.

Departures: pairs (i, i) have no edge class, so that node states differ from the first layer on.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import one_hot, pad

from grale.graphs.batch import GraphBatch
from grale.graphs.space import GraphSpace
from grale.nn.attention import full_precision
from grale.nn.gaussian import GaussianLatent
from grale.rivals.pigvae.config import PigvaeConfig
from grale.rivals.pigvae.layers import MessageStack, node_states


class PigvaeEncoded(NamedTuple):
    """Output of the encoder."""

    nodes: Float[Tensor, "B N d"]
    latent: Float[Tensor, "B Z"]
    """Embedding; the mean, if the model is variational."""
    posterior: GaussianLatent | None
    """Distribution of the latent, if the model is variational."""

    def draw(self, noise: Float[Tensor, "B z"]) -> Float[Tensor, "B Z"]:
        """Latent to train on: mu + sigma noise, or the embedding itself."""
        return self.latent if self.posterior is None else self.posterior.sample(noise)


class PigvaeEncoder(nn.Module):
    """Message layers over the graph and its embedding node."""

    def __init__(self, space: GraphSpace, config: PigvaeConfig) -> None:
        super().__init__()
        self.num_node_columns = space.num_node_labels + 1
        self.num_edge_columns = space.num_edge_classes + 1
        self.stack = MessageStack(self.num_edge_columns, self.num_node_columns, config)
        self.is_variational, self.latent_dim = config.is_variational, config.latent_dim
        width = 2 * config.latent_dim if config.is_variational else config.latent_dim
        self.bottleneck = nn.Linear(config.message_dim, width)

    def forward(self, graphs: GraphBatch) -> PigvaeEncoded:
        """Encode graphs; only dropout is random."""
        node_labels = pad(graphs.node_labels, (1, 0), value=self.num_node_columns - 1)
        edge_labels = pad(graphs.edge_labels, (1, 0, 1, 0), value=self.num_edge_columns - 1)
        node_mask = pad(graphs.node_mask, (1, 0), value=True)
        pairs = self._edge_columns(edge_labels)
        ends = one_hot(node_labels, self.num_node_columns).to(pairs.dtype)
        states = node_states(self.stack(pairs, ends, node_mask))
        latent = self.bottleneck(states[:, 0].relu())
        if not self.is_variational:
            return PigvaeEncoded(states[:, 1:], latent, None)
        posterior = GaussianLatent(*full_precision(latent).split(self.latent_dim, dim=1))
        return PigvaeEncoded(states[:, 1:], posterior.mean, posterior)

    def _edge_columns(self, edge_labels: Int[Tensor, "B N N"]) -> Float[Tensor, "B N N n_c"]:
        columns = one_hot(edge_labels, self.num_edge_columns).to(self.bottleneck.weight.dtype)
        others = 1 - torch.eye(columns.shape[1], dtype=columns.dtype, device=columns.device)
        return columns * others[..., None]
