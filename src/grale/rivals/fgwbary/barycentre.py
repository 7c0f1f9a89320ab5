"""Barycentres of attributed graphs under FGW (Brogat-Motte et al. 2022; Vayer et al. 2019).

    FGW(C, X; D, Y) = min_T (1 - a) sum_ij T_ij |x_i - y_j|^2 + a sum_ijkl T_ij T_kl (C_ik - D_jl)^2
    bary            = argmin_(C, X) sum_s l_s FGW(C, X; C_s, Y_s)

For fixed plans T_s, with nodes of equal weight p = 1/n, the minimum is

    C = sum_s l_s T_s C_s T_s^t / (p p^t),     X = sum_s l_s T_s Y_s / p        (sum of l is 1)

Plans come from POT; plans and updates take turns. Gradients pass through the last update, plans
being constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from grale.transport.partial_fgw import SQUARED_ERROR, linear_cost, quadratic_cost

PLAN_STEPS = 100  # of POT's conditional gradient


class Attributed(NamedTuple):
    """A graph with real-valued edges and nodes."""

    edges: Float[Tensor, "n n"]
    nodes: Float[Tensor, "n l"]


class Barycentre(NamedTuple):
    """A barycentre and the plans that it was made with."""

    graph: Attributed
    plans: list[Tensor]


def barycentre(
    size: int,
    others: Sequence[Attributed],
    weights: Float[Tensor, " S"],
    structure: float,
    num_rounds: int,
) -> Barycentre:
    """Alternate plans and updates, from the heaviest of the others."""
    heaviest = others[int(weights.argmax())]
    with torch.no_grad():
        graph = resized(heaviest, size)
        for _ in range(num_rounds):
            plans = [best_plan(graph, other, structure) for other in others]
            graph = updated(size, others, weights, plans)
    return Barycentre(updated(size, others, weights, plans), plans)


def updated(
    size: int, others: Sequence[Attributed], weights: Float[Tensor, " S"], plans: Sequence[Tensor]
) -> Attributed:
    """Best graph of `size` nodes for fixed plans; differentiable in weights and others."""
    shares = weights / weights.sum()
    edges = [
        share * (plan @ other.edges @ plan.T) for share, other, plan in zip(shares, others, plans)
    ]
    nodes = [share * (plan @ other.nodes) for share, other, plan in zip(shares, others, plans)]
    return Attributed(torch.stack(edges).sum(0) * size**2, torch.stack(nodes).sum(0) * size)


def fgw_distance(
    first: Attributed, second: Attributed, plan: Float[Tensor, "n m"], structure: float
) -> Float[Tensor, ""]:
    """Value of FGW for a plan."""
    by_nodes = linear_cost(plan[None], first.nodes[None], second.nodes[None], SQUARED_ERROR)
    by_edges = quadratic_cost(
        plan[None], first.edges[None, ..., None], second.edges[None, ..., None], SQUARED_ERROR
    )
    return ((1 - structure) * by_nodes + structure * by_edges)[0]


@torch.no_grad()
def best_plan(first: Attributed, second: Attributed, structure: float) -> Float[Tensor, "n m"]:
    """Plan between two graphs whose nodes weigh the same, from POT."""
    ot = _pot()
    costs = torch.cdist(first.nodes, second.nodes).square()
    arrays = [_array(part) for part in (costs, first.edges, second.edges)]
    masses = [np.full(len(part.nodes), 1 / len(part.nodes)) for part in (first, second)]
    plan = ot.gromov.fused_gromov_wasserstein(
        *arrays, *masses, loss_fun="square_loss", alpha=structure, max_iter=PLAN_STEPS
    )
    return torch.from_numpy(np.asarray(plan)).to(first.nodes)


def resized(graph: Attributed, size: int) -> Attributed:
    """The first nodes of a graph; missing ones repeat from the start."""
    places = torch.arange(size) % len(graph.nodes)
    return Attributed(graph.edges[places][:, places], graph.nodes[places])


def _array(values: Tensor) -> NDArray[np.float64]:
    return values.detach().double().cpu().numpy()


def _pot() -> Any:
    try:
        import ot
    except ImportError as error:
        raise ImportError("FGWBary needs POT: pip install 'grale[solvers]'") from error
    return ot
