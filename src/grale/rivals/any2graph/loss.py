"""PMFGW, the loss of Any2Graph (Krzakala et al. 2024, "Partially-Masked Fused GW").

    PMFGW = min_T  a_h sum_ij T_ij l_h(h_i, h_hat_j)
                 + a_F sum_ij T_ij w_i CE(F_i, F_hat_j) + a_fd sum_ij T_ij w_i |(AF)_i - D_hat_j|^2
                 + a_A sum_ijkl T_ij T_kl w_i w_k BCE(A_ik, A_hat_jl)

T has marginals 1/N, and w_i = N h_i / n: means over N slots, n nodes, and n^2 pairs. Here
plans have marginals 1, so the factors 1/N, 1/n and 1/n^2 are written out. T is found by conditional
gradient and is a constant for the gradient of the loss.

Rows of a plan are targets, columns are predictions, as everywhere in this package.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import one_hot, softplus

from grale.codec.logits import GraphLogits
from grale.codec.loss_terms import LossTermsPerGraph
from grale.graphs.batch import GraphBatch
from grale.rivals.any2graph.config import Any2GraphConfig
from grale.transport.conditional_gradient import SolvedPlan, minimise_plan
from grale.transport.partial_fgw import (
    CROSS_ENTROPY,
    SQUARED_ERROR,
    Separable,
    linear_cost,
    quadratic_cost,
)


def _zero(x: Tensor) -> Tensor:
    return torch.zeros_like(x[..., 0])


def _softplus(x: Tensor) -> Tensor:
    return softplus(x[..., 0])


def _same(x: Tensor) -> Tensor:
    return x


BINARY = Separable(f1=_zero, f2=_softplus, h1=_same, h2=_same)
"""Cross-entropy of a bit a and a logit b: softplus(b) - a b (original: f1 + f2 - h1 h2)."""


@dataclass(frozen=True)
class Targets:
    """Graphs, padded to the number of slots, as the loss compares them."""

    node_mask: Float[Tensor, "B N"]
    node_label: Float[Tensor, "B N n"]
    node_feature: Float[Tensor, "B N n"]
    """Labels of the neighbours, summed (original: F_fd = A F)."""
    adjacency: Float[Tensor, "B N N 1"]

    @classmethod
    def of(cls, graphs: GraphBatch, num_slots: int, num_labels: int) -> Targets:
        """Targets of a batch."""
        graphs = graphs.padded_to(num_slots)
        mask = graphs.node_mask.float()
        labels = one_hot(graphs.node_labels, num_labels).float() * mask[..., None]
        adjacency = graphs.adjacency.float()
        return cls(mask, labels, adjacency @ labels, adjacency[..., None])


@dataclass(frozen=True)
class PmfgwTerms(LossTermsPerGraph):
    """The terms for each graph under one plan, before weighting."""

    mask: Float[Tensor, " B"]
    node_label: Float[Tensor, " B"]
    node_feature: Float[Tensor, " B"]
    edge: Float[Tensor, " B"]


def pmfgw_terms(targets: Targets, logits: GraphLogits, plan: Float[Tensor, "B N N"]) -> PmfgwTerms:
    """Evaluate the sums of PMFGW for a plan, in O(N^3)."""
    real = plan * targets.node_mask[..., None]
    size, slots = targets.node_mask.sum(dim=1), plan.shape[1]
    existence, score = targets.node_mask[..., None], logits.node_mask[..., None]
    feature = linear_cost(real, targets.node_feature, logits.node_feature, SQUARED_ERROR)
    return PmfgwTerms(
        mask=linear_cost(plan, existence, score, BINARY) / slots,
        node_label=linear_cost(real, targets.node_label, logits.node_label, CROSS_ENTROPY) / size,
        node_feature=feature / size,
        edge=quadratic_cost(real, targets.adjacency, edge_scores(logits), BINARY) / size**2,
    )


@torch.no_grad()
def best_plan(targets: Targets, logits: GraphLogits, config: Any2GraphConfig) -> SolvedPlan:
    """Look for the plan of lowest cost, from the uniform one."""
    mask = targets.node_mask
    share = mask / mask.sum(dim=1, keepdim=True)  # w_i / N
    linear = config.mask * _pairwise(mask[..., None], logits.node_mask[..., None], BINARY)
    linear = linear / mask.shape[1]
    for name, loss in (("node_label", CROSS_ENTROPY), ("node_feature", SQUARED_ERROR)):
        cost = _pairwise(getattr(targets, name), getattr(logits, name), loss)
        linear = linear + getattr(config, name) * share[..., None] * cost
    truth, score = targets.adjacency[..., 0], edge_scores(logits)[..., 0]

    def quadratic(plan: Tensor) -> Tensor:
        moved = share[..., None] * plan
        free = torch.einsum("bjl,bkl->bj", softplus(score), moved)
        held = truth @ moved @ score.transpose(1, 2)
        return config.edge * share[..., None] * (free[:, None] - held)

    return minimise_plan(linear, quadratic, config.num_steps, config.tolerance)


def edge_scores(logits: GraphLogits) -> Float[Tensor, "B N N 1"]:
    """Logit of "there is an edge"; that of "no edge" is fixed at 0."""
    return logits.edge_label[..., 1:2]


def _pairwise(
    true: Float[Tensor, "B N n"], pred: Float[Tensor, "B N n"], loss: Separable
) -> Float[Tensor, "B N N"]:
    """Entry (i, j) is the loss of target i against prediction j."""
    return (
        loss.f1(true)[:, :, None]
        + loss.f2(pred)[:, None]
        - loss.h1(true) @ loss.h2(pred).transpose(1, 2)
    )
