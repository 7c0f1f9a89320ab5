"""PIGVAE's relaxation: reorder the prediction, then compare once (paper: "PIGVAE", "Loss").

    L_PIGVAE(G, G_hat, T) = sum_i loss_F(F_i, [T F_hat]_i) + sum_ik loss_C(C_ik, [T C_hat T^T]_ik)

Never above the transport objective, equal to it at permutations (Proposition 3), but it can
be zero for graphs that differ (Proposition 4).

Departures: the regulariser is masked over the rows, which are the input nodes; the paper writes
h_j.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from grale.transport.partial_fgw import Separable, move_edges


def aligned_linear_cost(
    plan: Float[Tensor, "B N M"],
    true: Float[Tensor, "B N c"],
    pred: Float[Tensor, "B M c"],
    loss: Separable,
    row_mask: Float[Tensor, "B N"],
) -> Float[Tensor, " B"]:
    """Evaluate sum_i row_mask_i loss(true_i, sum_j plan_ij pred_j)."""
    return (row_mask * loss(true, plan @ pred)).sum(1)


def aligned_quadratic_cost(
    plan: Float[Tensor, "B N M"],
    true: Float[Tensor, "B N N c"],
    pred: Float[Tensor, "B M M c"],
    loss: Separable,
    row_mask: Float[Tensor, "B N"],
) -> Float[Tensor, " B"]:
    """Evaluate sum_ik mask_i mask_k loss(true_ik, sum_jl plan_ij plan_kl pred_jl)."""
    moved = move_edges(plan.transpose(1, 2), pred)
    return torch.einsum("bi,bik,bk->b", row_mask, loss(true, moved), row_mask)


def plan_entropy(
    log_plan: Float[Tensor, "B N M"], row_mask: Float[Tensor, "B N"]
) -> Float[Tensor, " B"]:
    """Regulariser -sum_ij plan_ij log plan_ij over real nodes (paper: Omega_PIGVAE+)."""
    finite = log_plan.clamp_min(torch.finfo(log_plan.dtype).min)  # 0 log 0 is 0
    return -(log_plan.exp() * finite * row_mask[:, :, None]).sum((1, 2))
