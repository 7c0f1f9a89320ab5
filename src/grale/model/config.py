"""Settings of the model (paper: appendix "Model and training hyperparameters").

Defaults are the paper's COLORING column; a YAML file holds differences only.

Settings that the paper does not print (noise, path encoding, outer width) are explained in
decisions/001 and 002.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from grale.model import choices
from grale.nn.residual import Norm

if TYPE_CHECKING:  # which a type checker cannot read from tables
    BackboneName = str
    PoolingName = str
    StackName = str
    MatcherName = str
else:
    BackboneName = Literal[tuple(choices.BACKBONES)]
    PoolingName = Literal[tuple(choices.POOLINGS)]
    StackName = Literal[tuple(choices.DECODER_STACKS)]
    MatcherName = Literal[tuple(choices.MATCHERS)]

MAX_SWEEPS = 10_000  # far more than any matcher needs; settings may come from anyone


def _at_least(name: str, value: float | int | None, least: float | int) -> None:
    if value is not None and value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")


def _check_choices(config: Any) -> None:
    for name, hint in get_type_hints(type(config)).items():
        value = getattr(config, name)
        if get_origin(hint) is Literal and value not in get_args(hint):
            raise ValueError(f"{name}={value!r}; expected one of {list(get_args(hint))}")


@dataclass(frozen=True, kw_only=True)
class FeaturizerConfig:
    """Settings of phi and phi* (paper: appendix "Featurizer")."""

    diffusion_order: int = 2
    """Labels are diffused up to A^k F_0 (paper: k); 0 for no diffusion."""
    use_paths: bool = True
    """Whether edges carry the encoded shortest path; False for the first-order featurizer."""
    path_dim: int = 16
    """Width of the sinusoidal encoding of a path length; even."""
    noise_std: float = 0.1
    """Standard deviation of the noise on the input features; 0 for none."""
    noise_seed: int = 0
    """Seed of the noise table used at inference, one row per canonical position."""
    hidden_share: float = 0.0
    """Share of nodes whose label is hidden from the encoder in training, but not from the loss."""

    def __post_init__(self) -> None:
        _at_least("diffusion_order", self.diffusion_order, 0)
        if not 0 <= self.hidden_share < 1:
            raise ValueError(f"hidden_share must be in [0, 1), got {self.hidden_share}")
        _at_least("noise_std", self.noise_std, 0)
        if self.path_dim < 2 or self.path_dim % 2:
            raise ValueError(f"path_dim must be even and at least 2, got {self.path_dim}")


@dataclass(frozen=True, kw_only=True)
class MatcherConfig:
    """Settings of the Sinkhorn matcher (paper: appendix "Matcher")."""

    kind: MatcherName = "sinkhorn"
    """Sinkhorn, or PIGVAE's sorting of scores (paper: "Ablation studies details")."""
    affinity: Literal["l1", "sphere"] = "l1"
    """Distance of two embeddings: the paper's, or on the unit sphere (decisions/002)."""
    temperature: float = 1.0
    """Divides the cost before Sinkhorn, or before the softmax of SoftSort (paper: tau)."""
    embedding_dim: int = 32
    """Width of the compared embeddings."""
    num_sweeps: int = 100
    """Sinkhorn sweeps in training."""
    grad_sweeps: int | None = None
    """How many of them are differentiated; None for all, as in the paper (decisions/004)."""
    rounds: int = 0
    """How often a pair of input graphs is matched again, given the edits of the last plan; 0 as
    in the paper (decisions/008)."""
    edit_weight: float = 4.0
    """What one such edit takes off the log-score of two nodes in the last round; it grows up to
    then."""

    def __post_init__(self) -> None:
        if self.temperature <= 0:
            raise ValueError(f"temperature must be above 0, got {self.temperature}")
        _at_least("embedding_dim", self.embedding_dim, 1)
        _at_least("num_sweeps", self.num_sweeps, 1)
        if max(self.num_sweeps, self.rounds) > MAX_SWEEPS:
            raise ValueError(f"num_sweeps and rounds must be at most {MAX_SWEEPS}")
        _at_least("grad_sweeps", self.grad_sweeps, 1)
        _at_least("rounds", self.rounds, 0)
        if self.rounds and self.kind == "softsort":
            raise ValueError("rounds need kind=sinkhorn; set rounds to 0 for softsort")
        _check_choices(self)


@dataclass(frozen=True, kw_only=True)
class LossConfig:
    """Weights of the terms of the loss (paper: appendix "Loss")."""

    mask: float = 1.0
    """Weight of node existence (paper: N alpha_h)."""
    node_label: float = 1.0
    """Weight of node labels (paper: N alpha_F^d)."""
    node_feature: float = 0.5
    """Weight of diffused labels (paper: N alpha_F^c)."""
    edge_label: float = 1.0
    """Weight of edge labels (paper: N^2 alpha_C^d)."""
    edge_feature: float = 0.5
    """Weight of encoded shortest paths (paper: N^2 alpha_C^c)."""
    marginal: float = 0.0
    """Weight of the squared error of the plan's column sums; not in the paper (decisions/002)."""
    normalise_by: Literal["max", "size"] = "max"
    """Divide node terms by N, as the paper does, or by each graph's n (edge terms: squared)."""
    objective: Literal["ot", "pigvae"] = "ot"
    """The transport objective, or PIGVAE's relaxation with its entropy term."""
    entropy: float = 10.0
    """Weight of PIGVAE's entropy term (paper: lambda); unused by "ot"."""

    def __post_init__(self) -> None:
        _check_choices(self)


@dataclass(frozen=True, kw_only=True)
class LatentConfig:
    """What happens to the tokens between encoder and decoder; not in the paper."""

    on_sphere: bool = False
    """Whether every token has length sqrt(D), so that noise affects all of them equally."""
    noise_std: float = 0.0
    """Standard deviation of the noise on the tokens in training; makes the decoder robust."""

    def __post_init__(self) -> None:
        _at_least("noise_std", self.noise_std, 0)


@dataclass(frozen=True, kw_only=True)
class DescriptionConfig:
    """What the description is trained to predict; not in the paper (decisions/013)."""

    counts: float = 0.0
    """Weight of the error in the graph's counts: labels, bonds, colours, path lengths."""
    properties: float = 0.0
    """Weight of the error in the numbers that the dataset has for each graph."""
    property_names: tuple[str, ...] = ()
    """Names of those numbers; taken from the dataset."""

    def __post_init__(self) -> None:
        _at_least("counts", self.counts, 0)
        _at_least("properties", self.properties, 0)


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Shape of the autoencoder."""

    num_tokens: int = 4
    """Tokens of the latent (paper: K); with pooling=transport, the largest number of nodes."""
    token_dim: int = 32
    """Width of a token (paper: D)."""
    num_layers: int = 5
    """Layers of each of the four stacks (paper: L)."""
    encoder_layers: int | None = None
    """Layers of the encoder's two stacks; None for num_layers, as in the paper."""
    num_heads: int = 4
    """Attention heads (paper: H)."""
    node_dim: int = 128
    node_hidden_dim: int | None = None
    """Hidden width of the feed-forward layers on nodes and tokens; None for a single layer."""
    edge_dim: int = 64
    edge_hidden_dim: int | None = None
    """Hidden width of the feed-forward layers on edges; None for a single layer."""
    outer_dim: int = 32
    """Width of the two sides of the outer product."""
    dropout: float = 0.0
    """Share of the numbers of the first states of nodes and edges that are set to zero in
    training; 0 as in the paper."""
    norm: Norm = "post"
    """Where blocks normalise: "post" as in the paper's text, or "pre"."""
    encoder: BackboneName = "evoformer"
    """The Evoformer, or a GIN with concatenated pairs (paper: "Ablation studies details")."""
    pooling: PoolingName = "attention"
    """How nodes and edges become tokens: read by attention, or moved to one token per slot by the
    matcher's plan (decisions/012)."""
    decoder: StackName = "evoformer"
    """The Evoformer, or a Transformer decoder with an MLP on pairs (same section)."""
    featurizer: FeaturizerConfig = field(default_factory=FeaturizerConfig)
    matcher: MatcherConfig = field(default_factory=MatcherConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    latent: LatentConfig = field(default_factory=LatentConfig)
    description: DescriptionConfig = field(default_factory=DescriptionConfig)

    def __post_init__(self) -> None:
        for name in ("num_tokens", "num_layers", "encoder_layers", "num_heads", "outer_dim"):
            _at_least(name, getattr(self, name), 1)
        for name in ("token_dim", "node_dim", "edge_dim", "node_hidden_dim", "edge_hidden_dim"):
            _at_least(name, getattr(self, name), 1)
        cut_into_heads = ["node_dim", "edge_dim"]
        if self.pooling == "attention":
            cut_into_heads.append("token_dim")
        for name in cut_into_heads:
            if getattr(self, name) % self.num_heads:
                raise ValueError(
                    f"{name}={getattr(self, name)} must be a multiple of num_heads={self.num_heads}"
                )
        _check_choices(self)
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be in [0, 1), got {self.dropout}")
        if self.dropout and self.encoder != "evoformer":
            raise ValueError(f"dropout needs encoder=evoformer, got {self.encoder}")
        if self.pooling == "transport" and (self.encoder, self.matcher.kind) != (
            "evoformer",
            "sinkhorn",
        ):
            raise ValueError(
                "pooling=transport needs encoder=evoformer and matcher.kind=sinkhorn, got "
                f"{self.encoder} and {self.matcher.kind}"
            )

    @property
    def layers_of_encoder(self) -> int:
        """Layers of each of the encoder's two stacks."""
        return self.encoder_layers or self.num_layers
