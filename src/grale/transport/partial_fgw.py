"""The partially-masked Fused Gromov-Wasserstein objective (paper: "Matching-free loss").

    sum_ij   plan_ij           loss_F(true_i,  pred_j)         linear_cost
    sum_ijkl plan_ij plan_kl   loss_C(true_ik, pred_jl)        quadratic_cost

Both ground losses separate, loss(a, b) = f1(a) + f2(b) - <h1(a), h2(b)> (Proposition 1),
which makes the quadratic term O(N^3). `true` sits on the rows of the plan and `pred` on its
columns. Rows of padded inputs must be zero in the plan, which is the h_i h_k of the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class Separable(NamedTuple):
    """A ground loss in its factored form, loss(a, b) = f1(a) + f2(b) - <h1(a), h2(b)>.

    `a` is the truth and `b` the raw prediction; all four work on the last dimension.
    """

    f1: Callable[[Tensor], Tensor]
    f2: Callable[[Tensor], Tensor]
    h1: Callable[[Tensor], Tensor]
    h2: Callable[[Tensor], Tensor]

    def __call__(self, true: Tensor, pred: Tensor) -> Tensor:
        """Evaluate loss(true, pred) literally, over the last dimension."""
        return self.f1(true) + self.f2(pred) - (self.h1(true) * self.h2(pred)).sum(-1)


def _identity(x: Tensor) -> Tensor:
    return x


def _double(x: Tensor) -> Tensor:
    return 2 * x


def _zero(x: Tensor) -> Tensor:
    return torch.zeros((), dtype=x.dtype, device=x.device).expand(x.shape[:-1])


def _square(x: Tensor) -> Tensor:
    return x.square().sum(-1)


def _log_partition(x: Tensor) -> Tensor:
    return torch.logsumexp(x, dim=-1)


CROSS_ENTROPY = Separable(f1=_zero, f2=_log_partition, h1=_identity, h2=_identity)
"""-sum_c a_c log softmax(b)_c for one-hot (or any distribution) a and logits b."""

SQUARED_ERROR = Separable(f1=_square, f2=_square, h1=_double, h2=_identity)
"""|a - b|^2."""


def linear_cost(
    plan: Float[Tensor, "B N M"],
    true: Float[Tensor, "B N c"],
    pred: Float[Tensor, "B M c"],
    loss: Separable,
) -> Float[Tensor, " B"]:
    """Evaluate sum_ij plan_ij loss(true_i, pred_j)."""
    rows, columns = plan.sum(dim=2), plan.sum(dim=1)
    moved = plan.transpose(1, 2) @ loss.h1(true)
    return (
        (rows * loss.f1(true)).sum(1)
        + (columns * loss.f2(pred)).sum(1)
        - (moved * loss.h2(pred)).sum((1, 2))
    )


def quadratic_cost(
    plan: Float[Tensor, "B N M"],
    true: Float[Tensor, "B N N c"],
    pred: Float[Tensor, "B M M c"],
    loss: Separable,
) -> Float[Tensor, " B"]:
    """Evaluate sum_ijkl plan_ij plan_kl loss(true_ik, pred_jl) in O(N^3) (Proposition 1)."""
    rows, columns = plan.sum(dim=2), plan.sum(dim=1)
    moved = move_edges(plan, loss.h1(true))
    return (
        torch.einsum("bi,bik,bk->b", rows, loss.f1(true), rows)
        + torch.einsum("bj,bjl,bl->b", columns, loss.f2(pred), columns)
        - (moved * loss.h2(pred)).sum((1, 2, 3))
    )


def move_edges(
    plan: Float[Tensor, "B N M"], edges: Float[Tensor, "B N N c"]
) -> Float[Tensor, "B M M c"]:
    """Carry edge features from inputs to slots: plan^T edges plan, channel by channel."""
    num_graphs, num_nodes, _, num_channels = edges.shape
    moved = plan.transpose(1, 2) @ edges.flatten(2)  # i -> j
    moved = moved.view(num_graphs, plan.shape[2], num_nodes, num_channels)
    return torch.matmul(plan.transpose(1, 2)[:, None], moved)  # k -> l


def quadratic_cost_reference(
    plan: Float[Tensor, "B N M"],
    true: Float[Tensor, "B N N c"],
    pred: Float[Tensor, "B M M c"],
    loss: Separable,
) -> Float[Tensor, " B"]:
    """Evaluate the same sum as written in the paper: O(N^4). For tests and for reading."""
    pairwise = loss(true[:, :, None, :, None], pred[:, None, :, None, :])
    return torch.einsum("bij,bkl,bijkl->b", plan, plan, pairwise)
