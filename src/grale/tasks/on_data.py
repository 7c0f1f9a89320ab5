"""Points of the latent, led back to where graphs are (decisions/015).

A point is noised part of the way and denoised by the prior: first by a little, then by more, until
the decoded graph is valid. So a point that decodes to a valid graph stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from grale.codec.decode import decode
from grale.codec.options import CodecOptions
from grale.codec.sample import SIZE
from grale.graphs.graph import Graph
from grale.metrics.generation import why_invalid
from grale.model.autoencoder import GRALE
from grale.prior.latent_prior import STEPS

LEVELS = 8


@dataclass(frozen=True, kw_only=True)
class BackConfig:
    """How far a point may be led away from where it is."""

    amount: float = 0.6
    """Most noise: the share of the way from the point to pure noise."""
    levels: int = LEVELS
    """Amounts of noise that are tried, evenly spaced up to the most."""
    steps: int = STEPS
    """Steps of the integration from pure noise; less noise takes fewer."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.amount <= 1:
            raise ValueError(f"amount must be above 0 and at most 1, got {self.amount}")
        if self.levels < 1 or self.steps < 1:
            raise ValueError(f"levels and steps must be at least 1, got {self}")


class Back(NamedTuple):
    """Graphs at given points, or near them."""

    graphs: list[Graph]
    amounts: list[float]
    """Noise that each point got: 0 if it decodes to a valid graph; NaN if nothing valid was found,
    and the graph is that of the point itself."""


def led_back(
    model: GRALE,
    latents: NDArray[np.float32],
    config: BackConfig | None = None,
    sizes: Sequence[float] | None = None,
) -> Back:
    """Decode points; those that are not valid graphs are led back by the prior.

    With `sizes`, the prior is told how many nodes each graph should have.
    """
    config = config or BackConfig()
    prior, options = model.prior, CodecOptions()
    graphs = decode(model, latents, options)
    amounts = [float("nan")] * len(graphs)
    told = np.full((len(latents), prior.settings.condition_dim), np.nan, dtype=np.float32)
    names = [condition.name for condition in prior.settings.conditions]
    if sizes is not None and SIZE in names:
        told[:, names.index(SIZE)] = sizes
    found, rng = list(graphs), np.random.default_rng(config.seed)
    for level in range(config.levels + 1):
        share = config.amount * level / config.levels
        left = [row for row, amount in enumerate(amounts) if np.isnan(amount)]
        if not left:
            break
        drawn = [graphs[row] for row in left]
        if level:
            noise = rng.standard_normal((len(left), model.latent_dim), dtype=np.float32)
            moved = _moved(model, latents[left], noise, told[left], share, config.steps)
            drawn = decode(model, moved, options)
        for row, graph in zip(left, drawn):
            if why_invalid(graph, model.space) is None:
                found[row], amounts[row] = graph, share
    return Back(found, amounts)


def _moved(
    model: GRALE,
    latents: NDArray[np.float32],
    noise: NDArray[np.float32],
    told: NDArray[np.float32],
    share: float,
    steps: int,
) -> NDArray[np.float32]:
    device = next(model.parameters()).device
    rows, start, conditions = (
        torch.from_numpy(array).to(device) for array in (latents, noise, told)
    )
    with torch.no_grad():
        moved = model.prior.draw(start, conditions, steps=steps, near=rows, amount=share)
    result: NDArray[np.float32] = moved.cpu().numpy()
    return result
