"""SimGRACE: contrast with a perturbed encoder, no augmentation (Xia et al. 2022).

    theta'_l = theta_l + eta N(0, std(theta_l)^2)        each tensor of weights of the encoder
    z_i      = projector(f(G_i; theta)),   z'_i = projector(f(G_i; theta')), without gradient
    loss     = - mean_i log [ exp(cos(z_i, z'_i) / tau) / sum_{k != i} exp(cos(z_i, z'_k) / tau) ]

f is a GIN of five layers; the mean of its last node states is the embedding, before the projector.

Departures: messages carry embedded edge labels through a ReLU (GINE of torch_geometric), where the
original adds them without one and adds self-loops. The perturbed pass leaves no trace in the
running statistics of BatchNorm, as in the original, where it has its own.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import cosine_similarity

from grale.codec.graph_embedder import GraphEmbedder
from grale.graphs.batch import GraphBatch
from grale.graphs.flat import flatten, num_message_kinds
from grale.graphs.space import GraphSpace
from grale.nn.gin import GinEncoder, mean_over_graphs
from grale.rivals.simgrace.config import SimgraceConfig

NUM_SEEDS = 1 << 24  # whole numbers that float32 holds exactly


class SimGRACE(GraphEmbedder):
    """Encoder trained to tell graphs apart although its weights are disturbed."""

    architecture = "simgrace"
    config_class = SimgraceConfig
    groups_by_size = False  # negatives are other graphs, of any size

    def __init__(self, space: GraphSpace, config: SimgraceConfig) -> None:
        super().__init__(space, config)
        dim = config.hidden_dim
        self.encoder = GinEncoder(
            space.num_node_labels, dim, config.num_layers, num_message_kinds(space)
        )
        self.projector = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))

    @property
    def latent_dim(self) -> int:
        """Length of one embedding row."""
        return self.config.hidden_dim

    def vectors_of(self, graphs: GraphBatch) -> Float[Tensor, "B Z"]:
        """Mean of the last node states."""
        flat = flatten(graphs, self.space.num_edge_labels)
        states = self.encoder(flat.labels, flat.ends, flat.kinds)
        return mean_over_graphs(states[-1], flat.owner, flat.num_graphs)

    def losses(
        self,
        graphs: GraphBatch,
        noise: Float[Tensor, "B 1"],
        properties: Float[Tensor, "B p"] | None = None,
    ) -> dict[str, Float[Tensor, ""]]:
        """Loss, and how often a graph is nearest to its own perturbed embedding."""
        plain = self.projector(self.vectors_of(graphs))
        with torch.no_grad():
            generator = torch.Generator().manual_seed(int(noise[0, 0]))
            other = self.projector(self.disturbed(graphs, self.perturbed_weights(generator)))
        similarity = cosine_similarity(plain[:, None], other[None], dim=-1)
        own = similarity.detach().argmax(dim=1) == torch.arange(len(graphs), device=plain.device)
        return {
            "loss": contrast(similarity / self.config.temperature),
            "found": own.float().mean(),
        }

    def draw_noise(self, count: int, generator: torch.Generator) -> Float[Tensor, "B 1"]:
        """Seed of the perturbation: one for all graphs, since all share the weights."""
        shape = (1, 1)
        seed = torch.randint(NUM_SEEDS, shape, generator=generator, device=generator.device)
        return seed.float().expand(count, 1)

    def perturbed_weights(self, generator: torch.Generator) -> dict[str, Tensor]:
        """theta': the weights of the encoder with noise as large as their own spread."""
        eta = self.config.perturbation
        return {
            name: weight + eta * weight.std() * _normal_like(weight, generator)
            for name, weight in self.encoder.named_parameters()
        }

    def disturbed(self, graphs: GraphBatch, weights: dict[str, Tensor]) -> Float[Tensor, "B Z"]:
        """Embeddings under other weights; nothing of the encoder changes."""
        flat = flatten(graphs, self.space.num_edge_labels)
        statistics = {name: buffer.clone() for name, buffer in self.encoder.named_buffers()}
        inputs = (flat.labels, flat.ends, flat.kinds)
        states = functional_call(self.encoder, (weights, statistics), inputs)
        return mean_over_graphs(states[-1], flat.owner, flat.num_graphs)


def _normal_like(weight: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randn(weight.shape, generator=generator).to(weight)


def contrast(logits: Float[Tensor, "B B"]) -> Float[Tensor, ""]:
    """- mean_i log [exp(s_ii) / sum_{k != i} exp(s_ik)]: the positive is not in the denominator."""
    if len(logits) < 2:
        raise ValueError("a batch of one graph has no negatives; use batches of at least 2")
    own = torch.eye(len(logits), dtype=torch.bool, device=logits.device)
    negatives = logits.masked_fill(own, float("-inf")).logsumexp(dim=1)
    return (negatives - logits.diagonal()).mean()
