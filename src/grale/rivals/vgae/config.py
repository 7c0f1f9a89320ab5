"""Settings of VGAE (Kipf and Welling 2016).

Departures: wider than published (32, then 16), as the embeddings it is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class VgaeConfig:
    """Shape of the encoder and weight of the prior."""

    hidden_dim: int = 300
    """Width of the first layer (published: 32)."""
    latent_dim: int = 512
    """Length of a node's latent, and so of the embedding (published: 16)."""
    kl_weight: float = 1.0
    """Of the divergence, besides the 1 / n that is published."""

    def __post_init__(self) -> None:
        for name in ("hidden_dim", "latent_dim"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.kl_weight < 0:
            raise ValueError(f"kl_weight must be at least 0, got {self.kl_weight}")
