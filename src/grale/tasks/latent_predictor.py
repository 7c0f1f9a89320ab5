"""A predictor of a property from the embedding (paper: p hat, a one-hidden-layer MLP)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from grale.graphs.graph import Graph
from grale.model.autoencoder import GRALE
from grale.tasks.held_out import explained
from grale.tasks.properties import Property

LEAST_ROWS = 20
FLOOR = 1e-6  # a smaller deviation is rounding


@dataclass(frozen=True, kw_only=True)
class FitConfig:
    """Shape of a predictor, and how it is trained."""

    hidden_dim: int = 256
    num_hidden: int = 1
    """Hidden layers."""
    epochs: int = 60
    batch_size: int = 256
    learning_rate: float = 3e-3
    weight_decay: float = 0.1
    seed: int = 0


class LatentRegressor(nn.Module):
    """A multilayer perceptron on standardised embeddings (paper: n hat, with one hidden layer)."""

    mean: Float[Tensor, " d"]
    scale: Float[Tensor, " d"]
    offset: Float[Tensor, ""]
    unit: Float[Tensor, ""]

    def __init__(self, latent_dim: int, hidden_dim: int = 256, num_hidden: int = 1) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for in_dim in [latent_dim, *[hidden_dim] * (num_hidden - 1)]:
            layers += [nn.Linear(in_dim, hidden_dim), nn.SiLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(hidden_dim, 1))
        self.register_buffer("mean", torch.zeros(latent_dim))
        self.register_buffer("scale", torch.ones(latent_dim))
        self.register_buffer("offset", torch.zeros(()))
        self.register_buffer("unit", torch.ones(()))

    def forward(self, latents: Float[Tensor, "B d"]) -> Float[Tensor, " B"]:
        """Predict the property, in its own units."""
        standard = (latents - self.mean) / self.scale
        return self.layers(standard)[:, 0] * self.unit + self.offset


class FittedPredictor(NamedTuple):
    """A predictor and how well it does."""

    predictor: LatentRegressor
    r2: float
    """Explained share of the variance on embeddings it was not trained on."""
    mae: float
    """Mean absolute error on those, in standard deviations of the property."""


def fit_predictor(
    latents: NDArray[np.float32],
    values: NDArray[np.float64],
    *,
    epochs: int = 60,
    learning_rate: float = 3e-3,
    seed: int = 0,
) -> FittedPredictor:
    """Train a one-hidden-layer predictor of a property; a tenth of the rows is held out."""
    latents, values = np.asarray(latents, np.float32), np.asarray(values, np.float64)
    if latents.ndim != 2 or values.shape != (len(latents),):
        raise ValueError(f"{latents.shape} embeddings but {values.shape} values; give one each")
    known = np.isfinite(values) & np.isfinite(latents).all(axis=1)
    if known.sum() < LEAST_ROWS:
        raise ValueError(
            f"only {known.sum()} graphs have the property; at least {LEAST_ROWS} are needed"
        )
    x, y = torch.from_numpy(latents[known]), torch.from_numpy(values[known]).float()
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(x), generator=generator)
    test, train = order[: len(x) // 10], order[len(x) // 10 :]
    if float(y[train].std()) == 0:
        raise ValueError("the property is the same for all graphs; there is nothing to learn")
    config = FitConfig(epochs=epochs, learning_rate=learning_rate, seed=seed)
    model = fit_regressor(x[train], y[train], config, generator)
    with torch.no_grad():
        found = model(x[test])
    r2 = explained(y[test].numpy(), found.numpy(), guess=float(y[train].mean()))
    mae = ((found - y[test]) / model.unit).abs().mean()
    return FittedPredictor(model, float(r2), float(mae))


def fit_regressor(
    x: Float[Tensor, "n d"], y: Float[Tensor, " n"], config: FitConfig, generator: torch.Generator
) -> LatentRegressor:
    """Train a predictor on all rows; `generator` draws their order."""
    with torch.random.fork_rng():
        torch.manual_seed(config.seed)
        model = LatentRegressor(x.shape[1], config.hidden_dim, config.num_hidden)
    model.mean, model.scale = x.mean(0), deviations(x)
    model.offset, model.unit = y.mean(), y.std()
    _train(model, x, y, config, generator)
    return model.eval()


def deviations(x: Float[Tensor, "n d"]) -> Float[Tensor, " d"]:
    """What to divide columns by; infinite for one that never changes, so that it says nothing.

    Other rows may differ there. Divided by next to nothing, they would be far from all that was
    learned from.
    """
    spread = x.std(0)
    return torch.where(spread < FLOOR, math.inf, spread + FLOOR)


class ThroughDescription(nn.Module):
    """A predictor on descriptions as a function of latents; gradients pass through the decoder."""

    def __init__(self, model: GRALE, predictor: LatentRegressor) -> None:
        super().__init__()
        self.model, self.predictor = model, predictor

    def forward(self, latents: Float[Tensor, "B d"]) -> Float[Tensor, " B"]:
        """Predict the property, in its own units."""
        device = next(self.model.parameters()).device
        described = self.model.description_of(latents.to(device))
        return self.predictor(described.to(latents.device))


class LearnedProperty(NamedTuple):
    """A predictor and the data it was trained on."""

    predictor: LatentRegressor | ThroughDescription
    """A function of latents, even if it reads descriptions."""
    r2: float
    values: NDArray[np.float64]
    """The property of each graph."""
    covariance: NDArray[np.float64]
    """Covariance of the embeddings, a metric for edits."""


def learn_property(
    model: GRALE,
    graphs: Sequence[Graph],
    true: Property,
    seed: int = 0,
    reads: Literal["description", "latent"] = "description",
) -> LearnedProperty:
    """Compute a property of graphs and train a predictor of it on their vectors."""
    values = np.array([true(graph) for graph in graphs])
    latents = model.encode(graphs)
    metric = np.cov(latents.T)
    if reads == "latent":
        fitted = fit_predictor(latents, values, seed=seed)
        return LearnedProperty(fitted.predictor, fitted.r2, values, metric)
    fitted = fit_predictor(model.describe(latents), values, seed=seed)
    predictor = ThroughDescription(model, fitted.predictor)
    return LearnedProperty(predictor, fitted.r2, values, metric)


def _train(
    model: LatentRegressor,
    x: Float[Tensor, "n d"],
    y: Float[Tensor, " n"],
    config: FitConfig,
    generator: torch.Generator,
) -> None:
    rate = config.learning_rate
    optimizer = torch.optim.AdamW(model.parameters(), rate, weight_decay=config.weight_decay)
    batch_size = min(config.batch_size, len(x))
    steps = config.epochs * (len(x) // batch_size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    for _ in range(config.epochs):
        order = torch.randperm(len(x), generator=generator)
        for rows in order[: len(x) // batch_size * batch_size].split(batch_size):
            loss = ((model(x[rows]) - y[rows]) / model.unit).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
