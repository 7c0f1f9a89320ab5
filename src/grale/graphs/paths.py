"""Batched shortest paths and diffused labels (paper: appendix "Featurizer").

    SP_ij = length of the shortest path from i to j
    F     = CONCAT[F_0, A F_0, ..., A^k F_0]

Pairs without a path have the length UNREACHABLE, and so do padded pairs.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from grale.extras import is_installed

UNREACHABLE = -1


def shortest_paths(
    adjacency: Bool[Tensor, "B N N"], node_mask: Bool[Tensor, "B N"]
) -> Int[Tensor, "B N N"]:
    """Number of edges on a shortest path; 0 on the diagonal of real nodes.

    >>> line = torch.tensor([[[0, 1, 0], [1, 0, 0], [0, 0, 0]]], dtype=torch.bool)
    >>> shortest_paths(line, torch.tensor([[True, True, True]])).tolist()
    [[[0, 1, -1], [1, 0, -1], [-1, -1, 0]]]
    """
    on_cpu = adjacency.device.type == "cpu" and not torch.compiler.is_compiling()
    if on_cpu and is_installed("numba"):
        from grale.graphs.path_kernel import lengths

        arrays = (tensor.contiguous().numpy() for tensor in (adjacency, node_mask))
        return torch.from_numpy(lengths(*arrays, UNREACHABLE))
    return shortest_paths_in_torch(adjacency, node_mask)


def shortest_paths_in_torch(
    adjacency: Bool[Tensor, "B N N"], node_mask: Bool[Tensor, "B N"]
) -> Int[Tensor, "B N N"]:
    """Evaluate :func:`shortest_paths` on any device.

    Breadth-first search from all nodes of all graphs at once: one batched product per step,
    and as many steps as the longest shortest path. The distance of a pair is the number of
    steps after which it has not been reached yet.
    """
    reached = torch.diag_embed(node_mask.float())
    steps = reached + adjacency
    missed = torch.zeros_like(reached)
    for _ in range(adjacency.shape[1]):
        missed += reached == 0
        further = (reached @ steps > 0).float()
        if torch.equal(further, reached):
            break
        reached = further
    return torch.where(reached > 0, missed, UNREACHABLE).long()


def diffuse_labels(
    labels: Float[Tensor, "B N n_0"], adjacency: Bool[Tensor, "B N N"], order: int
) -> Float[Tensor, "B N n_f"]:
    """Concatenate [F_0, A F_0, ..., A^order F_0] along the last dimension."""
    steps = adjacency.to(labels.dtype)
    powers = [labels]
    for _ in range(order):
        powers.append(steps @ powers[-1])
    return torch.cat(powers, dim=-1)
