"""From noise to tokens, or from half-way, in a fixed number of steps, by one of three samplers.

    heun       x' = x + h v(x, t),     x_next = x + h (v(x, t) + v(x', t + h)) / 2
    renoise    x_1 = x + (1 - t) v(x, t),     x_next on the path from fresh noise to x_1
    churn      the same from k x_0 + sqrt(1 - k^2) fresh noise,     x_0 = x - t v(x, t),
               k = (t (1 - s) / (s (1 - t)))^CHURN,     s: the next time

Heun's method follows the flow. Renoising predicts where the tokens end, and noises that end anew
for the next time: an error made earlier is forgotten, unless the predicted end still shows it. The
price is variety. Churning renoises in part. With CHURN 1 it is ancestral sampling (Ho et al. 2020);
every CHURN keeps the distribution as it is, if steps are small and the velocity is right.

Tokens may be held: at every time they are where their own path is, while the others move freely
(inpainting). A push may be added to the velocity, such as the gradient of a property.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from grale.prior.paths import Path, Tokens

Velocity = Callable[[Tokens, float], Tokens]
"""From tokens and a time to the velocity of the tokens."""
Push = Callable[[Tokens], Tokens]
"""From where the tokens would end to a direction in which they should end; of any length."""
Sampler = Literal["churn", "renoise", "heun"]
CHURN = 4.0  # the more, the sooner errors are forgotten, and the smaller steps have to be
FRESH_STREAM = 2  # of the shuffles that make fresh noise


class Held(NamedTuple):
    """Tokens that are given."""

    is_held: Bool[Tensor, "B K"]
    start: Tokens
    """The noise that all tokens start from."""
    end: Tokens
    """Where the held tokens end; the others are not read."""


class Start(NamedTuple):
    """Where tokens are, when, and the standard normal noise that fresh noise is made of."""

    x: Tokens
    time: float
    noise: Tokens


def renoise(
    velocity: Velocity, path: Path, start: Start, num_steps: int, held: Held | None = None
) -> Tokens:
    """Where tokens end if, at each step, their end is predicted and noised anew."""
    return _noised_anew(velocity, path, start, num_steps, held, math.inf)  # no noise is kept


def churn(
    velocity: Velocity, path: Path, start: Start, num_steps: int, held: Held | None = None
) -> Tokens:
    """Where tokens end if, at each step, a part of their noise is drawn anew."""
    return _noised_anew(velocity, path, start, num_steps, held, CHURN)


def _noised_anew(
    velocity: Velocity, path: Path, start: Start, num_steps: int, held: Held | None, power: float
) -> Tokens:
    times = torch.linspace(start.time, 1, num_steps + 1).tolist()
    x = _hold(start.x, path, start.time, held)
    for number, (time, later) in enumerate(zip(times[:-1], times[1:])):
        slope = velocity(x, time)
        begin, end = path.moved(x, -time * slope), path.moved(x, (1 - time) * slope)
        kept = (time * (1 - later) / (later * (1 - time))) ** power
        noise = kept * begin + (1 - kept**2) ** 0.5 * fresh(start.noise, number)
        when = torch.full((len(x), 1, 1), later, dtype=x.dtype, device=x.device)
        x = _hold(path.point(path.start(noise), end, when), path, later, held)
    return x


def fresh(noise: Tokens, number: int) -> Tokens:
    """The numbers of each row in another order, half of them with the other sign.

    So a row's noise depends on the row alone, not on its batch, and needs no generator.
    """
    rng = np.random.default_rng([FRESH_STREAM, number])
    flat = noise.flatten(1)
    order = torch.from_numpy(rng.permutation(flat.shape[1])).to(noise.device)
    signs = torch.from_numpy(rng.integers(0, 2, flat.shape[1]) * 2 - 1).to(noise)
    return (flat[:, order] * signs).view_as(noise)


def heun(
    velocity: Velocity, path: Path, start: Start, num_steps: int, held: Held | None = None
) -> Tokens:
    """Where tokens end that follow the velocity."""
    times = torch.linspace(start.time, 1, num_steps + 1).tolist()
    x = _hold(start.x, path, start.time, held)
    for time, later in zip(times[:-1], times[1:]):
        step = later - time
        slope = velocity(x, time)
        there = _hold(path.moved(x, step * slope), path, later, held)
        other = path.tangent(x, velocity(there, later))
        x = _hold(path.moved(x, step * (slope + other) / 2), path, later, held)
    return x


def pushed(velocity: Velocity, path: Path, push: Push, strength: float) -> Velocity:
    """Add to a velocity a push of `strength` times its own length, per graph.

    The push is evaluated where the tokens would end on the straight way.
    """

    def faster(x: Tokens, time: float) -> Tokens:
        slope = velocity(x, time)
        push_at = push(path.moved(x, (1 - time) * slope))
        extra = path.tangent(x, push_at)
        size = slope.flatten(1).norm(dim=1) / extra.flatten(1).norm(dim=1).clamp_min(1e-12)
        return slope + strength * size[:, None, None] * extra

    return faster


def log_density(
    velocity: Velocity, x: Tokens, num_steps: int, probes: Float[Tensor, "P B K D"]
) -> Float[Tensor, " B"]:
    """Log-density of tokens under a flat flow that starts at the standard normal.

        log p(x_1) = log N(x_0) - integral of div v(x_t, t) dt

    The divergence is estimated with `probes` of random signs (Hutchinson).
    """
    times = torch.linspace(1, 0, num_steps + 1).tolist()
    total = torch.zeros(len(x), dtype=x.dtype, device=x.device)
    for time, earlier in zip(times[:-1], times[1:]):
        step = time - earlier
        slope, spread = _with_divergence(velocity, x, time, probes)
        other, spread_2 = _with_divergence(velocity, x - step * slope, earlier, probes)
        x = x - step * (slope + other) / 2
        total = total + step * (spread + spread_2) / 2
    size = x[0].numel()
    log_normal = -(x.flatten(1).square().sum(dim=1) + size * torch.log(torch.tensor(2 * torch.pi)))
    return log_normal / 2 - total


def _with_divergence(
    velocity: Velocity, x: Tokens, time: float, probes: Float[Tensor, "P B K D"]
) -> tuple[Tokens, Float[Tensor, " B"]]:
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        slope = velocity(leaf, time)
        found = torch.zeros(len(x), dtype=x.dtype, device=x.device)
        for probe in probes:
            (back,) = torch.autograd.grad((slope * probe).sum(), leaf, retain_graph=True)
            found = found + (back * probe).flatten(1).sum(dim=1) / len(probes)
    return slope.detach(), found.detach()


def _hold(x: Tokens, path: Path, time: float, held: Held | None) -> Tokens:
    if held is None:
        return x
    when = torch.full((len(x), 1, 1), time, dtype=x.dtype, device=x.device)
    return torch.where(held.is_held[..., None], path.point(held.start, held.end, when), x)


SAMPLERS: dict[str, Callable[[Velocity, Path, Start, int, Held | None], Tokens]] = {
    "churn": churn,
    "renoise": renoise,
    "heun": heun,
}
