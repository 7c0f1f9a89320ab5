"""Transport as one would first write it: one loop per sum, plain-domain Sinkhorn."""

from itertools import product

import torch


def cross_entropy_reference(true, pred):
    """-sum_c a_c log softmax(b)_c of two vectors."""
    return -(true * (pred.exp() / pred.exp().sum()).log()).sum()


def squared_error_reference(true, pred):
    return sum((a - b) ** 2 for a, b in zip(true, pred))


def linear_cost_reference(plan, true, pred, loss):
    """sum_ij plan_ij loss(true_i, pred_j) of one graph."""
    num_rows, num_columns = plan.shape
    pairs = product(range(num_rows), range(num_columns))
    return sum(plan[i, j] * loss(true[i], pred[j]) for i, j in pairs)


def quadratic_cost_loops(plan, true, pred, loss):
    """sum_ijkl plan_ij plan_kl loss(true_ik, pred_jl) of one graph."""
    rows, columns = range(plan.shape[0]), range(plan.shape[1])
    return sum(
        plan[i, j] * plan[k, l] * loss(true[i, k], pred[j, l])
        for i, j, k, l in product(rows, columns, rows, columns)  # noqa: E741 (the paper's letters)
    )


def aligned_cost_reference(plan, true, pred, loss, row_mask):
    """sum_ik mask_i mask_k loss(true_ik, sum_jl plan_ij plan_kl pred_jl) of one graph."""
    moved = torch.einsum("ij,kl,jlc->ikc", plan, plan, pred)
    size = len(true)
    return sum(
        row_mask[i] * row_mask[k] * loss(true[i, k], moved[i, k])
        for i, k in product(range(size), range(size))
    )


def plain_sinkhorn(kernel, num_sweeps):
    """Divide columns, then rows, by their sums; over and over."""
    plan = kernel
    for _ in range(num_sweeps):
        plan = plan / plan.sum(dim=1, keepdim=True)
        plan = plan / plan.sum(dim=2, keepdim=True)
    return plan
