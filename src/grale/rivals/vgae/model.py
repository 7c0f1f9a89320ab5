"""VGAE: a variational autoencoder of the nodes of a graph (Kipf and Welling 2016).

    H          = ReLU(GCN(X)),   mu = GCN(H),   log sigma = GCN(H)
    z_i        = mu_i + sigma_i * noise,   p(A_ij = 1) = sigmoid(z_i . z_j)
    loss       = norm * mean_ij BCE(A_ij, p_ij; positives weighted)
               + 1/n mean_i KL(q(z_i) || N(0, I))
    embedding  = sum_i mu_i

For a graph of n nodes with m entries of A + I, positives weigh (n^2 - m) / m and norm is
n^2 / (2 (n^2 - m)): half the mean over edges plus half the mean over other pairs. Latents belong to
nodes, so no graph comes back from the embedding. The sum is how the GRALE paper says such models
embed whole graphs.

Departures: trained on many graphs, one adjacency matrix each, where the original has one graph.
Labels of edges and their direction are not seen, as by the original; a graph without other pairs
has the first half of the loss alone.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import one_hot, softplus

from grale.codec.graph_embedder import GraphEmbedder
from grale.graphs.batch import GraphBatch
from grale.graphs.flat import FlatGraphs, flatten, padded
from grale.graphs.space import GraphSpace
from grale.nn.attention import full_precision
from grale.nn.gaussian import GaussianLatent
from grale.nn.gin import sum_over_graphs
from grale.rivals.vgae.config import VgaeConfig

MOST_LOG_STD = 10.0  # as in torch_geometric; its exponential stays finite


class VGAE(GraphEmbedder):
    """Variational graph autoencoder with an inner-product decoder."""

    adam_weights: ClassVar = ("first",)

    architecture = "vgae"
    config_class = VgaeConfig

    def __init__(self, space: GraphSpace, config: VgaeConfig) -> None:
        super().__init__(space, config)
        self.first = _convolution(space.num_node_labels, config.hidden_dim)
        self.mean = _convolution(config.hidden_dim, config.latent_dim)
        self.log_std = _convolution(config.hidden_dim, config.latent_dim)

    @property
    def latent_dim(self) -> int:
        """Length of one embedding row."""
        return self.config.latent_dim

    def vectors_of(self, graphs: GraphBatch) -> Float[Tensor, "B Z"]:
        """Sum of the means of the nodes' latents."""
        flat = flatten(undirected(graphs), self.space.num_edge_labels)
        return sum_over_graphs(self.posterior(flat).mean, flat.owner, flat.num_graphs)

    def posterior(self, flat: FlatGraphs) -> GaussianLatent:
        """q(z_i) of all nodes."""
        labels = one_hot(flat.labels, self.space.num_node_labels).to(next(self.parameters()))
        hidden = self.first(labels, flat.ends).relu()
        log_std = full_precision(self.log_std(hidden, flat.ends)).clamp(max=MOST_LOG_STD)
        return GaussianLatent(full_precision(self.mean(hidden, flat.ends)), 2 * log_std)

    def losses(
        self,
        graphs: GraphBatch,
        noise: Float[Tensor, "B N Z"],
        properties: Float[Tensor, "B p"] | None = None,
    ) -> dict[str, Float[Tensor, ""]]:
        """Total, and both terms."""
        graphs = undirected(graphs)
        posterior = self.posterior(flatten(graphs, self.space.num_edge_labels))
        nodes = posterior.sample(noise[:, : graphs.max_nodes][graphs.node_mask])
        latents = padded(nodes, graphs.node_mask)
        adjacency = adjacency_loss(graphs, latents @ latents.transpose(1, 2)).mean()
        per_node = padded(posterior.divergence()[:, None], graphs.node_mask)[..., 0]
        divergence = (per_node.sum(dim=1) / graphs.num_nodes.square()).mean()
        loss = adjacency + self.config.kl_weight * divergence
        return {"loss": loss, "adjacency": adjacency.detach(), "kl": divergence.detach()}

    def draw_noise(self, count: int, generator: torch.Generator) -> Float[Tensor, "B N Z"]:
        """Standard normal noise on the latents of all nodes."""
        shape = (count, self.space.max_nodes, self.latent_dim)
        return torch.randn(shape, generator=generator, device=generator.device)


def undirected(graphs: GraphBatch) -> GraphBatch:
    """The same graphs with every edge in both directions."""
    labels = torch.maximum(graphs.edge_labels, graphs.edge_labels.transpose(1, 2))
    return GraphBatch(graphs.node_mask, graphs.node_labels, labels)


def adjacency_loss(graphs: GraphBatch, logits: Float[Tensor, "B N N"]) -> Float[Tensor, " B"]:
    """Half the mean over entries of A + I, and half the mean over the other pairs of a graph."""
    diagonal = torch.eye(graphs.max_nodes, dtype=torch.bool, device=logits.device)
    edges = (graphs.adjacency | diagonal) & graphs.edge_mask
    others = ~edges & graphs.edge_mask

    def mean(values: Float[Tensor, "B N N"], mask: Tensor) -> Float[Tensor, " B"]:
        return (values * mask).sum(dim=(1, 2)) / mask.sum(dim=(1, 2)).clamp_min(1)

    return (mean(softplus(-logits), edges) + mean(softplus(logits), others)) / 2


def _convolution(in_dim: int, out_dim: int) -> nn.Module:
    try:
        from torch_geometric.nn import GCNConv
    except ImportError as error:
        raise ImportError("vgae needs torch_geometric: pip install 'grale[pyg]'") from error
    return GCNConv(in_dim, out_dim)
