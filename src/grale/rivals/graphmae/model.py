"""GraphMAE: hidden labels are guessed from the rest of the graph (Hou et al. 2022).

    H      = encoder(G with a mask token in place of the labels of hidden nodes)
    H'     = W PReLU(H), zero in the rows of hidden nodes              ("re-mask")
    x_hat  = GIN(H'),  one layer
    loss   = mean over hidden nodes of (1 - cos(x_hat_i, x_i))^alpha,  x_i the one-hot label

int(n / 4) + 1 of n nodes are hidden. The encoder is a GIN of five layers; the mean of its last node
states, with nothing hidden, is the embedding. It cannot be decoded: the decoder needs node states.

Departures: messages carry embedded edge labels through a ReLU (GINE of torch_geometric), where the
original adds them without one and adds self-loops.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, one_hot

from grale.codec.graph_embedder import GraphEmbedder
from grale.graphs.batch import GraphBatch
from grale.graphs.flat import FlatGraphs, flatten, num_message_kinds
from grale.graphs.space import GraphSpace
from grale.nn.gin import GinEncoder, GinLayer, GinShape, mean_over_graphs
from grale.rivals.graphmae.config import GraphmaeConfig


class GraphMAE(GraphEmbedder):
    """Masked autoencoder of node labels."""

    adam_weights: ClassVar = ("decoder",)

    architecture = "graphmae"
    config_class = GraphmaeConfig
    groups_by_size = False  # batch normalisation would take away what sizes have in common

    def __init__(self, space: GraphSpace, config: GraphmaeConfig) -> None:
        super().__init__(space, config)
        dim, num_kinds = config.hidden_dim, num_message_kinds(space)
        self.mask_token = space.num_node_labels  # one more label
        self.encoder = GinEncoder(self.mask_token + 1, dim, config.num_layers, num_kinds)
        self.to_decoder = nn.Sequential(nn.PReLU(), nn.Linear(dim, dim, bias=False))
        self.decoder = GinLayer(GinShape(dim, 2 * dim, space.num_node_labels, num_kinds))

    @property
    def latent_dim(self) -> int:
        """Length of one embedding row."""
        return self.config.hidden_dim

    def vectors_of(self, graphs: GraphBatch) -> Float[Tensor, "B Z"]:
        """Mean of the last node states."""
        flat = flatten(graphs, self.space.num_edge_labels)
        states = self.encoder(flat.labels, flat.ends, flat.kinds)[-1]
        return mean_over_graphs(states, flat.owner, flat.num_graphs)

    def losses(
        self,
        graphs: GraphBatch,
        noise: Float[Tensor, "B N"],
        properties: Float[Tensor, "B p"] | None = None,
    ) -> dict[str, Float[Tensor, ""]]:
        """Loss, and the share of hidden labels that are guessed."""
        flat = flatten(graphs, self.space.num_edge_labels)
        noise = noise[:, : graphs.max_nodes]
        is_hidden = hidden_nodes(graphs.node_mask, noise, self.config.mask_share)[graphs.node_mask]
        guesses, labels = self.guessed(flat, is_hidden)[is_hidden], flat.labels[is_hidden]
        guessed = (guesses.detach().argmax(dim=1) == labels).float().mean()
        loss = scaled_cosine_error(guesses, labels, self.config.error_power)
        return {"loss": loss, "guessed": guessed}

    def guessed(self, flat: FlatGraphs, is_hidden: Bool[Tensor, " M"]) -> Float[Tensor, "M n_f"]:
        """x_hat of all nodes, some of them hidden."""
        labels = flat.labels.masked_fill(is_hidden, self.mask_token)
        states = self.to_decoder(self.encoder(labels, flat.ends, flat.kinds)[-1])
        states = states.masked_fill(is_hidden[:, None], 0.0)
        return self.decoder(states, flat.ends, flat.kinds)

    def draw_noise(self, count: int, generator: torch.Generator) -> Float[Tensor, "B N"]:
        """A number for each node; those with the least are hidden."""
        shape = (count, self.space.max_nodes)
        return torch.rand(shape, generator=generator, device=generator.device)


def hidden_nodes(
    node_mask: Bool[Tensor, "B N"], noise: Float[Tensor, "B N"], share: float
) -> Bool[Tensor, "B N"]:
    """Which nodes are hidden: int(share * n) + 1 of n, at most all, those with the least noise."""
    ranks = noise.masked_fill(~node_mask, float("inf")).argsort(dim=1).argsort(dim=1)
    count = (share * node_mask.sum(dim=1)).long() + 1
    return node_mask & (ranks < count[:, None])


def scaled_cosine_error(
    guesses: Float[Tensor, "M n_f"], labels: Int[Tensor, " M"], power: float
) -> Float[Tensor, ""]:
    """Mean of (1 - cos(x_hat, one-hot x))^alpha."""
    targets = one_hot(labels, guesses.shape[1]).to(guesses)
    return (1 - cosine_similarity(guesses, targets, dim=1)).pow(power).mean()
