"""New graphs from the prior of a model: noise and conditions in, latents out (decisions/015).

Row r depends on the seed and on r alone, not on the size of the batches, up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from grale.codec.intake import device_of, quietly
from grale.prior.conditions import Range, Wanted, check_wanted, draw_conditions
from grale.prior.integrate import SAMPLERS, Sampler
from grale.prior.latent_prior import STEPS, LatentPrior

if TYPE_CHECKING:
    from grale.codec.graph_autoencoder import GraphAutoencoder

MOST_STEPS = 10_000
SIZE = "size"  # the condition that every prior knows
CONDITION_STREAM = 1  # keeps the draws of conditions apart from the noise


@dataclass(frozen=True, kw_only=True)
class SampleOptions:
    """How latents are drawn, checked once."""

    seed: int = 0
    steps: int = STEPS
    """Steps from noise to a latent."""
    sampler: Sampler = "renoise"
    """How a step is made: predict the end and noise it anew, or follow the flow ("heun")."""
    guidance: float = 1.0
    """Factor on the effect of the conditions; above 1 they are met more often, at some variety."""
    batch_size: int = 256

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed must be at least 0, got {self.seed}")
        if not 1 <= self.steps <= MOST_STEPS:
            raise ValueError(f"steps must be between 1 and {MOST_STEPS}, got {self.steps}")
        if self.sampler not in SAMPLERS:
            raise ValueError(f"sampler={self.sampler!r}; expected one of {', '.join(SAMPLERS)}")
        if not (np.isfinite(self.guidance) and self.guidance >= 0):
            raise ValueError(f"guidance must be at least 0, got {self.guidance}")
        if self.batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, got {self.batch_size}")


class Template(NamedTuple):
    """Tokens that every new latent has."""

    latent: NDArray[np.float32]
    is_held: NDArray[np.bool_]
    """Which tokens of the latent are kept, shape (K,)."""


def check_conditions(model: GraphAutoencoder, wanted: Wanted) -> None:
    """Raise if the prior does not know a condition, or no graph of the space can meet it."""
    check_wanted(wanted, model.prior.settings.conditions)
    size, most = wanted.get(SIZE), model.space.max_nodes
    if size is None:
        return
    low, high = size if isinstance(size, Range) else (size, size)
    if not (isinstance(low, int | float) and isinstance(high, int | float)):
        raise ValueError(f"size must be one number, got {size}")
    if low > most or high < 1:
        asked = f"{low:g}" if low == high else f"{low:g} to {high:g}"
        raise ValueError(f"size {asked} is impossible: this model has graphs of 1 to {most} nodes")


def sample_latents(
    model: GraphAutoencoder,
    count: int,
    wanted: Wanted,
    options: SampleOptions,
    template: Template | None = None,
) -> Iterator[NDArray[np.float32]]:
    """Latents in batches, `count` rows in all; everything is checked before the first."""
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    check_conditions(model, wanted)
    prior = model.prior
    rng = np.random.default_rng([options.seed, CONDITION_STREAM])
    examples = prior.examples.cpu().numpy()
    told = draw_conditions(wanted, prior.settings.conditions, examples, count, rng)
    return _batches(model, prior, told, options, template)


def _batches(
    model: GraphAutoencoder,
    prior: LatentPrior,
    told: NDArray[np.float32],
    options: SampleOptions,
    template: Template | None,
) -> Iterator[NDArray[np.float32]]:
    rng = np.random.default_rng(options.seed)
    for start in range(0, len(told), options.batch_size):
        part = told[start : start + options.batch_size]
        noise = rng.standard_normal((len(part), model.latent_dim), dtype=np.float32)
        yield _drawn(model, prior, noise, part, options, template)


@quietly
def _drawn(
    model: GraphAutoencoder,
    prior: LatentPrior,
    noise: NDArray[np.float32],
    told: NDArray[np.float32],
    options: SampleOptions,
    template: Template | None,
) -> NDArray[np.float32]:
    device = device_of(model)
    values: dict[str, Any] = {}
    if template is not None:
        rows = torch.from_numpy(template.latent).to(device).expand(len(noise), -1)
        is_held = torch.from_numpy(template.is_held).to(device).expand(len(noise), -1)
        values = {"near": rows, "is_held": is_held}
    found = prior.draw(
        torch.from_numpy(noise).to(device),
        torch.from_numpy(told).to(device),
        steps=options.steps,
        sampler=options.sampler,
        guidance=options.guidance,
        **values,
    )
    result: NDArray[np.float32] = found.float().cpu().numpy()
    return result
