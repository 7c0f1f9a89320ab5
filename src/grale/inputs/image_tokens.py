"""An image as tokens: the first half of a ResNet-18 (Any2Graph, "Image2Graph").

    stem     7 x 7 convolution of stride 2, no max-pooling
    stage 1  two residual blocks of stride 1
    stage 2  two residual blocks, the first of stride 2
    tokens   1 x 1 convolution to the width d, plus a learned vector per row and per column

32 x 32 pixels become 8 x 8 tokens.

Departures: group norm instead of batch norm. An image's tokens then do not depend on its batch, and
averaged weights need no running statistics.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from grale.inputs.config import ReaderConfig
from grale.inputs.space import CHANNELS, InputSpace

NUM_TURNS = 8  # four quarter turns, each plain or flipped
MOST_GROUPS = 8  # of channels that are normalised together
STRIDE = 4  # pixels per token and axis


class ResidualBlock(nn.Module):
    """x -> ReLU(x' + two 3 x 3 convolutions of x); x' is x, or x at the new size."""

    def __init__(self, dim_in: int, dim_out: int, stride: int) -> None:
        super().__init__()
        self.first = _convolution(dim_in, dim_out, 3, stride)
        self.second = _convolution(dim_out, dim_out, 3, 1)
        same = stride == 1 and dim_in == dim_out
        self.shortcut = nn.Identity() if same else _convolution(dim_in, dim_out, 1, stride)

    def forward(self, x: Float[Tensor, "B c h w"]) -> Float[Tensor, "B e i j"]:
        """Update the channels."""
        return torch.relu(self.shortcut(x) + self.second(torch.relu(self.first(x))))


class ImageTokens(nn.Module):
    """Bytes of an image -> tokens; all of them are real."""

    adam_weights: ClassVar = ("rows", "columns")

    def __init__(self, space: InputSpace, config: ReaderConfig) -> None:
        super().__init__()
        self.side = space.size
        first, second = config.channels
        self.body = nn.Sequential(
            _convolution(CHANNELS, first, 7, 2),
            nn.ReLU(),
            ResidualBlock(first, first, 1),
            ResidualBlock(first, first, 1),
            ResidualBlock(first, second, 2),
            ResidualBlock(second, second, 1),
            nn.Conv2d(second, config.dim, 1),
        )
        places = space.size // STRIDE
        self.rows = nn.Parameter(torch.randn(places, config.dim) * 0.02)
        self.columns = nn.Parameter(torch.randn(places, config.dim) * 0.02)

    def forward(
        self, inputs: UInt8[Tensor, "B w"], turns: Int[Tensor, " B"] | None = None
    ) -> tuple[Float[Tensor, "B M d"], None]:
        """Tokens row by row, and no mask; `turns` as in :func:`turned`."""
        pixels = inputs.unflatten(1, (self.side, self.side, CHANNELS))
        pixels = pixels if turns is None else turned(pixels, turns)
        # contiguous: with channels last, torch 2.13 crashes in the backward pass of 4 channels
        seen = pixels.permute(0, 3, 1, 2).contiguous().to(self.rows.dtype) / 127.5 - 1
        tokens = self.body(seen).permute(0, 2, 3, 1)
        tokens = tokens + self.rows[:, None] + self.columns
        return tokens.flatten(1, 2), None


def turned(pixels: UInt8[Tensor, "B s s 3"], turns: Int[Tensor, " B"]) -> UInt8[Tensor, "B s s 3"]:
    """Turn image b by `turns[b]` quarters; from four on, it is flipped first.

    Cells stay cells and touching cells touch: the graph is the same.
    """
    found = torch.empty_like(pixels)
    for turn in range(NUM_TURNS):
        rows = (turns == turn).nonzero()[:, 0]
        if len(rows):
            some = pixels[rows]
            some = some.flip(2) if turn >= NUM_TURNS // 2 else some
            found[rows] = some.rot90(turn % 4, (1, 2))
    return found


def _convolution(dim_in: int, dim_out: int, width: int, stride: int) -> nn.Module:
    """Convolution without a bias, then a norm, which has one."""
    return nn.Sequential(
        nn.Conv2d(dim_in, dim_out, width, stride, padding=width // 2, bias=False),
        nn.GroupNorm(_groups(dim_out), dim_out),
    )


def _groups(dim: int) -> int:
    """Largest number of groups, at most MOST_GROUPS, that divides the channels.

    >>> _groups(64), _groups(12), _groups(7)
    (8, 6, 7)
    """
    return next(count for count in range(min(MOST_GROUPS, dim), 0, -1) if dim % count == 0)
