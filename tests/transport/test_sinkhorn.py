import numpy as np
import ot
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grale.transport.assignment import assign
from grale.transport.sinkhorn import marginal_error, sinkhorn
from reference.transport_reference import plain_sinkhorn
from strategies import generator_from, seeds, unhurried
from transport.kernels import matched_log_kernel, random_log_kernel

ATOL_FLOAT64 = 1e-12
"""Sums of at most 20 numbers below one, in float64."""
ATOL_FLOAT32 = 2e-6
"""The same in float32: 20 rounding errors of 6e-8, and as much again for exp and log."""
ATOL_POT = 1e-5
"""Both stop short of the fixed point; POT at marginals within 1e-9."""


@pytest.mark.parametrize("size", [2, 5, 12])
@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_the_plan_is_that_of_pot(size, epsilon):
    cost = torch.rand(3, size, size, generator=generator_from(size), dtype=torch.float64)
    plan = sinkhorn(-cost / epsilon, num_sweeps=1000).log_plan.exp()
    marginal = np.full(size, 1 / size)
    for found, matrix in zip(plan, cost.numpy()):
        theirs = ot.sinkhorn(
            marginal,
            marginal,
            matrix,
            epsilon,
            method="sinkhorn_log",
            stopThr=1e-10,
            numItermax=10000,
        )
        np.testing.assert_allclose(found, size * theirs, rtol=0, atol=ATOL_POT)


def test_the_plan_of_another_temperature_is_not_that_of_pot():
    """Control of the test above."""
    cost = torch.rand(1, 5, 5, generator=generator_from(0), dtype=torch.float64)
    marginal = np.full(5, 0.2)
    theirs = 5 * ot.sinkhorn(marginal, marginal, cost[0].numpy(), 0.2, method="sinkhorn_log")
    found = sinkhorn(-cost / 0.25, num_sweeps=1000).log_plan.exp()[0].numpy()
    assert np.abs(found - theirs).max() > 100 * ATOL_POT


@given(seeds, st.integers(1, 8), st.sampled_from([1, 2, 30]))
@unhurried
def test_log_and_plain_domain_agree_sweep_by_sweep(seed, size, num_sweeps):
    log_kernel = random_log_kernel(seed, size=size)
    plan = sinkhorn(log_kernel, num_sweeps).log_plan.exp()
    expected = plain_sinkhorn(log_kernel.exp(), num_sweeps)
    torch.testing.assert_close(plan, expected, rtol=0, atol=ATOL_FLOAT64)


def test_one_sweep_more_is_another_plan():
    """Control of the test above: sweeps are counted exactly."""
    log_kernel = random_log_kernel(0)
    plan = sinkhorn(log_kernel, 2).log_plan.exp()
    assert (plan - plain_sinkhorn(log_kernel.exp(), 3)).abs().max() > 1e-3


@pytest.mark.parametrize("scale", [1e-4, 1e-2, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("grad_sweeps", [None, 3])
def test_costs_of_any_scale_give_finite_plans_and_gradients(scale, grad_sweeps):
    log_kernel = -scale * torch.rand(2, 10, 10, generator=generator_from(0))
    log_kernel.requires_grad_()
    result = sinkhorn(log_kernel, 50, grad_sweeps)
    result.log_plan.exp().square().sum().backward()
    assert result.log_plan.isfinite().all()
    assert result.marginal_error.isfinite().all()
    assert log_kernel.grad.isfinite().all()


def test_the_plain_domain_is_not_finite_at_such_costs():
    """Control: the largest costs above are beyond what exp can hold."""
    log_kernel = -1e4 * torch.rand(2, 10, 10, generator=generator_from(0))
    assert not plain_sinkhorn(log_kernel.exp(), 50).isfinite().all()


def test_one_node_is_matched_to_itself():
    result = sinkhorn(torch.tensor([[[-7.0]], [[300.0]]]), num_sweeps=1)
    assert result.log_plan.exp().tolist() == [[[1.0]], [[1.0]]]
    assert result.marginal_error.tolist() == [0.0, 0.0]


def test_padded_rows_that_are_all_alike_share_their_slots_equally():
    log_kernel = random_log_kernel(0, batch=2, size=8, scale=3.0)
    log_kernel[:, 5:] = log_kernel[:, 5:6]
    log_kernel.requires_grad_()
    plan = sinkhorn(log_kernel, 500).log_plan.exp()
    plan.square().sum().backward()
    assert marginal_error(plan.detach()).max() < 1e-6
    assert torch.equal(plan[:, 5], plan[:, 6])
    assert log_kernel.grad.isfinite().all()


def test_a_kernel_of_equal_entries_gives_the_uniform_plan():
    result = sinkhorn(torch.full((1, 5, 5), -40.0), num_sweeps=1)
    torch.testing.assert_close(
        result.log_plan.exp(), torch.full((1, 5, 5), 0.2), rtol=0, atol=ATOL_FLOAT32
    )


@pytest.mark.parametrize(
    ("dtype", "atol"), [(torch.float32, ATOL_FLOAT32), (torch.float64, ATOL_FLOAT64)]
)
@pytest.mark.parametrize("num_sweeps", [1, 5])
def test_rows_sum_to_one_after_any_number_of_sweeps(dtype, atol, num_sweeps):
    plan = sinkhorn(random_log_kernel(1, size=12, dtype=dtype), num_sweeps).log_plan.exp()
    assert (plan.sum(dim=2) - 1).abs().max() < atol
    # Control: the columns do not, yet.
    assert (plan.sum(dim=1) - 1).abs().max() > 50 * atol


def test_enough_sweeps_make_columns_sum_to_one():
    result = sinkhorn(random_log_kernel(1, size=12), 500)
    assert result.marginal_error.max() < ATOL_FLOAT64


@given(seeds, st.sampled_from([1, 3, 20]))
@unhurried
def test_the_reported_error_is_the_largest_deviation_of_a_sum(seed, num_sweeps):
    result = sinkhorn(random_log_kernel(seed, size=4, scale=2.0), num_sweeps)
    for plan, error in zip(result.log_plan.exp().numpy(), result.marginal_error.tolist()):
        deviations = [abs(sum(line) - 1) for line in (*plan, *plan.T)]
        assert error == pytest.approx(max(deviations), abs=ATOL_FLOAT64)


def test_marginal_error_sees_rows_as_well_as_columns():
    rows_off = torch.tensor([[[0.5, 0.5], [0.25, 0.5]]])
    assert marginal_error(rows_off).tolist() == [0.25]
    assert marginal_error(torch.tensor([[[0.5, 0.5], [0.0, 1.0]]])).tolist() == [0.5]
    assert marginal_error(torch.eye(3)[None]).tolist() == [0.0]


@given(seeds)
@unhurried
def test_permuting_rows_and_columns_permutes_the_plan(seed):
    log_kernel = random_log_kernel(seed, size=6)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(6), rng.permutation(6)
    moved = sinkhorn(log_kernel[:, rows][:, :, columns], 10)
    expected = sinkhorn(log_kernel, 10)
    torch.testing.assert_close(
        moved.log_plan, expected.log_plan[:, rows][:, :, columns], rtol=0, atol=ATOL_FLOAT64
    )
    torch.testing.assert_close(
        moved.marginal_error, expected.marginal_error, rtol=0, atol=ATOL_FLOAT64
    )


def test_a_kernel_that_knows_positions_is_not_equivariant():
    """Control of the test above."""
    log_kernel = random_log_kernel(0, size=6)
    bias = torch.arange(36.0, dtype=torch.float64).reshape(6, 6) ** 2 / 100
    rows = torch.tensor([1, 0, 2, 3, 4, 5])
    moved = sinkhorn(log_kernel[:, rows] + bias, 10).log_plan
    assert not torch.allclose(moved, sinkhorn(log_kernel + bias, 10).log_plan[:, rows], atol=1e-3)


def test_batch_mates_change_nothing():
    log_kernel = random_log_kernel(0, batch=4)
    alone = torch.cat([sinkhorn(row[None], 10).log_plan for row in log_kernel])
    torch.testing.assert_close(alone, sinkhorn(log_kernel, 10).log_plan, rtol=0, atol=ATOL_FLOAT64)


def test_small_epsilon_with_enough_sweeps_is_the_exact_assignment():
    cost = torch.rand(8, 6, 6, generator=generator_from(0), dtype=torch.float64)
    exact = assign(-cost)
    hard = torch.nn.functional.one_hot(exact, 6).double()
    plan = sinkhorn(-cost / 1e-3, num_sweeps=1000).log_plan.exp()
    assert torch.equal(plan.argmax(dim=2), exact)
    # Where two assignments compete, sweeps approach a hard plan only as 1 / num_sweeps.
    assert (plan - hard).abs().max() < 1e-2
    # Control: at a large epsilon the plan is far from hard, and few sweeps do not suffice.
    assert (sinkhorn(-cost / 1.0, 300).log_plan.exp() - hard).abs().max() > 0.5
    assert (sinkhorn(-cost / 1e-3, 1).log_plan.exp() - hard).abs().max() > 0.5


def test_narrow_floats_are_swept_in_float32():
    log_kernel = random_log_kernel(0, dtype=torch.float32).bfloat16()
    result = sinkhorn(log_kernel, 20)
    assert result.log_plan.dtype == torch.float32
    assert torch.equal(result.log_plan, sinkhorn(log_kernel.float(), 20).log_plan)


@pytest.mark.parametrize("num_sweeps", [0, -1])
def test_no_sweeps_are_refused(num_sweeps):
    with pytest.raises(ValueError, match=f"num_sweeps must be at least 1, got {num_sweeps}"):
        sinkhorn(torch.zeros(1, 2, 2), num_sweeps)


@pytest.mark.parametrize("noise", [0.1, 1.0, 3.0])
def test_narrow_kernels_swept_in_the_plain_domain_give_the_same_plan_and_gradient(noise):
    log_kernel = matched_log_kernel(0, noise, (5, 10))[0].float()
    assert log_kernel.amax() - log_kernel.amin() > 20

    def run(is_narrow):
        leaf = log_kernel.clone().requires_grad_()
        plan = sinkhorn(leaf, 50, 5, is_narrow).log_plan.exp()
        plan.square().sum().backward()
        return plan.detach(), leaf.grad

    for narrow, wide in zip(run(True), run(False)):
        torch.testing.assert_close(narrow, wide, atol=1e-4, rtol=1e-4)  # potentials up to 40


def test_no_differentiated_sweeps_are_refused():
    with pytest.raises(ValueError, match="grad_sweeps must be at least 1, got 0"):
        sinkhorn(torch.zeros(1, 2, 2), 5, grad_sweeps=0)


def test_the_argument_is_not_modified():
    log_kernel = random_log_kernel(0)
    before = log_kernel.clone()
    sinkhorn(log_kernel, 5)
    assert torch.equal(log_kernel, before)
