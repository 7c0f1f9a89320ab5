"""Cross-attention between many entries and few tokens (paper: appendix "Cross-Attention").

    CA(X, Y) = MHA(q[X], k[Y], v[Y], 0)

One side always has only K tokens here (K = 4 to 32), the other N^2 edges. While H K is less than
the width, the projections of the many are folded into the few: with W_q, W_k, W_v, W_o cut into
heads,

    few keys:     scores_h = x (W_q,h W_k,h^T y_k)     out = sum_hk probs_hk (W_o,h^T W_v,h^T y_k)
    few queries:  scores_h = (W_k,h W_q,h^T x_k) y     out = W_o,h^T W_v,h^T sum probs_h y

Two small products per entry replace two or more d x d projections, and no tensor of the
many entries is ever cut into heads. Both compute `literal_cross_attention`. Scores have the many
entries last: on a CPU, a softmax over four adjacent numbers takes 20 times as long. With more
tokens, the many entries are projected as usual, and `token_attention.py` keeps no scores.

See `attention.py` for scaling and output projection.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from grale.nn.attention import attend, join_heads, softmax, split_heads
from grale.nn.token_attention import attend_to_tokens


class _CrossAttention(nn.Module):
    """Weights of CA(X, Y); X has width `dim`, Y has width `context_dim`."""

    def __init__(self, dim: int, context_dim: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(context_dim, dim, bias=False)  # its bias would do nothing
        self.value = nn.Linear(context_dim, dim)
        self.combine = nn.Linear(dim, dim)

    def _query_heads(self) -> Float[Tensor, "H d_h d"]:
        return self.query.weight.unflatten(0, (self.num_heads, -1))

    def _combine_heads(self) -> Float[Tensor, "H d_h d"]:
        return self.combine.weight.t().unflatten(0, (self.num_heads, -1))


class AttendToFew(_CrossAttention):
    """Many entries read from few tokens (decoder: edges and nodes read the latent)."""

    def forward(
        self, x: Float[Tensor, "B N d"], context: Float[Tensor, "B K d_c"]
    ) -> Float[Tensor, "B N d"]:
        """CA(x, context), with the projections folded into the K tokens if that is cheaper."""
        if self.num_heads * context.shape[1] < x.shape[-1]:
            return self.folded(x, context)
        keys, values = self.key(context), self.value(context)
        return self.combine(attend_to_tokens(self.query(x), keys, values, self.num_heads))

    def folded(
        self, x: Float[Tensor, "B N d"], context: Float[Tensor, "B K d_c"]
    ) -> Float[Tensor, "B N d"]:
        """CA(x, context) without projecting x."""
        scale = (x.shape[-1] // self.num_heads) ** -0.5
        keys = split_heads(self.key(context), self.num_heads) * scale
        folded_keys = (keys @ self._query_heads()).flatten(1, 2)  # B (H K) d
        shift = (keys @ self.query.bias.unflatten(0, (self.num_heads, -1, 1))).flatten(1)
        scores = torch.baddbmm(shift[:, None], x, folded_keys.transpose(1, 2)).transpose(1, 2)
        probs = softmax(scores.unflatten(1, (self.num_heads, -1)), dim=2).flatten(1, 2)
        values = split_heads(self.value(context), self.num_heads)
        folded_values = values @ self._combine_heads() + self.combine.bias / self.num_heads
        return probs.transpose(1, 2).to(x.dtype) @ folded_values.flatten(1, 2)


class AttendFromFew(_CrossAttention):
    """Few tokens read from many entries (encoder: the latent pools the edges)."""

    def forward(
        self,
        x: Float[Tensor, "B K d"],
        context: Float[Tensor, "B M d_c"],
        bias: Float[Tensor, "B 1 M"] | None = None,
    ) -> Float[Tensor, "B K d"]:
        """CA(x, context), with the projections folded into the K queries if that is cheaper."""
        if self.num_heads * x.shape[1] > x.shape[-1]:
            wide = None if bias is None else bias[:, None]
            return literal_cross_attention(self, x, context, wide)
        return self.folded(x, context, bias)

    def folded(
        self,
        x: Float[Tensor, "B K d"],
        context: Float[Tensor, "B M d_c"],
        bias: Float[Tensor, "B 1 M"] | None = None,
    ) -> Float[Tensor, "B K d"]:
        """CA(x, context) without projecting the context."""
        scale = (x.shape[-1] // self.num_heads) ** -0.5
        queries = split_heads(self.query(x), self.num_heads) * scale
        key_heads = self.key.weight.unflatten(0, (self.num_heads, -1))
        folded_queries = (queries @ key_heads).flatten(1, 2)  # B (H K) d_c
        scores = folded_queries @ context.transpose(1, 2)
        if bias is not None:
            scores = scores + bias
        probs = softmax(scores).to(context.dtype)
        pooled = (probs @ context).unflatten(1, (self.num_heads, -1))
        value_heads = self.value.weight.unflatten(0, (self.num_heads, -1)).transpose(1, 2)
        value_bias = self.value.bias.unflatten(0, (self.num_heads, 1, -1))
        return self.combine(join_heads(pooled @ value_heads + value_bias))


def literal_cross_attention(
    layer: _CrossAttention,
    x: Float[Tensor, "B N d"],
    context: Float[Tensor, "B M d_c"],
    bias: Float[Tensor, "B 1 1 M"] | None = None,
) -> Float[Tensor, "B N d"]:
    """CA(x, context) as written in the paper. For tests and for reading."""
    queries = split_heads(layer.query(x), layer.num_heads)
    keys = split_heads(layer.key(context), layer.num_heads)
    values = split_heads(layer.value(context), layer.num_heads)
    return layer.combine(join_heads(attend(queries, keys, values, bias)))
