"""A flow over the tokens of a frozen autoencoder: where graphs live in the latent (decisions/015).

    loss = E |v(x_t, t, c) - dx_t/dt|^2,    x_0 noise, x_1 the latent of a graph

Departures: the paper leaves a generative model as future work.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from grale.nn.half import fast_products
from grale.prior.config import PriorSettings
from grale.prior.integrate import (
    SAMPLERS,
    Held,
    Push,
    Sampler,
    Start,
    Velocity,
    log_density,
    pushed,
)
from grale.prior.paths import Tokens, build_path, on_sphere
from grale.prior.velocity import VelocityNetwork

EXAMPLES = 1_024  # training graphs whose conditions are kept, to draw from
STEPS = 100  # from pure noise, one evaluation of the network each (decisions/015)
DENSITY_STEPS = 20  # of Heun's method


class LatentPrior(nn.Module):
    """p(latent | conditions), with which latents are drawn, completed, corrected and scored."""

    architecture: ClassVar[str] = "prior"
    groups_by_size: ClassVar[bool] = False

    mean: Float[Tensor, " Z"]
    scale: Float[Tensor, ""]
    condition_mean: Float[Tensor, " c"]
    condition_scale: Float[Tensor, " c"]
    examples: Float[Tensor, "E c"]

    def __init__(self, settings: PriorSettings) -> None:
        super().__init__()
        self.settings = settings
        self.network = VelocityNetwork(settings)
        self.path = build_path(settings)
        width = settings.condition_dim
        self.register_buffer("mean", torch.zeros(settings.tokens.latent_dim))
        self.register_buffer("scale", torch.ones(()))
        self.register_buffer("condition_mean", torch.zeros(width))
        self.register_buffer("condition_scale", torch.ones(width))
        self.register_buffer("examples", torch.zeros(EXAMPLES, width))

    def draw_noise(self, count: int, generator: torch.Generator) -> Float[Tensor, "B R"]:
        """Randomness of one training step: noise, a time, and which conditions are left out."""
        shape = (count, self.settings.tokens.latent_dim)
        noise = torch.randn(shape, generator=generator)
        shares = torch.rand(count, 2 + len(self.settings.conditions), generator=generator)
        return torch.cat([noise, shares], dim=1)

    def losses(
        self,
        latents: Float[Tensor, "B Z"],
        conditions: Float[Tensor, "B c"],
        noise: Float[Tensor, "B R"],
    ) -> dict[str, Float[Tensor, ""]]:
        """Mean squared error of the velocity, under "loss"; `noise` as in `draw_noise`."""
        size = self.settings.tokens.latent_dim
        end, start = self.to_tokens(latents), self.path.start(self._cut(noise[:, :size]))
        time, shares = self._times(noise[:, size]), noise[:, size + 1 :]
        when = time[:, None, None]
        told = self._partly(self.standard_conditions(conditions), shares)
        x = self.path.point(start, end, when)
        said = self.path.tangent(x, self._roughly(x, time, told))
        error = (said - self.path.velocity(start, end, when)).square()
        return {"loss": error.mean()}

    def _times(self, uniform: Float[Tensor, " B"]) -> Float[Tensor, " B"]:
        """Times of a training step from uniform numbers (Esser et al. 2024, "logit-normal")."""
        if self.settings.config.times == "uniform":
            return uniform
        return torch.special.ndtri(uniform).sigmoid()

    def _partly(
        self, conditions: Float[Tensor, "B c"], shares: Float[Tensor, "B s"]
    ) -> Float[Tensor, "B c"]:
        """Leave out all conditions of some rows, and some conditions of the others."""
        config = self.settings.config
        is_told = (shares[:, 1:] >= config.hidden_share) & (shares[:, :1] >= config.dropped_share)
        widths = [condition.width for condition in self.settings.conditions]
        repeats = torch.tensor(widths, dtype=torch.long, device=shares.device)
        is_told = is_told.repeat_interleave(repeats, dim=1)
        return conditions.masked_fill(~is_told, float("nan"))

    def velocity(
        self, conditions: Float[Tensor, "B c"], guidance: float = 1.0, *, is_exact: bool = True
    ) -> Velocity:
        """Velocity under conditions in their own units; NaN where one is unknown.

        With `guidance` w, v = v(no conditions) + w (v(conditions) - v(no conditions)). If it need
        not be exact, products are made in bfloat16 where that is faster.
        """
        told = self.standard_conditions(conditions)
        untold = torch.full_like(told, float("nan"))
        is_guided = guidance != 1 and bool(told.isfinite().any())

        network = self.network if is_exact else self._roughly

        def at(x: Tokens, time: float) -> Tokens:
            when = torch.full((len(x),), time, dtype=x.dtype, device=x.device)
            if not is_guided:
                return self.path.tangent(x, network(x, when, told))
            both = network(x.repeat(2, 1, 1), when.repeat(2), torch.cat([told, untold]))
            with_, without = both.chunk(2)
            return self.path.tangent(x, without + guidance * (with_ - without))

        return at

    def _roughly(
        self, x: Tokens, time: Float[Tensor, " B"], conditions: Float[Tensor, "B c"]
    ) -> Tokens:
        """The network's velocity; products in bfloat16 where that is faster."""
        with fast_products(x.device):
            return self.network(x, time, conditions).to(x.dtype)

    def draw(
        self,
        noise: Float[Tensor, "B Z"],
        conditions: Float[Tensor, "B c"],
        *,
        steps: int = STEPS,
        sampler: Sampler = "renoise",
        guidance: float = 1.0,
        near: Float[Tensor, "B Z"] | None = None,
        amount: float = 1.0,
        is_held: Bool[Tensor, "B K"] | None = None,
        push: Push | None = None,
        strength: float = 0.0,
    ) -> Float[Tensor, "B Z"]:
        """Latents under conditions, as many as rows of standard normal noise.

        Parameters
        ----------
        noise, conditions
            Noise of each latent, and its conditions in their own units, NaN where unknown.
        steps, sampler
            Steps from pure noise, and how each is made (`grale.prior.integrate`).
        guidance
            Factor on the effect of the conditions.
        near, amount
            Latents to start from: they are noised for the share `amount` of the way to noise, and
            led back. With 1, they have no effect, except on tokens that are held.
        is_held
            Tokens of `near` that stay as they are.
        push, strength
            A direction for the tokens where they would end, and its length relative to the
            velocity; see `pushed`.
        """
        drawn = self._cut(noise)
        start = self.path.start(drawn)
        first, x, held = 1 - amount, start, None
        if near is not None:
            end = self.to_tokens(near)
            when = torch.full((len(end), 1, 1), first, dtype=end.dtype, device=end.device)
            x = self.path.point(start, end, when)
            held = None if is_held is None else Held(is_held, start, end)
        field = self.velocity(conditions, guidance, is_exact=False)
        if push is not None and strength != 0:
            field = pushed(field, self.path, push, strength)
        used = max(1, round(steps * amount))
        if amount > 0:
            x = SAMPLERS[sampler](field, self.path, Start(x, first, drawn), used, held)
        return self.to_latents(x)

    def score(
        self, latents: Float[Tensor, "B Z"], conditions: Float[Tensor, "B c"], time: float = 0.9
    ) -> Float[Tensor, "B Z"]:
        """Gradient of the log-density of noisy tokens, at latents of that time; flat paths only.

        For x_t = (1 - t) x_0 + t x_1: (t v - x) / (1 - t), in units of standardised tokens.
        """
        self._check_flat()
        x = self.to_tokens(latents)
        return ((time * self.velocity(conditions)(x, time) - x) / (1 - time)).flatten(1)

    def log_likelihood(
        self,
        latents: Float[Tensor, "B Z"],
        conditions: Float[Tensor, "B c"],
        *,
        steps: int = DENSITY_STEPS,
        probes: int = 4,
        seed: int = 0,
    ) -> Float[Tensor, " B"]:
        """Log-density of standardised tokens, estimated with random probes; flat paths only."""
        self._check_flat()
        x = self.to_tokens(latents)
        signs = np.random.default_rng(seed).integers(0, 2, (probes, *x.shape)) * 2 - 1
        return log_density(self.velocity(conditions), x, steps, torch.from_numpy(signs).to(x))

    def _check_flat(self) -> None:
        if self.settings.config.path != "flat":
            raise ValueError("densities need path=flat; this prior moves on spheres")

    def to_tokens(self, latents: Float[Tensor, "B Z"]) -> Tokens:
        """Standardised tokens of latents; on their sphere if they have one."""
        tokens = self._cut((latents - self.mean) / self.scale)
        return on_sphere(tokens) if self.settings.tokens.on_sphere else tokens

    def to_latents(self, tokens: Tokens) -> Float[Tensor, "B Z"]:
        """Undo `to_tokens`; tokens return to their sphere if they have one."""
        if self.settings.tokens.on_sphere:
            tokens = on_sphere(tokens)
        return tokens.flatten(1) * self.scale + self.mean

    def standard_conditions(self, conditions: Float[Tensor, "B c"]) -> Float[Tensor, "B c"]:
        """Conditions in standard deviations."""
        return (conditions - self.condition_mean) / self.condition_scale

    def recompute_activations(self, wanted: bool) -> None:
        """The network is small: there is nothing to save."""
        if wanted:
            raise ValueError("a prior cannot recompute activations; leave it out")

    def _cut(self, rows: Float[Tensor, "B Z"]) -> Tokens:
        return rows.unflatten(1, (self.settings.tokens.num_tokens, -1))
