"""Settings of GraphVAE (Simonovsky & Komodakis 2018: "Experiments", "Unregularized Autoencoder").

Departures: layers are wider than published (32 and 64 channels; 128-256-512; 40 latent dimensions),
and the latent is as long as GRALE's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Aggregation = Literal["mean", "sum"]


@dataclass(frozen=True, kw_only=True)
class GraphVaeConfig:
    """Shape and loss of the autoencoder."""

    latent_dim: int = 128
    """Length of the latent (published: c = 40)."""
    encoder_dim: int = 128
    """Channels of each convolution (published: 32, then 64)."""
    num_convolutions: int = 2
    """Edge-conditioned convolutions."""
    aggregation: Aggregation = "mean"
    """How messages of neighbours are combined: the mean, as published, or the sum."""
    pool_dim: int | None = None
    """Channels of the gated pooling (published: 128); None for `latent_dim`, since fewer would
    limit the latent."""
    decoder_dims: tuple[int, ...] = (512, 512, 1024)
    """Hidden widths of the decoder (published: 128, 256, 512)."""
    kl_weight: float = 1.0
    """Weight of the divergence from the prior; near 0 for an unregularised autoencoder."""
    matching_iterations: int = 75
    """Steps of max-pooling matching."""
    spanning_tree: bool = False
    """Whether decoded graphs are made connected by a maximum spanning tree."""

    def __post_init__(self) -> None:
        for name in ("latent_dim", "encoder_dim", "num_convolutions"):
            _positive(name, getattr(self, name))
        if self.pool_dim is not None:
            _positive("pool_dim", self.pool_dim)
        _positive("matching_iterations", self.matching_iterations)
        if not self.decoder_dims:
            raise ValueError("decoder_dims is empty; give at least one hidden width")
        for width in self.decoder_dims:
            _positive("each of decoder_dims", width)
        if self.kl_weight < 0:
            raise ValueError(f"kl_weight must be at least 0, got {self.kl_weight}")
        if self.aggregation not in get_args(Aggregation):
            raise ValueError(
                f"aggregation={self.aggregation!r}; expected one of {list(get_args(Aggregation))}"
            )


def _positive(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")
