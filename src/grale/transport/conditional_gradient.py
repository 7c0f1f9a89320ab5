"""Minimise a quadratic objective over plans by conditional gradient (Frank-Wolfe).

    f(T) = <M, T> + <T, L(T)>          L linear and symmetric, T doubly stochastic

Each step solves a linear assignment for the gradient M + 2 L(T), which is the exact transport step
for equal marginals, and goes towards it as far as the quadratic falls (a closed form). The value
never rises (Krzakala et al. 2024, Any2Graph; Vayer et al. 2019, FGW).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from grale.transport.assignment import assign

Operator = Callable[[Tensor], Tensor]
"""L of one objective, for a batch of plans."""


class SolvedPlan(NamedTuple):
    """Plans, and how their values fell."""

    plan: Float[Tensor, "B N N"]
    """Rows and columns sum to one."""
    values: Float[Tensor, "S B"]
    """f at the start and after each step."""


@torch.no_grad()
def minimise_plan(
    linear: Float[Tensor, "B N N"],
    quadratic: Operator,
    num_steps: int = 20,
    tolerance: float = 1e-5,
    start: Float[Tensor, "B N N"] | None = None,
) -> SolvedPlan:
    """Descend from `start`, by default the uniform plan, until no value falls by `tolerance`."""
    size = linear.shape[1]
    plan = torch.full_like(linear, 1 / size) if start is None else start
    moved = quadratic(plan)
    values = [_inner(linear + moved, plan)]
    for _ in range(num_steps):
        corner = one_hot_plan(assign(-(linear + 2 * moved)), linear)
        step = corner - plan
        curve = quadratic(corner) - moved
        slope = _inner(linear + 2 * moved, step)
        share = line_minimum(_inner(curve, step), slope)[:, None, None]
        plan, moved = plan + share * step, moved + share * curve
        values.append(_inner(linear + moved, plan))
        if bool(((values[-2] - values[-1]).abs() < tolerance).all()):
            break
    return SolvedPlan(plan, torch.stack(values))


def line_minimum(square: Float[Tensor, " B"], slope: Float[Tensor, " B"]) -> Float[Tensor, " B"]:
    """Where square t^2 + slope t is smallest for t in [0, 1].

    >>> line_minimum(torch.tensor([1.0, -1.0, 2.0]), torch.tensor([-1.0, 0.5, 3.0])).tolist()
    [0.5, 1.0, 0.0]
    """
    inside = (-slope / (2 * square).clamp(min=torch.finfo(slope.dtype).tiny)).clamp(0, 1)
    return torch.where(square > 0, inside, (square + slope < 0).to(slope))


def one_hot_plan(permutation: Tensor, like: Float[Tensor, "B N N"]) -> Float[Tensor, "B N N"]:
    """Plan of a permutation."""
    return torch.zeros_like(like).scatter_(2, permutation[..., None], 1.0)


def _inner(first: Float[Tensor, "B N N"], second: Float[Tensor, "B N N"]) -> Float[Tensor, " B"]:
    return (first * second).sum(dim=(1, 2))
