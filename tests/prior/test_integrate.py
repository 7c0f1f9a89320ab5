"""Integration against flows whose velocity, samples and density are known in closed form.

If x_0 is standard normal and x_1 is normal with mean m and deviation s, independent of it, then x_t
is normal with mean t m and variance (1-t)^2 + t^2 s^2, and the best velocity is linear:

    v(x, t) = m + (t s^2 - (1 - t)) / ((1-t)^2 + t^2 s^2) * (x - t m)
"""

from __future__ import annotations

import math

import pytest
import torch

from grale.prior.integrate import Held, integrate, log_density, pushed
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
    found = integrate(gaussian_velocity, FlatPath(), noise, 0.0, 200)
    assert torch.allclose(found, MEAN + DEVIATION * noise, atol=1e-3)


def test_heun_is_of_second_order() -> None:
    exact = MEAN + DEVIATION * _noise()
    errors = [
        (integrate(gaussian_velocity, FlatPath(), _noise(), 0.0, steps) - exact).abs().max()
        for steps in (20, 40)
    ]
    assert 3 < errors[0] / errors[1] < 5


def test_integration_may_begin_half_way() -> None:
    noise, time = _noise(), 0.6
    spread = math.sqrt((1 - time) ** 2 + time**2 * DEVIATION**2)
    there = time * MEAN + spread * noise
    found = integrate(gaussian_velocity, FlatPath(), there, time, 100)
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
def test_held_tokens_end_where_they_are_held_and_the_others_move(path) -> None:
    start, end = on_sphere(_noise()), on_sphere(_noise() + 3)
    is_held = torch.tensor([True, False, True]).expand(5, -1)
    found = integrate(
        lambda x, t: path.tangent(x, torch.ones_like(x)),
        path, start, 0.0, 5, Held(is_held, start, end),
    )  # fmt: skip
    assert torch.allclose(found[:, [0, 2]], end[:, [0, 2]], atol=1e-6)
    assert not torch.allclose(found[:, 1], end[:, 1], atol=0.1)


def test_a_push_moves_the_end_in_its_direction() -> None:
    towards = torch.zeros(5, 3, 4, dtype=torch.float64)
    towards[:, 0, 0] = 1
    push = pushed(gaussian_velocity, FlatPath(), lambda x: towards, 0.5)
    plain = integrate(gaussian_velocity, FlatPath(), _noise(), 0.0, 20)
    moved = integrate(push, FlatPath(), _noise(), 0.0, 20) - plain
    assert (moved[:, 0, 0] > 0.05).all()
    assert moved[:, 1:].abs().max() < 1e-9
