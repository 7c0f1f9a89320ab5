"""GRALE: a graph in, a vector, a graph out (paper: "GRALE architecture", algorithm "GRALE Loss").

    Z, X         = encoder(phi(x))
    G_hat, X_hat = decoder(Z)
    T            = matcher(X, X_hat)
    loss         = L_OT(phi*(x), G_hat, T)

`forward` is that algorithm on a padded batch. What users call (`encode`, `decode`, `reconstruct`)
is in `grale.codec`; `match` is here.

Departures: with pooling=transport, the encoder calls the matcher before decoding, and T is that
plan (decisions/012). Tokens may lie on a sphere and get noise in training, and a description may be
trained as well (decisions/013).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import normalize

from grale.codec.encoded_batch import EncodedBatch
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.logits import GraphLogits
from grale.codec.values import with_values
from grale.graphs.batch import GraphBatch
from grale.graphs.permute import permute_batch
from grale.graphs.space import GraphSpace
from grale.matching.result import Matching
from grale.model import pairs
from grale.model.beyond.description import DescriptionHeads, description_dim, pool_decoded
from grale.model.config import ModelConfig
from grale.model.decoder import Decoded
from grale.model.encoder import Encoded
from grale.model.featurizer import GraphInputs
from grale.model.loss import LossTerms, reconstruction_loss
from grale.model.parts import build_parts
from grale.transport.sinkhorn import SinkhornResult


class Reconstruction(NamedTuple):
    """Result of one pass over a batch."""

    decoded: Decoded
    plan: SinkhornResult
    latent: Float[Tensor, "B K D"]
    terms: LossTerms


class GRALE(GraphAutoencoder):
    """Graph-level autoencoder over the graphs of one space."""

    architecture = "grale"
    config_class = ModelConfig
    former_names: ClassVar = {
        "encoder.node_input": "encoder.backbone.node_input",
        "encoder.edge_input": "encoder.backbone.edge_input",
        "encoder.evoformer": "encoder.backbone.evoformer",
        "encoder.gin": "encoder.backbone.gin",
        "encoder.norms": "encoder.backbone.norms",
        "encoder.edge_kinds": "encoder.backbone.edge_kinds",
        "encoder.queries": "encoder.pooling.queries",
        "encoder.keys": "encoder.pooling.keys",
        "encoder.carry": "encoder.pooling.carry",
        "encoder.pool": "encoder.pooling.layers",
        "encoder.narrow": "encoder.pooling.narrow",
        "decoder.widen": "decoder.unpooling.to_width",
        "decoder.slot_input": "decoder.unpooling.to_slot",
        "decoder.edge_queries": "decoder.stack.edge_queries",
        "decoder.evoformer": "decoder.stack.layers",
        "decoder.transformer": "decoder.stack.layers",
        "decoder.pair_source": "decoder.stack.pair_source",
        "decoder.pair_target": "decoder.stack.pair_target",
        "decoder.pair_output": "decoder.stack.pair_output",
    }

    def __init__(self, space: GraphSpace, config: ModelConfig) -> None:
        super().__init__(space, config)
        self.featurizer, self.encoder, self.decoder, self.matcher = build_parts(space, config)
        self.heads = DescriptionHeads(config)

    def forward(
        self,
        graphs: GraphBatch,
        noise: Float[Tensor, "B N n"] | None = None,
        token_noise: Float[Tensor, "B K D"] | None = None,
    ) -> Reconstruction:
        """Encode, decode, match and compare; `noise` as in `Featurizer.forward`."""
        inputs = self.featurizer(graphs, noise)
        encoded = self.encoded_inputs(inputs)
        decoded = self.decoder(with_noise(encoded.latent, token_noise))
        plan = encoded.plan.soft(decoded.slots)
        targets = self.featurizer.targets(inputs)
        terms = reconstruction_loss(targets, decoded.logits, plan.log_plan, self.config.loss)
        return Reconstruction(decoded, plan, encoded.latent, terms)

    def encoded_inputs(self, inputs: GraphInputs) -> Encoded:
        """Z and X; the tokens lie on the sphere if the settings say so."""
        encoded = self.encoder(inputs, self.matcher)
        return encoded._replace(latent=self.on_sphere(encoded.latent))

    def on_sphere(self, latent: Float[Tensor, "B K D"]) -> Float[Tensor, "B K D"]:
        """The tokens, scaled to one length if the settings say so."""
        if not self.config.latent.on_sphere:
            return latent
        return normalize(latent, dim=-1) * self.config.token_dim**0.5

    def losses(
        self,
        graphs: GraphBatch,
        noise: Float[Tensor, "B R"],
        properties: Float[Tensor, "B p"] | None = None,
    ) -> dict[str, Float[Tensor, ""]]:
        """Total, each unweighted term under its name, and the marginal error."""
        result = self(graphs, *self.split_noise(noise))
        total = result.terms.total(self.config.loss)
        known = self.heads.losses(result.decoded, graphs, properties)
        for name, term in known.items():
            total = total + getattr(self.config.description, name) * term
        return {
            "loss": total,
            **result.terms.means(),
            **{name: term.detach() for name, term in known.items()},
            "marginal_error": result.plan.marginal_error.max(),
        }

    def draw_noise(self, count: int, generator: torch.Generator) -> Float[Tensor, "B R"]:
        """Noise of one step: on the input features, then on the tokens if they get any."""
        noise = self.featurizer.draw_noise(count, generator).flatten(1)
        if self.config.latent.noise_std == 0:
            return noise
        shape = (count, self.latent_dim)
        on_tokens = torch.randn(shape, generator=generator, device=generator.device)
        return torch.cat([noise, self.config.latent.noise_std * on_tokens.to(noise)], dim=1)

    def split_noise(
        self, noise: Float[Tensor, "B R"]
    ) -> tuple[Float[Tensor, "B N n"], Float[Tensor, "B K D"] | None]:
        """Undo :meth:`draw_noise`: noise on the input features, and noise on the tokens."""
        size = self.space.max_nodes * self.featurizer.noise_dim
        on_nodes = noise[:, :size].unflatten(1, (self.space.max_nodes, -1))
        return on_nodes, self._tokens(noise[:, size:]) if noise.shape[1] > size else None

    def weights_of_matching(self) -> list[nn.Parameter]:
        """Weights that the matching of two input graphs depends on."""
        return [*self.encoder.weights_of_nodes(), *self.matcher.embed_in.parameters()]

    @property
    def latent_dim(self) -> int:
        """Length of one embedding row, K x D."""
        return self.config.num_tokens * self.config.token_dim

    @property
    def description_dim(self) -> int:
        """Length of one description."""
        return description_dim(self.config)

    def logits_of(self, latents: Float[Tensor, "B Z"]) -> GraphLogits:
        """Decode rows of latents."""
        return self.decoder(self._tokens(latents)).logits

    def description_of(self, latents: Float[Tensor, "B Z"]) -> Float[Tensor, "B n_d"]:
        """Describe rows of latents; gradients pass through to the latents."""
        return pool_decoded(self.decoder(self._tokens(latents)))

    def _tokens(self, latents: Float[Tensor, "B Z"]) -> Float[Tensor, "B K D"]:
        return latents.unflatten(1, (self.config.num_tokens, self.config.token_dim))

    def encoded(self, graphs: GraphBatch) -> EncodedBatch:
        """Encode once; the result can decode, match and compare."""
        inputs, places = self.featurizer.in_canonical_order(graphs)
        encoded = self.encoded_inputs(inputs)
        rest = torch.arange(graphs.max_nodes, self.space.max_nodes, device=places.device)
        places = torch.cat([places, rest.expand(len(graphs), -1)], dim=1)

        def rebuild(latents: Float[Tensor, "B Z"], at_size: bool) -> GraphBatch:
            decoded = self.decoder(self._tokens(latents))
            num_nodes = graphs.num_nodes if at_size else None
            found = decoded.logits.most_likely(self.space.directed, num_nodes)
            found = with_values(found, decoded.logits, self.space)
            return permute_batch(found, encoded.plan.hard(decoded.slots).gather(1, places))

        def compare(
            latents: Float[Tensor, "R Z"], rows: list[int]
        ) -> tuple[GraphLogits, Float[Tensor, " R"]]:
            decoded = self.decoder(self._tokens(latents))
            log_plan = encoded.plan.rows(rows).soft(decoded.slots).log_plan
            targets = self.featurizer.targets(inputs)[rows]
            terms = reconstruction_loss(targets, decoded.logits, log_plan, self.config.loss)
            return decoded.logits, terms.per_graph(self.config.loss)

        return EncodedBatch(encoded.latent.flatten(1), rebuild, compare)

    def match(self, first: Any, second: Any, tries: int = 1) -> Matching:
        """Match the nodes of two graphs; the edit distance of the result is an upper bound.

        The graphs are encoded under `tries` draws of the noise, and the cheapest mapping is kept.
        """
        return self.match_many([(first, second)], tries=tries)[0]

    def match_many(
        self, graphs: Iterable[Any], batch_size: int = 256, tries: int = 1
    ) -> list[Matching]:
        """Match many pairs, in order; each distinct graph is encoded once.

        Pairs come in a list, a tuple, a generator, a column of a data frame, an array (n, 2) or a
        data frame of two columns. `tries` as in `match`.
        """
        return pairs.match_many(self, graphs, batch_size, tries)


def with_noise(
    latent: Float[Tensor, "B K D"], noise: Float[Tensor, "B K D"] | None
) -> Float[Tensor, "B K D"]:
    """Tokens as the decoder gets them in training."""
    return latent if noise is None else latent + noise
