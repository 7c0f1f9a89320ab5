"""Transformer encoder and decoder over the latent tokens (paper: appendix "Encoder", "Decoder").

    encoder layer:  Z <- FFB(SAB(Z))
    decoder layer:  Z <- FFB(CAB(SAB(Z), Y))

The norm is placed by `Residual`.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from grale.nn.attention import SelfAttention
from grale.nn.cross_attention import AttendFromFew
from grale.nn.feedforward import FeedForward
from grale.nn.residual import Norm, Residual, final_norm


class TransformerEncoderLayer(nn.Module):
    """Tokens read each other."""

    def __init__(self, dim: int, hidden_dim: int | None, num_heads: int, norm: Norm) -> None:
        super().__init__()
        self.attention = Residual(SelfAttention(dim, num_heads), dim, norm)
        self.feedforward = Residual(FeedForward(dim, hidden_dim), dim, norm)

    def forward(
        self, tokens: Float[Tensor, "B K d"], bias: Float[Tensor, "B 1 1 K"] | None = None
    ) -> Float[Tensor, "B K d"]:
        """Update the tokens; `bias` is MASKED where one is padding."""
        return self.feedforward(self.attention(tokens, bias))


class TransformerDecoderLayer(nn.Module):
    """Tokens read each other, then a larger set."""

    def __init__(
        self, dim: int, context_dim: int, hidden_dim: int | None, num_heads: int, norm: Norm
    ) -> None:
        super().__init__()
        self.attention = Residual(SelfAttention(dim, num_heads), dim, norm)
        self.cross = Residual(AttendFromFew(dim, context_dim, num_heads), dim, norm)
        self.feedforward = Residual(FeedForward(dim, hidden_dim), dim, norm)

    def forward(
        self,
        tokens: Float[Tensor, "B K d"],
        context: Float[Tensor, "B M d_c"],
        bias: Float[Tensor, "B 1 M"] | None = None,
    ) -> Float[Tensor, "B K d"]:
        """Update the tokens from `context`; `bias` is MASKED where the context is padding."""
        return self.feedforward(self.cross(self.attention(tokens), context, bias))


class TransformerEncoder(nn.Module):
    """A stack of encoder layers."""

    def __init__(
        self, dim: int, hidden_dim: int | None, num_heads: int, norm: Norm, num_layers: int
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            TransformerEncoderLayer(dim, hidden_dim, num_heads, norm) for _ in range(num_layers)
        )
        self.norm = final_norm(dim, norm)

    def forward(
        self, tokens: Float[Tensor, "B K d"], bias: Float[Tensor, "B 1 1 K"] | None = None
    ) -> Float[Tensor, "B K d"]:
        """Update the tokens layer by layer; `bias` is MASKED where one is padding."""
        for layer in self.layers:
            tokens = layer(tokens, bias)
        return self.norm(tokens)


class TransformerDecoder(nn.Module):
    """A stack of decoder layers, reading the same context."""

    def __init__(self, layers: list[TransformerDecoderLayer], dim: int, norm: Norm) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norm = final_norm(dim, norm)

    def forward(
        self,
        tokens: Float[Tensor, "B K d"],
        context: Float[Tensor, "B M d_c"],
        bias: Float[Tensor, "B 1 M"] | None = None,
    ) -> Float[Tensor, "B K d"]:
        """Update the tokens layer by layer."""
        for layer in self.layers:
            tokens = layer(tokens, context, bias)
        return self.norm(tokens)
