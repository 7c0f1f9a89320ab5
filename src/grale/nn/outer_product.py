"""Outer product layer: nodes update edges (paper: appendix "Outer Product Block").

    OP(X)_ijc = a_ia W_abc b_jb,     a = left[X],  b = right[X],  both of a small width r

Contracting `a` with W once per node (N r^2 d products) and then with `b` once per edge
(N^2 r d) never forms the r x r products per edge (N^2 r^2 d).

Departures: X is first projected to width r (32 in the paper's published code); with the
full node width W alone would hold 128 x 128 x 64 weights per layer (decisions/001).
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn


class OuterProduct(nn.Module):
    """OP(X), through a bottleneck of `rank` channels per node."""

    def __init__(self, node_dim: int, edge_dim: int, rank: int) -> None:
        super().__init__()
        self.left = nn.Linear(node_dim, rank)
        self.right = nn.Linear(node_dim, rank)
        self.weight = nn.Parameter(torch.empty(rank, rank * edge_dim))
        self.bias = nn.Parameter(torch.zeros(edge_dim))
        nn.init.normal_(self.weight, std=1 / rank)

    def forward(self, nodes: Float[Tensor, "B N d_n"]) -> Float[Tensor, "B N N d_e"]:
        """Entry (i, j) mixes node i (left) with node j (right)."""
        left, right = self.left(nodes), self.right(nodes)
        per_node = (left @ self.weight).unflatten(-1, (right.shape[-1], -1))  # B N b c
        return right[:, None] @ per_node + self.bias

    def literal(self, nodes: Float[Tensor, "B N d_n"]) -> Float[Tensor, "B N N d_e"]:
        """Evaluate the same sum as written in the paper. For tests and for reading."""
        left, right = self.left(nodes), self.right(nodes)
        weight = self.weight.unflatten(1, (right.shape[-1], -1))
        return torch.einsum("bia,acd,bjc->bijd", left, weight, right) + self.bias
