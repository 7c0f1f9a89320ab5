"""Conditional gradient over plans: it descends, stays a plan, and agrees with POT's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from grale.transport.conditional_gradient import minimise_plan

ATOL = 1e-5


def _problem(seed: int, size: int = 6) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    linear = torch.rand(2, size, size, generator=generator, dtype=torch.float64)
    first, second = torch.rand(2, 2, size, size, generator=generator, dtype=torch.float64)
    return linear, first + first.mT, second + second.mT


def _operator(first: torch.Tensor, second: torch.Tensor):
    """L(T) = -A T B, as in the edges of a transport loss."""
    return lambda plan: -(first @ plan @ second)


@pytest.mark.parametrize("seed", range(3))
def test_the_value_never_rises_and_the_plan_stays_a_plan(seed: int) -> None:
    linear, first, second = _problem(seed)
    operator = _operator(first, second)
    solved = minimise_plan(linear, operator, num_steps=20)
    falls = solved.values[:-1] - solved.values[1:]
    assert len(falls) >= 1
    assert (falls >= -ATOL).all()
    assert (falls > ATOL).any()
    ones = torch.ones(2, 6, dtype=torch.float64)
    torch.testing.assert_close(solved.plan.sum(1), ones)
    torch.testing.assert_close(solved.plan.sum(2), ones)
    value = ((linear + operator(solved.plan)) * solved.plan).sum((1, 2))
    torch.testing.assert_close(value, solved.values[-1])


def test_a_linear_objective_ends_at_the_exact_assignment() -> None:
    ot = pytest.importorskip("ot")
    linear, *_ = _problem(5)
    solved = minimise_plan(linear, torch.zeros_like)
    masses = np.full(6, 1 / 6)
    for cost, plan in zip(linear.numpy(), solved.plan.numpy()):
        np.testing.assert_allclose(plan / 6, ot.emd(masses, masses, cost), atol=1e-9)


def test_pots_fused_gromov_wasserstein_is_the_same_descent() -> None:
    ot = pytest.importorskip("ot")
    linear, first, second = _problem(7)
    share, size = 0.4, 6

    def operator(plan: torch.Tensor) -> torch.Tensor:
        """Squared differences of edges under a plan with marginals 1 instead of 1/N."""
        rows = (first.square() @ plan.sum(2, keepdim=True)) + (
            plan.sum(1, keepdim=True) @ second**2
        )
        return share / size**2 * (rows - 2 * first @ plan @ second)

    solved = minimise_plan((1 - share) / size * linear, operator, num_steps=50, tolerance=1e-12)
    for row in range(2):
        value = ot.gromov.fused_gromov_wasserstein2(
            linear[row].numpy(), first[row].numpy(), second[row].numpy(),
            loss_fun="square_loss", alpha=share, max_iter=50, tol_rel=1e-12, tol_abs=1e-12,
        )  # fmt: skip
        assert solved.values[-1, row].item() == pytest.approx(float(value), abs=1e-6)
