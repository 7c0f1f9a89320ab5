"""Triangular self-attention (paper: appendix "Triangular Attention").

    A_ijk   = Softmax_k(<q[C]_ij, k[C]_ik>)
    tSA_ij  = sum_k A_ijk v[C]_ik

Edge (i, j) looks at the edges (i, k) that leave the same node: ordinary self-attention over
each row of the edge tensor.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from grale.nn.attention import SelfAttention
from grale.nn.row_attention import attend_rows


class TriangleAttention(nn.Module):
    """tSA(C); rows of the edge tensor are the sequences."""

    def __init__(self, dim: int, num_heads: int) -> None:
        super().__init__()
        self.attention = SelfAttention(dim, num_heads)

    def forward(
        self, edges: Float[Tensor, "B N N d"], mask: Float[Tensor, "B 1 1 N"] | None = None
    ) -> Float[Tensor, "B N N d"]:
        """Update the edges; `mask` comes from :func:`grale.nn.attention.mask_bias`."""
        projected = self.attention.project(edges)
        return self.attention.combine(attend_rows(projected, self.attention.num_heads, mask))
