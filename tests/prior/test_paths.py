"""Paths from noise to tokens: ends, speed, and staying on the sphere."""

from __future__ import annotations

import pytest
import torch

from grale.prior.paths import PATHS, FlatPath, SpherePath, on_sphere


def _tokens(seed: int) -> torch.Tensor:
    noise = torch.randn(4, 3, 8, generator=torch.Generator().manual_seed(seed))
    return on_sphere(noise.double())


def _time(value: float) -> torch.Tensor:
    return torch.full((4, 1, 1), value, dtype=torch.float64)


@pytest.mark.parametrize("name", sorted(PATHS))
def test_a_path_runs_from_the_start_to_the_end(name: str) -> None:
    path, start, end = PATHS[name](), _tokens(0), _tokens(1)
    assert torch.allclose(path.point(start, end, _time(0.0)), start, atol=1e-6)
    assert torch.allclose(path.point(start, end, _time(1.0)), end, atol=1e-6)
    assert not torch.allclose(path.point(start, end, _time(0.5)), end, atol=0.1)


@pytest.mark.parametrize("name", sorted(PATHS))
def test_the_velocity_is_the_derivative_of_the_point(name: str) -> None:
    path, start, end, h = PATHS[name](), _tokens(0), _tokens(1), 1e-5
    ahead, behind = (path.point(start, end, _time(0.3 + step)) for step in (h, -h))
    assert torch.allclose(
        path.velocity(start, end, _time(0.3)), (ahead - behind) / (2 * h), atol=1e-4
    )


@pytest.mark.parametrize("name", sorted(PATHS))
def test_moving_by_the_velocity_that_is_left_ends_at_the_end(name: str) -> None:
    path, start, end = PATHS[name](), _tokens(0), _tokens(1)
    x, v = path.point(start, end, _time(0.4)), path.velocity(start, end, _time(0.4))
    assert torch.allclose(path.moved(x, 0.6 * v), end, atol=1e-5)


def test_great_circles_stay_on_the_sphere_and_straight_lines_do_not() -> None:
    start, end = _tokens(0), _tokens(1)
    length = 8**0.5
    on_circle = SpherePath().point(start, end, _time(0.5)).norm(dim=-1)
    on_line = FlatPath().point(start, end, _time(0.5)).norm(dim=-1)
    assert torch.allclose(on_circle, torch.full_like(on_circle, length))
    assert (on_line < 0.99 * length).all()


def test_a_velocity_on_the_sphere_is_tangent() -> None:
    path, start, end = SpherePath(), _tokens(0), _tokens(1)
    x, v = path.point(start, end, _time(0.7)), path.velocity(start, end, _time(0.7))
    assert torch.allclose(path.tangent(x, v), v, atol=1e-6)
    assert not torch.allclose(path.tangent(x, v + x), v + x, atol=0.1)


def test_a_token_that_is_there_already_does_not_move() -> None:
    tokens = _tokens(0)
    assert torch.allclose(SpherePath().point(tokens, tokens, _time(0.5)), tokens, atol=1e-6)
    assert SpherePath().velocity(tokens, tokens, _time(0.5)).abs().max() < 1e-2
