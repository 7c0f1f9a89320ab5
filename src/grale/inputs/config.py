"""Settings of the network that reads an input; predictors that are compared share it."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST = 1 << 16  # of any width below; settings may come from anyone
MOST_LAYERS = 1_000


@dataclass(frozen=True, kw_only=True)
class ReaderConfig:
    """Shape of the reader; defaults are Any2Graph's for COLORING."""

    dim: int = 256
    """Width of a token."""
    num_layers: int = 4
    """Layers over the tokens of the input, and as many over the queries."""
    num_heads: int = 4
    channels: tuple[int, ...] = (64, 128)
    """Of images: channels of the first and of the second stage of the convolutions."""
    turns: bool = True
    """Of images: whether training shows them flipped and turned by quarters."""

    def __post_init__(self) -> None:
        sizes = {"dim": self.dim, "num_layers": self.num_layers, "num_heads": self.num_heads}
        sizes |= {f"channels[{place}]": width for place, width in enumerate(self.channels)}
        for name, value in sizes.items():
            if not 1 <= value <= LARGEST:
                raise ValueError(f"{name} must be between 1 and {LARGEST}, got {value}")
        if self.num_layers > MOST_LAYERS:
            raise ValueError(f"num_layers must be at most {MOST_LAYERS}, got {self.num_layers}")
        if len(self.channels) != 2:
            raise ValueError(f"channels must be two numbers, got {list(self.channels)}")
        if self.dim % self.num_heads or self.dim % 2:
            raise ValueError(
                f"dim={self.dim} must be even and a multiple of num_heads={self.num_heads}"
            )
