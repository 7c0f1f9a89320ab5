"""Muon for hidden matrices, AdamW for everything else, in one optimiser.

    momentum   m <- mu m + g,  update = NewtonSchulz(g + mu m)         (nearest orthogonal matrix)
    weight     w <- w - lr sqrt(max(1, rows / columns)) update

Newton-Schulz runs once per shape, on a stack of all matrices of that shape, instead of once per
matrix: a model of this kind has a few hundred small matrices of about ten shapes.

Departures: the paper trains with Adam, which is still available (decisions/006).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from grale.nn.half import is_faster

NEWTON_SCHULZ = ((3.4445, -4.7750, 2.0315),) * 5  # quintic steps of Jordan et al. 2024


class Muon(torch.optim.Optimizer):
    """Orthogonalised momentum for matrices; give it matrices only.

    Parameters
    ----------
    params
        Matrices. A tall one whose rows are a multiple of its columns is treated as a stack of
        square ones, as in fused query-key-value projections.
    lr, momentum, weight_decay
        As usual; the update of every matrix has the same spectral size.
    """

    def __init__(
        self,
        params: Iterable[nn.Parameter],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(  # type: ignore[override]  # the base class also takes a closure
        self, closure: Callable[[], Any] | None = None
    ) -> None:
        """Update all matrices."""
        if closure is not None:
            raise ValueError("Muon takes no closure")
        for group in self.param_groups:
            by_shape: dict[tuple[int, ...], list[Tensor]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    by_shape[tuple(parameter.shape)].append(parameter)
            for parameters in by_shape.values():
                self._step_shape(parameters, group)

    def _step_shape(self, parameters: list[Tensor], group: dict[str, Any]) -> None:
        momenta = [self._momentum(parameter) for parameter in parameters]
        gradients = [weight.grad for weight in parameters if weight.grad is not None]
        torch._foreach_mul_(momenta, group["momentum"])
        torch._foreach_add_(momenta, gradients)
        ahead = torch.stack(gradients).add_(torch.stack(momenta), alpha=group["momentum"])
        rows, columns = ahead.shape[1:]
        parts = rows // columns if rows % columns == 0 else 1
        matrices = ahead.reshape(len(parameters) * parts, rows // parts, columns)
        update = orthogonalise(matrices).reshape_as(ahead)
        scale = max(1.0, (rows // parts) / columns) ** 0.5
        if group["weight_decay"]:
            torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
        torch._foreach_add_(parameters, list(update.unbind()), alpha=-group["lr"] * scale)

    def _momentum(self, parameter: Tensor) -> Tensor:
        state = self.state[parameter]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(parameter)
        return state["momentum"]


def orthogonalise(matrices: Float[Tensor, "S m n"]) -> Float[Tensor, "S m n"]:
    """Move the singular values of each matrix close to one (between about 0.7 and 1.2).

    In bfloat16, as by Jordan et al., where a processor multiplies it.
    """
    x = matrices / (matrices.flatten(1).norm(dim=1)[:, None, None] + 1e-7)
    if x.dtype == torch.float32 and is_faster(x.device):
        x = x.bfloat16()
    return newton_schulz(x).to(matrices.dtype)


def newton_schulz(matrices: Float[Tensor, "S m n"]) -> Float[Tensor, "S m n"]:
    """Quintic steps from matrices of norm one."""
    is_tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2) if is_tall else matrices
    for a, b, c in NEWTON_SCHULZ:
        gram = x @ x.transpose(1, 2)
        x = a * x + torch.baddbmm(gram, gram, gram, beta=b, alpha=c) @ x
    return x.transpose(1, 2) if is_tall else x
