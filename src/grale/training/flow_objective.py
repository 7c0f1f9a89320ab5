"""Training of a prior: the error of its velocity; its samples are decoded to validate it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from grale.catalog import load_any
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.identity import fingerprint
from grale.graphs.graph import Graph
from grale.metrics.generation import generation_report
from grale.prior.latent_prior import LatentPrior
from grale.training.config import TrainConfig
from grale.training.step_input import StepInput
from grale.training.validation import Validation

TIMES = 8  # at which the velocity of each held-out latent is compared


class FlowObjective(nn.Module):
    """Error of the velocity of a batch of latents, which come as properties of their graphs."""

    groups_by_size = False
    uses_inputs = False

    def __init__(self, model: Any, config: TrainConfig) -> None:
        super().__init__()
        assert isinstance(model, LatentPrior)  # `TrainConfig` refuses others
        autoencoder_of(model)  # before any work: it is there, with the weights of then
        self.model = model

    def forward(self, step: StepInput) -> dict[str, Float[Tensor, ""]]:
        """Mean squared error of the velocity under "loss"; graphs are not used, only latents."""
        assert step.properties is not None  # a dataset of latents has them
        size = self.model.settings.tokens.latent_dim
        latents, conditions = step.properties[:, :size], step.properties[:, size:]
        return self.model.losses(latents, conditions, step.noise)

    @staticmethod
    def save(model: Any, folder: Path) -> None:
        """Write the prior with its autoencoder: the folder is a model that can draw graphs."""
        autoencoder = autoencoder_of(model)
        autoencoder.use_prior(model)
        autoencoder.save_pretrained(folder)

    @staticmethod
    def validate(model: Any, graphs: Sequence[Graph]) -> Validation:
        """Draw as many graphs as are held out; error of the velocity on those."""
        assert isinstance(model, LatentPrior)
        autoencoder = autoencoder_of(model)
        autoencoder.use_prior(model)
        loss = _held_out_error(model, autoencoder.encode(graphs))
        drawn = autoencoder.sample(len(graphs), seed=0)
        found = generation_report(drawn, autoencoder.space)
        scores = {"held_out_loss": loss, "valid": found.valid, "distinct": found.distinct}
        return Validation(
            scores,
            f"velocity error {loss:.4f}; of {len(drawn)} samples {found.valid:.1%} valid and in "
            f"one piece, {found.distinct:.1%} of those distinct, mean size {found.mean_size:.1f}",
        )


def autoencoder_of(prior: LatentPrior) -> GraphAutoencoder:
    """Load the model whose latents a prior was trained on, with the weights of then."""
    model = load_any(prior.settings.autoencoder)
    if fingerprint(model) != prior.settings.weights:
        raise ValueError(
            f"the weights of {prior.settings.autoencoder!r} have changed since its latents were "
            "made; make them again with `grale prepare latents`"
        )
    return model.to(next(prior.parameters()).device)


@torch.no_grad()
def _held_out_error(model: LatentPrior, latents: np.ndarray) -> float:
    """Error of the velocity without conditions, always with the same noise."""
    rows = torch.from_numpy(latents).to(next(model.parameters()).device)
    unknown = torch.full((len(rows), model.settings.condition_dim), float("nan")).to(rows)
    generator = torch.Generator().manual_seed(0)
    errors = [
        model.losses(rows, unknown, model.draw_noise(len(rows), generator).to(rows))["loss"]
        for _ in range(TIMES)
    ]
    return float(torch.stack(errors).mean())
