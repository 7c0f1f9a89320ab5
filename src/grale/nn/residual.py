"""From layers to blocks (paper: appendix "Definitions", "From layers to blocks").

    post-norm:  BLOCK(x) = NORM(x + LAYER(x))            as written in the paper
    pre-norm:   BLOCK(x) = x + LAYER(NORM(x))            trains at higher learning rates

No other file places a norm.

Departures: pre-norm is an option besides the paper's post-norm (decisions/001).
"""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor, nn

Norm = Literal["pre", "post"]


class Residual(nn.Module):
    """Add to x the output of a layer on x (and any context), normalised once."""

    def __init__(self, layer: nn.Module, dim: int, norm: Norm) -> None:
        super().__init__()
        self.layer, self.norm = layer, nn.LayerNorm(dim)
        self.is_pre_norm = norm == "pre"

    def forward(self, x: Tensor, *context: Any) -> Tensor:
        """Update x; `context` is passed to the layer."""
        if self.is_pre_norm:
            return x + self.layer(self.norm(x), *context)
        return self.norm(x + self.layer(x, *context))


class SideResidual(nn.Module):
    """Add to x the output of a layer on something else (nodes to edges)."""

    def __init__(self, layer: nn.Module, dim: int, source_dim: int, norm: Norm) -> None:
        super().__init__()
        self.is_pre_norm = norm == "pre"
        self.layer = layer
        self.norm = nn.LayerNorm(source_dim if self.is_pre_norm else dim)

    def forward(self, x: Tensor, source: Tensor) -> Tensor:
        """Update x from `source`."""
        if self.is_pre_norm:
            return x + self.layer(self.norm(source))
        return self.norm(x + self.layer(source))


def final_norm(dim: int, norm: Norm) -> nn.Module:
    """Norm after the last block of a stack; pre-norm needs one, post-norm does not."""
    return nn.LayerNorm(dim) if norm == "pre" else nn.Identity()
