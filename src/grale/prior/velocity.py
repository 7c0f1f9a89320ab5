"""The velocity of the tokens at a time: a plain Transformer with adaptive norms.

    s     = MLP(time) + MLP(conditions)
    block = x + g * LAYER((1 + a) * NORM(x) + b)      a, b, g: linear in s, plus a table per block

The linear map from s is shared by all blocks (Chen et al. 2024, "PixArt-alpha"). A token knows its
slot by an embedding: slots are not interchangeable, since the decoder has a query for each.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from grale.nn.attention import SelfAttention
from grale.nn.feedforward import FeedForward
from grale.prior.config import PriorSettings

CHANGES = 6  # a, b and g of attention and of the feed-forward layer
WAVES = 8  # frequencies that show a condition; it comes in standard deviations
TIME_SCALE = 1_000.0  # so that the fastest wave tells neighbouring times apart
LARGEST_PERIOD = 10_000.0


class AdaptiveBlock(nn.Module):
    """Attention and a feed-forward layer; time and conditions scale, shift and gate both."""

    adam_weights: ClassVar = ("changes",)

    def __init__(self, dim: int, num_heads: int) -> None:
        super().__init__()
        self.attention = SelfAttention(dim, num_heads)
        self.feedforward = FeedForward(dim, 4 * dim)
        self.norm = nn.LayerNorm(dim, elementwise_affine=False)
        self.changes = nn.Parameter(torch.zeros(CHANGES, dim))

    def forward(
        self, x: Float[Tensor, "B K d"], shared: Float[Tensor, "B 6 d"]
    ) -> Float[Tensor, "B K d"]:
        """Update the tokens."""
        scale, shift, gate, scale_2, shift_2, gate_2 = (shared + self.changes).split(1, dim=1)
        x = x + gate * self.attention((1 + scale) * self.norm(x) + shift)
        return x + gate_2 * self.feedforward((1 + scale_2) * self.norm(x) + shift_2)


class VelocityNetwork(nn.Module):
    """v(x_t, t, conditions)."""

    adam_weights: ClassVar = ("slots", "read", "write", "shared", "last_changes")

    def __init__(self, settings: PriorSettings) -> None:
        super().__init__()
        config, tokens = settings.config, settings.tokens
        dim = config.dim
        self.read = nn.Linear(tokens.token_dim, dim)
        self.slots = nn.Parameter(torch.randn(tokens.num_tokens, dim) * 0.02)
        self.time = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))
        shown = (2 + 2 * WAVES) * max(settings.condition_dim, 1)
        self.conditions = nn.Sequential(nn.Linear(shown, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.shared = nn.Linear(dim, CHANGES * dim)
        self.blocks = nn.ModuleList(
            AdaptiveBlock(dim, config.num_heads) for _ in range(config.num_layers)
        )
        self.norm = nn.LayerNorm(dim, elementwise_affine=False)
        self.last_changes = nn.Parameter(torch.zeros(2, dim))
        self.write = nn.Linear(dim, tokens.token_dim)
        nn.init.zeros_(self.write.weight)
        nn.init.zeros_(self.write.bias)

    def forward(
        self,
        x: Float[Tensor, "B K D"],
        time: Float[Tensor, " B"],
        conditions: Float[Tensor, "B c"],
    ) -> Float[Tensor, "B K D"]:
        """Velocity of every token; a condition that is NaN is unknown."""
        state = self.time(time_waves(time, self.slots.shape[1]))
        state = nn.functional.silu(state + self.conditions(shown(conditions)))
        shared = self.shared(state).unflatten(1, (CHANGES, -1))
        x = self.read(x) + self.slots
        for block in self.blocks:
            x = block(x, shared)
        scale, shift = self.last_changes
        return self.write((1 + scale) * self.norm(x) + shift)


def time_waves(time: Float[Tensor, " B"], dim: int) -> Float[Tensor, "B d"]:
    """Sines and cosines of the time, as Transformers show positions."""
    places = torch.arange(dim // 2, device=time.device, dtype=time.dtype)
    rates = torch.exp(places * (-2 * math.log(LARGEST_PERIOD) / dim))
    angles = TIME_SCALE * time[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def shown(conditions: Float[Tensor, "B c"]) -> Float[Tensor, "B s"]:
    """Each condition as itself, sines and cosines, and whether it is known; zeros if not."""
    if conditions.shape[1] == 0:
        return conditions.new_zeros(len(conditions), 2 + 2 * WAVES)
    is_known = conditions.isfinite()
    values = conditions.nan_to_num(0.0, 0.0, 0.0)[..., None]
    rates = 2.0 ** torch.arange(WAVES, device=values.device, dtype=values.dtype) / 4
    parts = [values, torch.sin(values * rates), torch.cos(values * rates)]
    seen = torch.cat([*parts, torch.ones_like(values)], dim=-1) * is_known[..., None]
    return seen.flatten(1)
