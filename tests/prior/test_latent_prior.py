"""The prior as a whole: what its loss and its draws depend on, and what they do not."""

from __future__ import annotations

import pytest
import torch

from grale.nn import half
from grale.prior.config import Condition, PriorConfig, PriorSettings, TokenSpace
from grale.prior.latent_prior import LatentPrior
from grale.prior.paths import on_sphere

UNKNOWN = float("nan")


def make_prior(path: str = "flat", sphere: bool = True, **changes) -> LatentPrior:
    config = PriorConfig(path=path, dim=16, num_layers=2, num_heads=2, **changes)
    conditions = (Condition(name="size"), Condition(name="bits", width=2))
    tokens = TokenSpace(num_tokens=3, token_dim=4, on_sphere=sphere)
    torch.manual_seed(0)
    prior = LatentPrior(PriorSettings(tokens=tokens, conditions=conditions, config=config))
    for name, weight in prior.named_parameters():  # the last layer and the gates start at zero
        if name.startswith("network.write") or "changes" in name:
            torch.nn.init.normal_(weight, std=0.3)
    return prior


def _latents(rows: int = 6) -> torch.Tensor:
    noise = torch.randn(rows, 3, 4, generator=torch.Generator().manual_seed(1))
    return on_sphere(noise).flatten(1)


def _told(rows: int = 6) -> torch.Tensor:
    return torch.arange(3.0 * rows).reshape(rows, 3)


def _step_noise(prior: LatentPrior) -> torch.Tensor:
    return prior.draw_noise(6, torch.Generator().manual_seed(2))


@pytest.mark.parametrize("path", ["flat", "sphere"])
def test_the_loss_of_an_untrained_network_is_the_mean_square_of_the_velocity(path: str) -> None:
    prior = make_prior(path)
    torch.nn.init.zeros_(prior.network.write.weight)
    torch.nn.init.zeros_(prior.network.write.bias)
    noise = _step_noise(prior)
    start = prior.path.start(noise[:, :12].reshape(6, 3, 4))
    end, when = _latents().reshape(6, 3, 4), noise[:, 12][:, None, None]
    speed = prior.path.velocity(start, end, when).square().mean()
    assert torch.allclose(prior.losses(_latents(), _told(), noise)["loss"], speed)


def test_times_are_the_logistic_of_a_normal_number_if_they_lie_mostly_half_way() -> None:
    uniform = torch.linspace(0, 1, 1001)
    assert torch.equal(make_prior()._times(uniform), uniform)
    times = make_prior(times="middle")._times(uniform)
    assert (times.diff() > 0).all()
    assert times[[0, 500, 1000]].tolist() == [0.0, 0.5, 1.0]
    half_way = ((times > 0.25) & (times < 0.75)).float().mean()
    assert float(half_way) == pytest.approx(0.728, abs=2e-3)  # P(|normal| < log 3)


def test_conditions_reach_the_loss_unless_they_are_dropped() -> None:
    def change(**changes) -> float:
        prior = make_prior(**changes)
        noise = _step_noise(prior)
        with torch.no_grad():
            first, second = (
                prior.losses(_latents(), told, noise)["loss"] for told in (_told(), -_told())
            )
        return abs(float(first - second))

    assert change(dropped_share=0.0, hidden_share=0.0) > 1e-6
    assert change(dropped_share=1.0) == 0
    assert change(hidden_share=1.0) == 0


def test_an_unknown_condition_is_not_read_as_zero() -> None:
    prior = make_prior()
    x, when = _latents().reshape(6, 3, 4), torch.full((6,), 0.5)
    zeros, unknown = torch.zeros(6, 3), torch.full((6, 3), UNKNOWN)
    found = [prior.network(x, when, told) for told in (zeros, unknown)]
    assert not torch.allclose(*found, atol=1e-4)
    assert found[1].isfinite().all()


def test_a_row_does_not_depend_on_the_others() -> None:
    prior = make_prior()
    noise = torch.randn(6, 12, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        together = prior.draw(noise, _told(), steps=3, guidance=2.0)
        alone = prior.draw(noise[4:5], _told()[4:5], steps=3, guidance=2.0)
    assert torch.allclose(together[4:5], alone, atol=1e-5)
    assert not torch.allclose(together[3:4], alone, atol=1e-2)


def test_draws_and_losses_may_be_rough_and_densities_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prior, noise = make_prior(times="middle"), _step_noise(make_prior())
    drawn, losses, scores = [], [], []
    for is_rough in (False, True):
        monkeypatch.setattr(half, "processor_multiplies_bfloat16", lambda found=is_rough: found)
        losses.append(prior.losses(_latents(), _told(), noise)["loss"])
        with torch.no_grad():
            drawn.append(prior.draw(noise[:, :12], _told(), steps=3))
            scores.append(prior.score(_latents(), _told()))
    assert drawn[1].dtype == losses[1].dtype == torch.float32
    assert not torch.equal(*drawn)  # products did run in bfloat16
    assert torch.allclose(*drawn, atol=0.1)  # tokens have length 2, products 8 bits
    assert torch.allclose(*losses, rtol=0.01)
    assert torch.equal(*scores)


def test_slots_are_told_apart() -> None:
    prior = make_prior()
    x, when, told = _latents().reshape(6, 3, 4), torch.full((6,), 0.5), _told()
    turned = prior.network(x.roll(1, dims=1), when, told).roll(-1, dims=1)
    assert not torch.allclose(turned, prior.network(x, when, told), atol=1e-4)
    torch.nn.init.zeros_(prior.network.slots)  # then nothing else tells them apart
    turned = prior.network(x.roll(1, dims=1), when, told).roll(-1, dims=1)
    assert torch.allclose(turned, prior.network(x, when, told), atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["flat", "sphere"])
def test_drawn_tokens_lie_on_the_sphere_if_those_of_graphs_do(path: str) -> None:
    noise = torch.randn(6, 12, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        drawn = make_prior(path).draw(noise, _told(), steps=3).reshape(6, 3, 4)
        free = make_prior(sphere=False).draw(noise, _told(), steps=3).reshape(6, 3, 4)
    assert torch.allclose(drawn.norm(dim=-1), torch.full((6, 3), 2.0), atol=1e-5)
    assert (free.norm(dim=-1) - 2).abs().max() > 0.1


def test_a_draw_near_a_latent_is_the_nearer_the_less_noise_it_gets() -> None:
    prior, latents = make_prior(), _latents()
    noise = torch.randn(6, 12, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        distances = [
            float((prior.draw(noise, _told(), steps=8, near=latents, amount=a) - latents).norm())
            for a in (0.0, 0.3, 0.9)
        ]
    assert distances[0] < 1e-4
    assert distances[0] < distances[1] < distances[2]


def test_latents_are_standardised_and_back() -> None:
    prior = make_prior(sphere=False)
    prior.mean, prior.scale = torch.arange(12.0), torch.tensor(3.0)
    latents = 5 + _latents()
    assert torch.allclose(prior.to_latents(prior.to_tokens(latents)), latents, atol=1e-5)
    assert not torch.allclose(prior.to_tokens(latents).flatten(1), latents, atol=0.1)


def test_the_score_of_pure_noise_points_to_its_mean() -> None:
    prior = make_prior(sphere=False)
    torch.nn.init.zeros_(prior.network.write.weight)
    torch.nn.init.zeros_(prior.network.write.bias)
    with torch.no_grad():
        assert torch.allclose(prior.score(_latents(), _told(), time=0.0), -_latents(), atol=1e-5)


def test_densities_on_spheres_are_refused() -> None:
    with pytest.raises(ValueError, match="path=flat"):
        make_prior("sphere").log_likelihood(_latents(), _told())


def test_great_circles_need_tokens_on_a_sphere() -> None:
    with pytest.raises(ValueError, match="path=sphere needs tokens on a sphere"):
        make_prior("sphere", sphere=False)


@pytest.mark.parametrize(
    "changes", [{"dim": 15}, {"dim": 0}, {"num_heads": 5}, {"dropped_share": 1.5}, {"dim": 1 << 30}]
)
def test_settings_that_make_no_network_are_refused(changes) -> None:
    with pytest.raises(ValueError, match="must be"):
        PriorConfig(**{"dim": 16, "num_heads": 2, **changes})
