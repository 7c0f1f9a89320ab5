"""Reorder batches and tensors, and convert between permutations and plans; only here.

    P[G] = (Ph, PF, PCP^T)                       (paper: "Permutation invariant loss")

`plan[b, i, j]` is how much of input node i is matched to slot j: rows are inputs,
columns are predictions. `permutation[b, i] = j` says which slot plays input node i, so
gathering slots by `permutation` puts them in input order.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grale.graphs.batch import GraphBatch


def gather_nodes(values: Tensor, permutation: Int[Tensor, "B N"]) -> Tensor:
    """Row i of the result is row `permutation[i]` of `values` (shape B M ...).

    >>> gather_nodes(torch.tensor([[10, 11, 12]]), torch.tensor([[2, 0, 1]])).tolist()
    [[12, 10, 11]]
    """
    batch = torch.arange(len(values), device=values.device)[:, None]
    return values[batch, permutation]


def gather_edges(values: Tensor, permutation: Int[Tensor, "B N"]) -> Tensor:
    """Entry (i, k) of the result is entry (permutation[i], permutation[k]) of `values`.

    >>> square = torch.tensor([[[0, 1, 2], [10, 11, 12], [20, 21, 22]]])
    >>> gather_edges(square, torch.tensor([[2, 0, 1]])).tolist()
    [[[22, 20, 21], [2, 0, 1], [12, 10, 11]]]
    """
    batch = torch.arange(len(values), device=values.device)[:, None, None]
    return values[batch, permutation[:, :, None], permutation[:, None, :]]


def permute_batch(graphs: GraphBatch, permutation: Int[Tensor, "B N"]) -> GraphBatch:
    """Node i of each new graph is node `permutation[i]` of the old one.

    >>> from grale.graphs.graph import Graph
    >>> batch = GraphBatch.from_graphs([Graph([5, 6, 7], [(0, 1)])])
    >>> moved = permute_batch(batch, torch.tensor([[2, 0, 1]]))
    >>> moved.to_graphs()[0] == Graph([7, 5, 6], [(1, 2)])
    True
    """
    return GraphBatch(
        gather_nodes(graphs.node_mask, permutation),
        gather_nodes(graphs.node_labels, permutation),
        gather_edges(graphs.edge_labels, permutation),
        graphs.directed,
        None if graphs.node_features is None else gather_nodes(graphs.node_features, permutation),
        None if graphs.edge_features is None else gather_edges(graphs.edge_features, permutation),
    )


def permutation_to_plan(permutation: Int[Tensor, "B N"]) -> Float[Tensor, "B N N"]:
    """One-hot rows: plan[i, permutation[i]] = 1.

    >>> permutation_to_plan(torch.tensor([[2, 0, 1]])).tolist()
    [[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    """
    width = permutation.shape[1]
    return torch.nn.functional.one_hot(permutation, width).to(torch.get_default_dtype())


def inverse_permutation(permutation: Int[Tensor, "B N"]) -> Int[Tensor, "B N"]:
    """inverse[permutation[i]] = i.

    >>> inverse_permutation(torch.tensor([[2, 0, 1]])).tolist()
    [[1, 2, 0]]
    """
    return permutation.argsort(dim=1)


def random_permutations(
    num_nodes: Int[Tensor, " B"], max_nodes: int, generator: torch.Generator
) -> Int[Tensor, "B N"]:
    """Random orders of the real nodes, which come first; padding stays where it is."""
    columns = torch.arange(max_nodes, device=num_nodes.device)
    keys = torch.rand(len(num_nodes), max_nodes, generator=generator).to(num_nodes.device)
    is_padding = columns >= num_nodes[:, None]
    return torch.where(is_padding, columns + 1.0, keys).argsort(dim=1)
