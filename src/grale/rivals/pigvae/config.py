"""Settings of PIGVAE (Winter, Noé and Clevert 2021; paper: "Graph reconstruction").

Departures: depth, heads, widths and latent are those of GRALE's COLORING column, so that both have
the same budget; the original has 16 layers, 16 heads, width 256 and a latent of 64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from grale.nn.residual import Norm


@dataclass(frozen=True, kw_only=True)
class PigvaeConfig:
    """Shape of the autoencoder and weights of its loss."""

    latent_dim: int = 128
    """Length of the embedding (original: z); K x D of the GRALE it is compared with."""
    num_layers: int = 5
    """Layers of each of the two stacks."""
    num_heads: int = 4
    message_dim: int = 64
    """Width of a message; the width of GRALE's edges."""
    hidden_dim: int | None = None
    """Hidden width of the feed-forward layers; None for four times `message_dim`."""
    position_dim: int = 32
    """Width of the encoding of a rank; even."""
    dropout: float = 0.1
    norm: Norm = "post"
    """Where blocks normalise: "post" as in the original, or "pre"."""
    noise_std: float = 0.05
    """Standard deviation of the noise on node states before they are scored; 0 for none."""
    noise_seed: int = 0
    """Seed of the noise table used at inference, one row per canonical position."""
    temperature: float = 1.0
    """Temperature of SoftSort (original: tau)."""
    entropy_weight: float = 0.5
    """Weight of the entropy of the soft permutation."""
    size_weight: float = 0.1
    """Weight of the squared error of the standardised number of nodes."""
    kl_weight: float = 0.0
    """Weight of the divergence from the prior (original: 1e-3 or none); above 0: variational."""

    def __post_init__(self) -> None:
        for name in ("latent_dim", "num_layers", "num_heads", "message_dim", "hidden_dim"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        for name in ("noise_std", "entropy_weight", "size_weight", "kl_weight"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(self, name)}")
        if self.message_dim % self.num_heads:
            raise ValueError(
                f"message_dim={self.message_dim} must be a multiple of num_heads={self.num_heads}"
            )
        if self.position_dim < 2 or self.position_dim % 2:
            raise ValueError(f"position_dim must be even and at least 2, got {self.position_dim}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1, got {self.dropout}")
        if self.temperature <= 0:
            raise ValueError(f"temperature must be above 0, got {self.temperature}")
        if self.norm not in get_args(Norm):
            raise ValueError(f"norm={self.norm!r}; expected one of {list(get_args(Norm))}")

    @property
    def is_variational(self) -> bool:
        """Whether a latent is drawn in training rather than computed."""
        return self.kl_weight > 0

    @property
    def feedforward_dim(self) -> int:
        """Hidden width of the feed-forward layers."""
        return 4 * self.message_dim if self.hidden_dim is None else self.hidden_dim
