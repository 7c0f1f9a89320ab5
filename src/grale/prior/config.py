"""Settings of a prior, and what it is a prior of (decisions/015)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

LARGEST = 1 << 20  # of any size below; settings may come from anyone
MOST_LAYERS = 1_000


@dataclass(frozen=True, kw_only=True)
class PriorConfig:
    """Shape of the network, and how it is trained."""

    path: Literal["flat", "sphere"] = "flat"
    """From noise to tokens: on straight lines, or on great circles of the sphere of the tokens."""
    dim: int = 192
    """Width of a token inside the network."""
    num_layers: int = 6
    num_heads: int = 6
    times: Literal["uniform", "middle"] = "uniform"
    """Where the velocity is learned: evenly, or mostly half way (the logistic of a normal number),
    where it is hardest: near noise it is the mean, near a graph the decoder corrects it."""
    dropped_share: float = 0.1
    """Share of the draws without any condition; guidance compares with those."""
    hidden_share: float = 0.5
    """Share of the other draws in which a condition is left out, for each condition alone."""

    def __post_init__(self) -> None:
        for name in ("dim", "num_layers", "num_heads"):
            _check_size(name, getattr(self, name))
        if self.num_layers > MOST_LAYERS:
            raise ValueError(f"num_layers must be at most {MOST_LAYERS}, got {self.num_layers}")
        if self.dim % self.num_heads or self.dim % 2:
            raise ValueError(
                f"dim={self.dim} must be even and a multiple of num_heads={self.num_heads}"
            )
        for name in ("dropped_share", "hidden_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be in [0, 1], got {getattr(self, name)}")


@dataclass(frozen=True, kw_only=True)
class TokenSpace:
    """Where the tokens of an autoencoder lie."""

    num_tokens: int
    token_dim: int
    on_sphere: bool = False
    """Whether every token has length sqrt(D)."""

    def __post_init__(self) -> None:
        _check_size("num_tokens", self.num_tokens)
        _check_size("token_dim", self.token_dim)

    @property
    def latent_dim(self) -> int:
        """Length of one latent, K x D."""
        return self.num_tokens * self.token_dim


@dataclass(frozen=True, kw_only=True)
class Condition:
    """Something known of a graph, by name: one number, or a vector such as a fingerprint."""

    name: str
    width: int = 1

    def __post_init__(self) -> None:
        _check_size(f"width of {self.name[:100]}", self.width)


@dataclass(frozen=True, kw_only=True)
class PriorSettings:
    """Everything that a file of weights does not say."""

    tokens: TokenSpace
    conditions: tuple[Condition, ...] = ()
    config: PriorConfig = field(default_factory=PriorConfig)
    autoencoder: str = ""
    """Name of the autoencoder, as it was given when the latents were made."""
    weights: str = ""
    """Fingerprint of the autoencoder's weights: other weights have other latents."""

    def __post_init__(self) -> None:
        names = [condition.name for condition in self.conditions]
        if len(set(names)) < len(names):
            raise ValueError(f"conditions must have different names, got {names}")
        if self.config.path == "sphere" and not self.tokens.on_sphere:
            raise ValueError("path=sphere needs tokens on a sphere; use path=flat for this model")

    @property
    def condition_dim(self) -> int:
        """Numbers of all conditions together."""
        return sum(condition.width for condition in self.conditions)


def _check_size(name: str, value: int) -> None:
    if not 1 <= value <= LARGEST:
        raise ValueError(f"{name} must be between 1 and {LARGEST}, got {value}")
