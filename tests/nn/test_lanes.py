import numpy as np
import pytest
from numba import njit

from grale.nn.lanes import exp, fill, larger, load, repeat, scatter, store

RTOL_EXP = 5e-6  # seen: 3.9e-6 near -88, where the power of two leaves few digits of the rest


@njit
def apply_exp(numbers, out):
    for place in range(0, len(numbers), 8):
        store(out, place, exp(load(numbers, place, 8)))


@njit
def mix(numbers, out):
    first, second = load(numbers, 0, 4), load(numbers, 4, 4)
    store(out, 0, first + second)
    store(out, 4, first - second)
    store(out, 8, first * second / fill(np.float32(2.0), 4))
    store(out, 12, larger(first, second))
    store(out, 16, repeat(numbers, 2, 4))
    scatter(out, 20, 3, first)


@pytest.mark.slow
def test_exp_is_that_of_numpy_for_numbers_below_zero():
    numbers = np.linspace(-88, 0, 8_000, dtype=np.float32)
    out = np.empty_like(numbers)
    apply_exp(numbers, out)
    exact = np.exp(numbers.astype(np.float64))
    normal = exact > 1.2e-38  # smaller ones become zero
    assert normal.sum() > 7_900
    np.testing.assert_allclose(out[normal], exact[normal], rtol=RTOL_EXP)
    assert out[-1] == 1


def test_exp_of_what_is_far_below_is_zero_and_what_is_not_a_number_stays_so():
    numbers = np.array([-1e4, -3e38, -np.inf, -200, np.nan, 0, -1, -2], dtype=np.float32)
    out = np.empty_like(numbers)
    apply_exp(numbers, out)
    assert out[:4].tolist() == [0, 0, 0, 0]
    assert np.isnan(out[4])
    assert np.isfinite(out[5:]).all()


@pytest.mark.slow
def test_lanes_are_computed_with_and_kept_number_by_number():
    numbers = np.array([1, -2, 3, 4, 5, 6, -7, 0.5], dtype=np.float32)
    out = np.zeros(32, dtype=np.float32)
    mix(numbers, out)
    first, second = numbers[:4], numbers[4:]
    expected = [first + second, first - second, first * second / 2, np.maximum(first, second)]
    assert out[:16].tolist() == np.concatenate(expected).tolist()
    assert out[16:20].tolist() == [3, 3, 3, 3]
    assert out[20:32:3].tolist() == first.tolist()
    assert not out[[21, 22, 24, 25]].any()


def test_lanes_of_different_lengths_do_not_mix():
    @njit
    def add(numbers):
        return load(numbers, 0, 4) + load(numbers, 0, 8)

    with pytest.raises(Exception, match="Lanes"):
        add(np.zeros(8, dtype=np.float32))
