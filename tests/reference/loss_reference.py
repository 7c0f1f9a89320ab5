"""The loss of one graph as the paper writes it: every sum a loop, every mask a factor.

Targets are padded to the N slots of the prediction first (paper: PADDING).
"""

import numpy as np


def cross_entropy(true, logits):
    """-sum_c true_c log softmax(logits)_c."""
    return float(-(true * (logits - np.log(np.exp(logits).sum()))).sum())


def squared_error(true, pred):
    return float(((true - pred) ** 2).sum())


def existence(true, logit):
    """Cross-entropy of a coin: true is h_i, logit the score of h_hat_j."""
    prob = 1 / (1 + np.exp(-logit))
    return float(-(true * np.log(prob) + (1 - true) * np.log(1 - prob)))


def padded(array, size):
    """One graph's nodes (n c) or edges (n n c) with zeros up to `size` nodes."""
    num_axes = 2 if array.ndim == 3 else 1
    extra = [(0, size - array.shape[0])] * num_axes + [(0, 0)] * (array.ndim - num_axes)
    return np.pad(array, extra)


def one_graph(targets, logits, row, size):
    """The numbers of graph `row`: mask, then the pairs (true, predicted) of each term."""
    names = ("node_label", "node_feature", "edge_label", "edge_feature")
    mask = padded(targets.node_mask[row].double().numpy(), size)
    scores = logits.node_mask[row].detach().double().numpy()
    terms = {
        name: (
            padded(getattr(targets, name)[row].double().numpy(), size),
            getattr(logits, name)[row].detach().double().numpy(),
        )
        for name in names
    }
    return mask, scores, terms


GROUND = {
    "node_label": cross_entropy,
    "node_feature": squared_error,
    "edge_label": cross_entropy,
    "edge_feature": squared_error,
}


def transport_reference(targets, logits, plan, row):
    """Five sums of L_OT before any division; `plan` is N x N."""
    size = len(plan)
    h, scores, terms = one_graph(targets, logits, row, size)
    nodes = range(size)
    sums = {
        "mask": sum(existence(h[i], scores[j]) * plan[i, j] for i in nodes for j in nodes),
    }
    for name in ("node_label", "node_feature"):
        true, pred = terms[name]
        sums[name] = sum(
            h[i] * GROUND[name](true[i], pred[j]) * plan[i, j] for i in nodes for j in nodes
        )
    for name in ("edge_label", "edge_feature"):
        true, pred = terms[name]
        sums[name] = sum(
            h[i] * h[k] * GROUND[name](true[i, k], pred[j, l]) * plan[i, j] * plan[k, l]
            for i in nodes
            for j in nodes
            for k in nodes
            for l in nodes  # noqa: E741 - the paper's index
        )
    return sums


def pigvae_reference(targets, logits, plan, row):
    """Five sums of L_PIGVAE+ and its regulariser before any division."""
    size = len(plan)
    h, scores, terms = one_graph(targets, logits, row, size)
    nodes = range(size)
    moved_scores = plan @ scores
    sums = {"mask": sum(existence(h[i], moved_scores[i]) for i in nodes)}
    for name in ("node_label", "node_feature"):
        true, pred = terms[name]
        sums[name] = sum(h[i] * GROUND[name](true[i], (plan @ pred)[i]) for i in nodes)
    for name in ("edge_label", "edge_feature"):
        true, pred = terms[name]
        moved = np.stack([plan @ pred[..., c] @ plan.T for c in range(pred.shape[-1])], axis=-1)
        sums[name] = sum(
            h[i] * h[k] * GROUND[name](true[i, k], moved[i, k]) for i in nodes for k in nodes
        )
    sums["entropy"] = -sum(h[i] * plan[i, j] * np.log(plan[i, j]) for i in nodes for j in nodes)
    return sums
