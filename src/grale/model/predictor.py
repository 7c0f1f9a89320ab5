"""GRALE as a predictor: an input in, a graph out (paper: "Graph prediction").

    stage 1    min | phi(x) - g(G*) |^2                    g frozen, its latents computed once
    stage 2    min L_OT(f(phi(x)), G*, T)                  phi and f together
    T          = matcher(X, X_hat),  X = g(G*)             x itself has no node embeddings

With pooling=transport, T is the plan with which g pools G*. g and the matcher stay as they are.

Departures: the paper does not say where the matcher's X comes from in stage 2. Tokens lie on the
sphere if those of the autoencoder do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from grale.codec.graph_predictor import GraphPredictor
from grale.codec.logits import GraphLogits
from grale.graphs.batch import GraphBatch
from grale.graphs.space import GraphSpace
from grale.inputs.config import ReaderConfig
from grale.inputs.reader import Reader
from grale.inputs.space import InputSpace
from grale.model.autoencoder import GRALE
from grale.model.config import ModelConfig
from grale.model.loss import reconstruction_loss


@dataclass(frozen=True, kw_only=True)
class PredictorSettings:
    """Everything that a file of weights does not say."""

    inputs: InputSpace
    reader: ReaderConfig = field(default_factory=ReaderConfig)
    autoencoder: ModelConfig = field(default_factory=ModelConfig)
    """Settings of the GRALE whose latents are predicted; its weights are part of this model."""


class GralePredictor(GraphPredictor):
    """phi, and the autoencoder whose latents it predicts."""

    architecture = "predictor"
    config_class = PredictorSettings
    adam_weights: ClassVar = ("narrow",)

    def __init__(self, space: GraphSpace, config: PredictorSettings) -> None:
        super().__init__(space, config)
        self.autoencoder = GRALE(space, config.autoencoder)
        latent = config.autoencoder
        self.reader = Reader(config.inputs, config.reader, latent.num_tokens)
        self.narrow = nn.Linear(config.reader.dim, latent.token_dim)
        self.freeze_encoder()

    def freeze_encoder(self) -> None:
        """Let only phi and the decoder learn."""
        self.autoencoder.requires_grad_(False)
        self.autoencoder.decoder.requires_grad_(True)

    def train(self, mode: bool = True) -> GralePredictor:
        """Switch modes; the frozen encoder and matcher always work as they do at test time."""
        super().train(mode)
        for name, part in self.autoencoder.named_children():
            part.train(mode and name == "decoder")
        return self

    def tokens_of(
        self, inputs: UInt8[Tensor, "B w"], turns: Int[Tensor, " B"] | None = None
    ) -> Float[Tensor, "B K D"]:
        """phi(x), as tokens."""
        return self.autoencoder.on_sphere(self.narrow(self.reader(inputs, turns)))

    def latents_of(
        self, inputs: UInt8[Tensor, "B w"], turns: Int[Tensor, " B"] | None = None
    ) -> Float[Tensor, "B Z"]:
        """phi(x), as rows that `autoencoder.decode` takes."""
        return self.tokens_of(inputs, turns).flatten(1)

    def projected(self, latents: Float[Tensor, "B Z"]) -> Float[Tensor, "B Z"]:
        """Rows of latents, moved to where those of the autoencoder lie."""
        config = self.config.autoencoder
        tokens = latents.unflatten(1, (config.num_tokens, config.token_dim))
        return self.autoencoder.on_sphere(tokens).flatten(1)

    def logits_of(
        self, inputs: UInt8[Tensor, "B w"], num_nodes: Int[Tensor, " B"] | None = None
    ) -> GraphLogits:
        """f(phi(x))."""
        return self.autoencoder.decoder(self.tokens_of(inputs)).logits

    def regression(
        self,
        latents: Float[Tensor, "B Z"],
        inputs: UInt8[Tensor, "B w"],
        noise: Float[Tensor, "B R"],
    ) -> dict[str, Float[Tensor, ""]]:
        """Stage 1: mean squared error of phi(x), per number of the latent."""
        error = self.latents_of(inputs, noise[:, 0].long()) - latents
        return {"loss": error.square().mean()}

    def losses(
        self,
        graphs: GraphBatch,
        inputs: UInt8[Tensor, "B w"],
        noise: Float[Tensor, "B R"],
    ) -> dict[str, Float[Tensor, ""]]:
        """Stage 2: L_OT of the decoded prediction, each unweighted term, and the marginal error."""
        model = self.autoencoder
        with torch.no_grad():
            known, _ = model.featurizer.in_canonical_order(graphs)
            encoded = model.encoded_inputs(known)
            targets = model.featurizer.targets(known)
        decoded = model.decoder(self.tokens_of(inputs, noise[:, 0].long()))
        plan = encoded.plan.soft(decoded.slots)
        terms = reconstruction_loss(targets, decoded.logits, plan.log_plan, model.config.loss)
        return {
            "loss": terms.total(model.config.loss),
            **terms.means(),
            "marginal_error": plan.marginal_error.max(),
        }
