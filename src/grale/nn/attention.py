"""Multi-head attention, plain and biased by edges.

Paper: appendix "Dot Product Attention", "Self-Attention Block", "biased Self-Attention Block".

    DPA(Q, K, V, B) = Softmax[Q K^T / sqrt(d) + B] V          per head, then concatenated

Departures: scores are divided by sqrt(d), and an output projection mixes the heads, as usual since
Vaswani et al.; the paper's formula shows neither (decisions/001).
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

MASKED = -3e4  # finite even in float16: a row with nothing to attend to is uniform, not NaN


def attend(
    queries: Float[Tensor, "B H N d"],
    keys: Float[Tensor, "B H M d"],
    values: Float[Tensor, "B H M d"],
    bias: Float[Tensor, "B #H #N M"] | None = None,
) -> Float[Tensor, "B H N d"]:
    """Softmax(Q K^T / sqrt(d) + bias) V.

    With gradients on a CPU, two plain products are faster than the fused kernel for a few dozen
    keys; on an accelerator, or without gradients, the fused kernel is faster. A test checks that
    the two agree.
    """
    if queries.device.type == "cpu" and torch.is_grad_enabled():
        return attend_plainly(queries, keys, values, bias)
    return nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=bias)


def attend_plainly(
    queries: Float[Tensor, "B H N d"],
    keys: Float[Tensor, "B H M d"],
    values: Float[Tensor, "B H M d"],
    bias: Float[Tensor, "B #H #N M"] | None = None,
) -> Float[Tensor, "B H N d"]:
    """Evaluate :func:`attend` as two batched products with a softmax between them."""
    scores = (queries * queries.shape[-1] ** -0.5) @ keys.transpose(-1, -2)
    if bias is not None:
        scores = scores + bias
    return softmax(scores).to(values.dtype) @ values


def softmax(scores: Float[Tensor, "*B"], dim: int = -1) -> Float[Tensor, "*B"]:
    """Softmax over one dimension, in float32 or better."""
    return torch.softmax(full_precision(scores), dim=dim)


def mask_bias(key_mask: Bool[Tensor, "*B M"], dtype: torch.dtype) -> Float[Tensor, "*B 1 1 M"]:
    """0 where a key is real, MASKED where it is padding; add it to the scores."""
    bias = torch.zeros(key_mask.shape, dtype=dtype, device=key_mask.device)
    return bias.masked_fill(~key_mask, MASKED)[..., None, None, :]


def full_precision(x: Tensor) -> Tensor:
    """Widen half precision to float32; leave float32 and float64 as they are."""
    return x.float() if x.dtype.itemsize < 4 else x


def split_heads(x: Float[Tensor, "B N d"], num_heads: int) -> Float[Tensor, "B H N d_h"]:
    """Cut the last dimension into heads and put the heads before the sequence."""
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def join_heads(x: Float[Tensor, "B H N d_h"]) -> Float[Tensor, "B N d"]:
    """Undo :func:`split_heads`."""
    return x.transpose(1, 2).flatten(2)


class SelfAttention(nn.Module):
    """SA(X), or bSA(X, C) when a bias per head and pair is given."""

    def __init__(self, dim: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.project = nn.Linear(dim, 3 * dim)
        self.combine = nn.Linear(dim, dim)

    def forward(
        self, x: Float[Tensor, "B N d"], bias: Float[Tensor, "B #H #N N"] | None = None
    ) -> Float[Tensor, "B N d"]:
        """Every entry attends to every entry whose bias is not MASKED."""
        queries, keys, values = (
            split_heads(part, self.num_heads) for part in self.project(x).chunk(3, dim=-1)
        )
        return self.combine(join_heads(attend(queries, keys, values, bias)))


class EdgeBiasedAttention(nn.Module):
    """bSA(X, C) = MHA(q[X], k[X], v[X], b[C]): edges tell nodes where to look."""

    def __init__(self, dim: int, edge_dim: int, num_heads: int) -> None:
        super().__init__()
        self.attention = SelfAttention(dim, num_heads)
        self.bias = nn.Linear(edge_dim, num_heads, bias=False)

    def forward(
        self,
        nodes: Float[Tensor, "B N d_n"],
        edges: Float[Tensor, "B N N d_e"],
        mask: Float[Tensor, "B 1 1 N"] | None = None,
    ) -> Float[Tensor, "B N d_n"]:
        """Update the nodes; `mask` comes from :func:`mask_bias`."""
        bias = self.bias(edges).permute(0, 3, 1, 2)
        return self.attention(nodes, bias if mask is None else bias + mask)
