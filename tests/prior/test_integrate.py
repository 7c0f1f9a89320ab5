"""Integration against flows whose velocity, samples and density are known in closed form.

If x_0 is standard normal and x_1 is normal with mean m and deviation s, independent of it, then x_t
is normal with mean t m and variance (1-t)^2 + t^2 s^2, and the best velocity is linear:

    v(x, t) = m + (t s^2 - (1 - t)) / ((1-t)^2 + t^2 s^2) * (x - t m)
"""

from __future__ import annotations

import math

import pytest
import torch

from grale.prior.integrate import (
    SAMPLERS,
    Held,
    Start,
    churn,
    fresh,
    heun,
    log_density,
    pushed,
    renoise,
)
from grale.prior.paths import FlatPath, SpherePath, on_sphere

MEAN, DEVIATION = 1.5, 0.4


def gaussian_velocity(x: torch.Tensor, time: float) -> torch.Tensor:
    variance = (1 - time) ** 2 + time**2 * DEVIATION**2
    slope = (time * DEVIATION**2 - (1 - time)) / variance
    return MEAN + slope * (x - time * MEAN)


def _noise(rows: int = 5) -> torch.Tensor:
    return torch.randn(rows, 3, 4, generator=torch.Generator().manual_seed(0)).double()


def test_noise_becomes_the_known_gaussian() -> None:
    noise = _noise()
    found = heun(gaussian_velocity, FlatPath(), Start(noise, 0.0, noise), 200)
    assert torch.allclose(found, MEAN + DEVIATION * noise, atol=1e-3)


def test_heun_is_of_second_order() -> None:
    exact = MEAN + DEVIATION * _noise()
    errors = [
        (heun(gaussian_velocity, FlatPath(), Start(_noise(), 0.0, _noise()), steps) - exact)
        .abs()
        .max()
        for steps in (20, 40)
    ]
    assert 3 < errors[0] / errors[1] < 5


def test_integration_may_begin_half_way() -> None:
    noise, time = _noise(), 0.6
    spread = math.sqrt((1 - time) ** 2 + time**2 * DEVIATION**2)
    there = time * MEAN + spread * noise
    found = heun(gaussian_velocity, FlatPath(), Start(there, time, noise), 100)
    assert torch.allclose(found, MEAN + DEVIATION * noise, atol=1e-3)


def test_the_density_is_the_gaussians() -> None:
    x = MEAN + DEVIATION * _noise()
    normal = torch.distributions.Normal(MEAN, DEVIATION)
    exact = normal.log_prob(x).flatten(1).sum(dim=1)
    probes = torch.ones(1, *x.shape, dtype=torch.float64)  # exact: the Jacobian is diagonal
    assert torch.allclose(log_density(gaussian_velocity, x, 200, probes), exact, atol=1e-2)
    wrong = log_density(lambda x, t: 1.1 * gaussian_velocity(x, t), x, 200, probes)
    assert not torch.allclose(wrong, exact, atol=0.1)


@pytest.mark.parametrize("path", [FlatPath(), SpherePath()])
@pytest.mark.parametrize("sampler", SAMPLERS.values())
def test_held_tokens_end_where_they_are_held_and_the_others_move(path, sampler) -> None:
    start, end = on_sphere(_noise()), on_sphere(_noise() + 3)
    is_held = torch.tensor([True, False, True]).expand(5, -1)
    found = sampler(
        lambda x, t: path.tangent(x, torch.ones_like(x)),
        path, Start(start, 0.0, _noise()), 5, Held(is_held, start, end),
    )  # fmt: skip
    assert torch.allclose(found[:, [0, 2]], end[:, [0, 2]], atol=1e-6)
    assert not torch.allclose(found[:, 1], end[:, 1], atol=0.1)


def test_a_push_moves_the_end_in_its_direction() -> None:
    towards = torch.zeros(5, 3, 4, dtype=torch.float64)
    towards[:, 0, 0] = 1
    push = pushed(gaussian_velocity, FlatPath(), lambda x: towards, 0.5)
    start = Start(_noise(), 0.0, _noise())
    plain = heun(gaussian_velocity, FlatPath(), start, 20)
    moved = heun(push, FlatPath(), start, 20) - plain
    assert (moved[:, 0, 0] > 0.05).all()
    assert moved[:, 1:].abs().max() < 1e-9


def two_points_velocity(x: torch.Tensor, time: float) -> torch.Tensor:
    """Best velocity towards the numbers 2 and -2, each in half of the cases."""
    time = min(time, 0.999)
    end = 2 * torch.tanh(2 * time * x / (1 - time) ** 2)
    return (end - x) / (1 - time)


def test_renoising_ends_at_both_of_two_points_and_nowhere_else() -> None:
    noise = _noise(200)
    found = renoise(two_points_velocity, FlatPath(), Start(noise, 0.0, noise), 20)
    assert (found.abs() - 2).abs().max() < 1e-3
    assert 0.4 < (found > 0).double().mean() < 0.6


def test_renoising_forgets_a_wrong_start_and_heun_does_not() -> None:
    noise = _noise(200)
    start = Start(noise + 1, 0.0, noise)  # too far to the right
    right = [
        (sampler(two_points_velocity, FlatPath(), start, 20) > 0).double().mean()
        for sampler in (renoise, heun)
    ]
    assert right[0] < 0.6 < 0.8 < right[1]


def test_churning_keeps_the_spread_that_renoising_loses() -> None:
    noise = torch.randn(40, 32, 16, generator=torch.Generator().manual_seed(0)).double()
    ends = [
        sampler(gaussian_velocity, FlatPath(), Start(noise, 0.0, noise), 200)
        for sampler in (churn, renoise)
    ]
    for found in ends:
        assert found.mean() == pytest.approx(MEAN, abs=0.01)
    assert ends[0].std() == pytest.approx(DEVIATION, rel=0.1)
    assert ends[1].std() < 0.75 * DEVIATION


def test_churning_without_fresh_noise_follows_the_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grale.prior.integrate.CHURN", 0.0)
    noise = _noise()
    found = churn(gaussian_velocity, FlatPath(), Start(noise, 0.0, noise), 400)
    assert torch.allclose(found, MEAN + DEVIATION * noise, atol=0.02)  # Euler's method
    other = churn(gaussian_velocity, FlatPath(), Start(noise, 0.0, noise + 1), 400)
    assert torch.equal(found, other)


def test_fresh_noise_is_normal_new_at_every_step_and_the_same_for_a_row_in_any_batch() -> None:
    noise = _noise(2_000)
    first, second = fresh(noise, 0), fresh(noise, 1)
    for drawn in (first, second):
        assert abs(drawn.mean()) < 0.02
        assert abs(drawn.std() - 1) < 0.02
    pairs = torch.stack([noise.flatten(), first.flatten(), second.flatten()])
    assert (torch.corrcoef(pairs) - torch.eye(3)).abs().max() < 0.2
    assert torch.equal(fresh(noise[5:6], 0), first[5:6])
