"""Loss of PIGVAE (Winter et al. 2021, "Loss").

    CE(F, F_hat) + CE(C, C_hat) + 0.5 (row entropy + column entropy of P)
        + 0.1 (n - n_hat)^2 + beta KL(N(mu, sigma^2) | N(0, I))

Node labels are averaged over the real nodes of a batch, edge classes over its ordered pairs of
distinct real nodes, entropies over real rows and columns, the rest over graphs.

Departures: the original counts the zero entropy of padded rows in its mean.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from grale.codec.logits import GraphLogits
from grale.graphs.batch import GraphBatch


def reconstruction_terms(graphs: GraphBatch, logits: GraphLogits) -> dict[str, Float[Tensor, ""]]:
    """Cross-entropies of labels; `logits` are in the order of the graphs' nodes."""
    logits = logits.in_full_precision()
    others = ~torch.eye(graphs.max_nodes, dtype=torch.bool, device=graphs.node_mask.device)
    return {
        "node_label": _mean_cross_entropy(
            logits.node_label.flatten(0, 1), graphs.node_labels.flatten(), graphs.node_mask
        ),
        "edge_label": _mean_cross_entropy(
            logits.edge_label.flatten(0, 2), graphs.edge_labels.flatten(), graphs.edge_mask & others
        ),
    }


def _mean_cross_entropy(
    logits: Float[Tensor, "M c"], labels: Int[Tensor, " M"], mask: Bool[Tensor, "..."]
) -> Float[Tensor, ""]:
    values = cross_entropy(logits, labels, reduction="none") * mask.flatten()
    return values.sum() / mask.sum().clamp_min(1)


def permutation_entropy(
    permutation: Float[Tensor, "B N N"], node_mask: Bool[Tensor, "B N"]
) -> Float[Tensor, ""]:
    """Mean over real rows of -sum_r P_ir log P_ir, plus the mean over real columns.

    Neither rows nor columns are normalised first, as in the original, and a graph has as many
    real rows as columns: the two means are equal.
    """
    log_permutation = permutation.clamp_min(torch.finfo(permutation.dtype).tiny).log()  # 0 log 0
    real = permutation * node_mask[..., None]
    return -2 * (real * log_permutation).sum() / node_mask.sum()
