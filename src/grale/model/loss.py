"""The reconstruction loss (paper: "Matching-free reconstruction loss", appendix "Loss").

    L_OT = sum_ij l_h(h_i, h_hat_j) T_ij + sum_ij h_i l_F(F_i, F_hat_j) T_ij
         + sum_ijkl h_i h_k l_C(C_ik, C_hat_jl) T_ij T_kl

l_F and l_C each have a discrete part (cross-entropy of labels) and a continuous one (squared
error of diffused labels, of encoded paths): five terms with l_h.

Departures: each term is divided by its number of entries (N or n, or their squares) instead
of having 1/N in its weight. PIGVAE's relaxation reorders logits, since its cross-entropy is convex
in them. An optional sixth term pulls the column sums of the plan to one (decisions/002).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad, softplus

from grale.codec.logits import GraphLogits
from grale.codec.loss_terms import LossTermsPerGraph
from grale.model.config import LossConfig
from grale.model.featurizer import GraphTargets
from grale.transport.aligned import aligned_linear_cost, aligned_quadratic_cost, plan_entropy
from grale.transport.partial_fgw import (
    CROSS_ENTROPY,
    SQUARED_ERROR,
    linear_cost,
    quadratic_cost,
)


@dataclass(frozen=True)
class LossTerms(LossTermsPerGraph):
    """The terms of the loss for each graph, before weighting."""

    mask: Float[Tensor, " B"]
    node_label: Float[Tensor, " B"]
    node_feature: Float[Tensor, " B"]
    edge_label: Float[Tensor, " B"]
    edge_feature: Float[Tensor, " B"]
    marginal: Float[Tensor, " B"]
    """Mean squared error of the plan's column sums."""
    entropy: Float[Tensor, " B"]
    """PIGVAE's regulariser; zero for the transport objective."""

    def total(self, weights: LossConfig) -> Float[Tensor, ""]:
        """Weighted sum, averaged over the batch: the mean of `per_graph`."""
        parts = [getattr(weights, f.name) * getattr(self, f.name).mean() for f in fields(self)]
        return torch.stack(parts).sum()


def reconstruction_loss(
    targets: GraphTargets,
    logits: GraphLogits,
    log_plan: Float[Tensor, "B N N"],
    config: LossConfig,
) -> LossTerms:
    """Compare targets (on the rows of the plan) with predictions (on its columns).

    Computed in float32, even under mixed precision.
    """
    with torch.autocast(log_plan.device.type, enabled=False):
        return _terms(targets, logits.in_full_precision(), log_plan, config)


def _terms(
    targets: GraphTargets,
    logits: GraphLogits,
    log_plan: Float[Tensor, "B N N"],
    config: LossConfig,
) -> LossTerms:
    rows = targets.node_mask.shape[1]
    plan = log_plan.exp()
    compare = {"ot": _transport_terms, "pigvae": _aligned_terms}[config.objective]
    terms = compare(targets, logits, plan, plan[:, :rows] * targets.node_mask[:, :, None])
    size = targets.node_mask.sum(1) if config.normalise_by == "size" else plan.shape[1]
    entropy = torch.zeros_like(terms["mask"])
    if config.objective == "pigvae":
        entropy = plan_entropy(log_plan[:, :rows], targets.node_mask) / size
    return LossTerms(
        mask=terms["mask"] / plan.shape[1],
        node_label=terms["node_label"] / size,
        node_feature=terms["node_feature"] / size,
        edge_label=terms["edge_label"] / size**2,
        edge_feature=terms["edge_feature"] / size**2,
        marginal=(plan.sum(1) - 1).square().mean(1),
        entropy=entropy,
    )


def _transport_terms(
    targets: GraphTargets,
    logits: GraphLogits,
    plan: Float[Tensor, "B N N"],
    real: Float[Tensor, "B n N"],
) -> dict[str, Float[Tensor, " B"]]:
    """Evaluate the five sums of L_OT; `real` holds the rows of the plan for existing nodes."""
    taken = real.sum(1)
    free = plan.sum(1) - taken
    score = logits.node_mask
    return {
        "mask": (taken * softplus(-score) + free * softplus(score)).sum(1),
        "node_label": linear_cost(real, targets.node_label, logits.node_label, CROSS_ENTROPY),
        "node_feature": linear_cost(real, targets.node_feature, logits.node_feature, SQUARED_ERROR),
        "edge_label": quadratic_cost(real, targets.edge_label, logits.edge_label, CROSS_ENTROPY),
        "edge_feature": quadratic_cost(
            real, targets.edge_feature, logits.edge_feature, SQUARED_ERROR
        ),
    }


def _aligned_terms(
    targets: GraphTargets,
    logits: GraphLogits,
    plan: Float[Tensor, "B N N"],
    real: Float[Tensor, "B n N"],
) -> dict[str, Float[Tensor, " B"]]:
    """Evaluate the five sums of L_PIGVAE+: predictions are first reordered like the inputs."""
    mask = targets.node_mask
    exists = pad(mask, (0, plan.shape[1] - mask.shape[1]))
    score = (plan @ logits.node_mask[..., None])[..., 0]
    linear, quadratic = aligned_linear_cost, aligned_quadratic_cost
    return {
        "mask": (exists * softplus(-score) + (1 - exists) * softplus(score)).sum(1),
        "node_label": linear(real, targets.node_label, logits.node_label, CROSS_ENTROPY, mask),
        "node_feature": linear(
            real, targets.node_feature, logits.node_feature, SQUARED_ERROR, mask
        ),
        "edge_label": quadratic(real, targets.edge_label, logits.edge_label, CROSS_ENTROPY, mask),
        "edge_feature": quadratic(
            real, targets.edge_feature, logits.edge_feature, SQUARED_ERROR, mask
        ),
    }
