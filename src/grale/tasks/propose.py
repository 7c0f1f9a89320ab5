"""Edits that stay on the data: a latent is noised in part and denoised under guidance.

    x = noise for the share `amount` of the way, then dx/dt = v(x, t, c) + w |v| u / |u|

u is the gradient of a predictor of the property where the tokens would end, and c the wanted value
of the property, if the prior knows it. `amount` is the similarity one gives up (decisions/015).

Departures: the paper follows the plain gradient (`grale.tasks.edit`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from grale.codec.decode import decode
from grale.codec.intake import accept
from grale.codec.options import CodecOptions
from grale.codec.refine import ENOUGH_STEPS
from grale.graphs.graph import Graph
from grale.metrics.generation import SeenGraphs, why_invalid
from grale.model.autoencoder import GRALE
from grale.prior.latent_prior import STEPS
from grale.tasks.edit import Predictor
from grale.tasks.keep import contains, template_of
from grale.tasks.properties import Property
from grale.tasks.similarity import similarity_to

WANTED_QUANTILE = 0.9  # of the training graphs: what the prior is asked for


@dataclass(frozen=True, kw_only=True)
class ProposeConfig:
    """How many proposals, and how far from the graph."""

    count: int = 20
    """Latents drawn; fewer distinct valid graphs come out."""
    amount: float = 0.6
    """Most noise: the share of the way from the latent to pure noise. Proposals get all amounts up
    to it, evenly spaced."""
    levels: int = 4
    """Different amounts."""
    strength: float = 0.5
    """Length of the push along the property's gradient, relative to the velocity."""
    guidance: float = 2.0
    """Factor on the effect of the wanted value, if the prior knows the property."""
    steps: int = STEPS
    """Steps of the integration from pure noise; less noise takes fewer."""
    least_similarity: float = 0.0
    """Proposals less similar to the graph are left out."""
    keep: str | None = None
    """A pattern (SMARTS) of atoms that stay."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.count < 1 or self.levels < 1 or self.steps < 1:
            raise ValueError(f"count, levels and steps must be at least 1, got {self}")
        if not 0 < self.amount <= 1:
            raise ValueError(f"amount must be above 0 and at most 1, got {self.amount}")
        if not 0 <= self.least_similarity <= 1:
            raise ValueError(f"similarity must be between 0 and 1, got {self.least_similarity}")
        if self.strength < 0 or self.guidance < 0:
            raise ValueError("strength and guidance must be at least 0")


class Proposal(NamedTuple):
    """One edited graph."""

    graph: Graph
    value: float
    """Its property."""
    similarity: float
    """To the graph that was edited."""
    amount: float
    """Noise that its latent got."""


class Proposals(NamedTuple):
    """Distinct valid graphs, the best first."""

    best: list[Proposal]
    drawn_graphs: list[Graph]
    """All that was drawn, valid or not."""
    valid: int
    """Drawn graphs that are valid, before repeats and dissimilar ones are left out."""

    @property
    def drawn(self) -> int:
        """How many graphs were drawn."""
        return len(self.drawn_graphs)


def propose(
    model: GRALE,
    graph: Any,
    true: Property,
    predictor: Predictor | None = None,
    direction: int = 1,
    config: ProposeConfig | None = None,
    name: str | None = None,
) -> Proposals:
    """Propose graphs like a given one with more (direction 1) or less (-1) of a property.

    Parameters
    ----------
    model, graph
        A model with a prior; anything that `model.encode` takes.
    true
        The property of a graph; proposals are ranked by it, then by similarity.
    predictor
        The property as a differentiable function of the latent; None for no push.
    direction, config
        1 or -1; how many proposals, and how far away.
    name
        Name of the property among the conditions of the prior, if it is there.
    """
    if direction not in (1, -1):
        raise ValueError(f"direction must be 1 (raise) or -1 (lower), got {direction}")
    config = config or ProposeConfig()
    (start,) = accept([graph], model.space)
    is_held = None
    if config.keep is None:
        latent = model.encode([start], refine=ENOUGH_STEPS)[0]
    else:
        latent, is_held = template_of(model, start, config.keep)
    drawn: list[tuple[Graph, float]] = []
    for rows, amount in _cut(config):
        told = _told(model, len(rows), direction, name)
        push = None if predictor is None else _push(model, predictor, direction)
        noise = np.random.default_rng([config.seed, *rows]).standard_normal(
            (len(rows), model.latent_dim), dtype=np.float32
        )
        moved = _draw(model, latent, is_held, noise, told, amount, push, config)
        drawn += [(found, amount) for found in decode(model, moved, CodecOptions())]
    return _ranked(model, start, drawn, true, direction, config)


def _cut(config: ProposeConfig) -> list[tuple[range, float]]:
    """Which proposals get which amount of noise."""
    edges = np.linspace(0, config.count, config.levels + 1).round().astype(int).tolist()
    parts = zip(edges[:-1], edges[1:])
    shares = [config.amount * (level + 1) / config.levels for level in range(config.levels)]
    return [(range(a, b), share) for (a, b), share in zip(parts, shares) if b > a]


def _told(model: GRALE, count: int, direction: int, name: str | None) -> NDArray[np.float32]:
    """Conditions of the prior: a high (or low) value of the property, if it is one of them."""
    settings = model.prior.settings
    told = np.full((count, settings.condition_dim), np.nan, dtype=np.float32)
    column = 0
    for condition in settings.conditions:
        if condition.name == name:
            values = model.prior.examples[:, column].cpu().numpy()
            quantile = WANTED_QUANTILE if direction == 1 else 1 - WANTED_QUANTILE
            told[:, column] = np.nanquantile(values, quantile)
        column += condition.width
    return told


def _push(model: GRALE, predictor: Predictor, direction: int) -> Callable[[Tensor], Tensor]:
    def push(tokens: Tensor) -> Tensor:
        with torch.enable_grad():
            leaf = tokens.detach().requires_grad_()
            said = predictor(model.prior.to_latents(leaf)).sum()
            (gradient,) = torch.autograd.grad(said, leaf)
        return direction * gradient.nan_to_num()

    return push


def _draw(
    model: GRALE,
    latent: NDArray[np.float32],
    is_held: NDArray[np.bool_] | None,
    noise: NDArray[np.float32],
    told: NDArray[np.float32],
    amount: float,
    push: Callable[[Tensor], Tensor] | None,
    config: ProposeConfig,
) -> NDArray[np.float32]:
    device = next(model.parameters()).device
    held = None if is_held is None else torch.from_numpy(is_held).to(device)
    with torch.no_grad():
        moved = model.prior.draw(
            torch.from_numpy(noise).to(device),
            torch.from_numpy(told).to(device),
            steps=config.steps,
            guidance=config.guidance,
            near=torch.from_numpy(latent).to(device).expand(len(noise), -1),
            amount=amount,
            is_held=None if held is None else held.expand(len(noise), -1),
            push=push,
            strength=config.strength,
        )
    result: NDArray[np.float32] = moved.cpu().numpy()
    return result


def _ranked(
    model: GRALE,
    start: Graph,
    drawn: list[tuple[Graph, float]],
    true: Property,
    direction: int,
    config: ProposeConfig,
) -> Proposals:
    """Valid graphs without repeats and without the start, the best first."""
    seen, similarity = SeenGraphs(model.space), similarity_to(start, model.space)
    seen.adds(start)
    valid, kept = 0, []
    for graph, amount in drawn:
        if why_invalid(graph, model.space) is not None:
            continue
        valid += 1
        if not seen.adds(graph) or not (config.keep is None or contains(graph, config.keep)):
            continue
        found = Proposal(graph, true(graph), similarity(graph), amount)
        if found.similarity >= config.least_similarity and not isnan(found.value):
            kept.append(found)
    kept.sort(key=lambda each: (-direction * each.value, -each.similarity))
    return Proposals(kept, [graph for graph, _ in drawn], valid)
