import pytest
import torch
from torch.autograd.gradcheck import GradcheckError
from torch.nn.functional import cosine_similarity

from grale.transport.sinkhorn import sinkhorn
from strategies import generator_from
from transport.kernels import matched_log_kernel, random_log_kernel

MIN_COSINE = 0.99
"""What the project asks of the cheap gradient."""


def gradient(log_kernel, weights, num_sweeps, grad_sweeps):
    leaf = log_kernel.clone().requires_grad_()
    plan = sinkhorn(leaf, num_sweeps, grad_sweeps).log_plan.exp()
    (weights * plan).sum().backward()
    return leaf.grad


def cosines(log_kernel, grad_sweeps, is_real=None):
    """Cosine of the cheap and the full gradient of <random weights, plan>, for each graph."""
    weights = torch.rand(log_kernel.shape, generator=generator_from(99), dtype=torch.float64)
    if is_real is not None:
        weights = weights * is_real[:, :, None]
    full = gradient(log_kernel, weights, 50, None)
    cheap = gradient(log_kernel, weights, 50, grad_sweeps)
    return cosine_similarity(full.flatten(1), cheap.flatten(1), dim=1)


@pytest.mark.parametrize("num_sweeps", [1, 4])
def test_the_unrolled_gradient_is_the_numerical_one(num_sweeps):
    log_kernel = random_log_kernel(0, batch=2, size=3).requires_grad_()
    assert torch.autograd.gradcheck(lambda k: sinkhorn(k, num_sweeps).log_plan.exp(), log_kernel)


def test_the_cheap_gradient_is_not_the_numerical_one():
    """Control of the test above: sweeps without a tape are missing from the gradient."""
    log_kernel = random_log_kernel(0, batch=2, size=3).requires_grad_()
    with pytest.raises(GradcheckError):
        torch.autograd.gradcheck(lambda k: sinkhorn(k, 4, 1).log_plan.exp(), log_kernel)


def test_the_plan_does_not_depend_on_how_many_sweeps_are_differentiated():
    log_kernel = random_log_kernel(0, size=8)
    full = sinkhorn(log_kernel, 50).log_plan
    for grad_sweeps in (1, 5, 50, 80):
        assert torch.equal(sinkhorn(log_kernel, 50, grad_sweeps).log_plan, full)


@pytest.mark.parametrize("noise", [0.1, 0.3])
@pytest.mark.parametrize("sizes", [(5, 10), (10, 10)], ids=["padded", "full"])
def test_the_cheap_gradient_points_along_the_full_one_once_matches_are_close(noise, sizes):
    log_kernel, is_real = matched_log_kernel(0, noise, sizes)
    assert cosines(log_kernel, grad_sweeps=5).min() > MIN_COSINE
    assert cosines(log_kernel, 5, is_real).min() > MIN_COSINE


def test_the_cheap_gradient_is_rough_where_no_slot_fits_and_improves_with_sweeps():
    """Control: slots far from all inputs (noise 3), where Sinkhorn moves a lot of mass."""
    log_kernel, _ = matched_log_kernel(0, noise=3.0, sizes=(10, 10))
    one, five, twenty = (cosines(log_kernel, sweeps).mean() for sweeps in (1, 5, 20))
    assert one < five < twenty
    assert one < MIN_COSINE < twenty


def test_the_cheap_gradient_may_be_wrong_where_hard_matches_conflict():
    """The limit of decision 004: nearly hard plans whose sweeps have not converged yet."""
    log_kernel, _ = matched_log_kernel(0, noise=1.0, sizes=(10, 10))
    assert sinkhorn(log_kernel, 50).marginal_error.max() > 1e-3
    assert cosines(log_kernel, grad_sweeps=5).min() < MIN_COSINE
