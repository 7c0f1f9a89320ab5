import sys

import pytest
import torch

from grale.nn import row_attention
from grale.nn.attention import MASKED, mask_bias
from grale.nn.row_attention import (
    HEAD_DIMS,
    LONGEST,
    attend_rows,
    attend_rows_plainly,
    is_compiled_for,
)
from grale.nn.team import _gnu_openmp

ATOL_FLOAT32 = 2e-6  # values of order one, sums of up to 32 terms
RTOL_GRADIENT = 2e-5  # of the largest entry: sums of products of such sums
LATER = [pytest.param(length, marks=pytest.mark.slow) for length in (13, 20, LONGEST)]
"""Lengths whose functions take seconds to compile."""


def random_rows(length, head_dim, num_heads=2, num_graphs=3):
    torch.manual_seed(length + head_dim)
    projected = torch.randn(num_graphs, length, length, 3 * num_heads * head_dim)
    keep = torch.rand(num_graphs, length) < 0.7
    keep[0], keep[:, 0] = True, True
    upstream = torch.randn(num_graphs, length, length, num_heads * head_dim)
    return projected, mask_bias(keep, torch.float32), upstream


def with_gradient(attend, projected, num_heads, mask, upstream):
    leaf = projected.clone().requires_grad_()
    out = attend(leaf, num_heads, mask)
    out.backward(upstream)
    return out.detach(), leaf.grad


@pytest.mark.parametrize("head_dim", HEAD_DIMS)
@pytest.mark.parametrize("length", [1, 2, 5, 8, *LATER])
def test_the_compiled_function_agrees_with_plain_attention(length, head_dim):
    projected, mask, upstream = random_rows(length, head_dim)
    assert is_compiled_for(projected, 2, mask)
    for bias in (mask, None):
        out, gradient = with_gradient(attend_rows, projected, 2, bias, upstream)
        plain = with_gradient(attend_rows_plainly, projected, 2, bias, upstream)
        torch.testing.assert_close(out, plain[0], atol=ATOL_FLOAT32, rtol=0)
        size = plain[1].abs().max().item()
        torch.testing.assert_close(gradient, plain[1], atol=RTOL_GRADIENT * size, rtol=0)
    masked, unmasked = (attend_rows(projected, 2, bias) for bias in (mask, None))
    assert length == 1 or (masked - unmasked).abs().max() > 0.01


def test_scores_far_apart_cost_no_more_digits_than_the_plain_way():
    projected, mask, upstream = random_rows(10, 8)
    projected = 30 * projected  # scores in the thousands
    exact = attend_rows(projected.double(), 2, mask.double())
    plain = (attend_rows_plainly(projected, 2, mask) - exact).abs().max()
    out, gradient = with_gradient(attend_rows, projected, 2, mask, upstream)
    assert (out - exact).abs().max() < 3 * plain
    assert gradient.isfinite().all()


def test_masked_entries_have_no_influence_at_all():
    projected, _, _ = random_rows(10, 16)
    mask = torch.zeros(3, 1, 1, 10)
    mask[..., 7:] = MASKED
    moved = projected.clone()
    moved[:, :, 7:] += 3
    a, b = attend_rows(projected, 2, mask)[:, :, :7], attend_rows(moved, 2, mask)[:, :, :7]
    torch.testing.assert_close(a, b, atol=0, rtol=0)
    assert (attend_rows(moved, 2)[:, :, :7] - a).abs().max() > 0.01


def test_the_number_of_threads_changes_nothing():
    projected, mask, upstream = random_rows(20, 16)
    assert _gnu_openmp() is not None or not sys.platform.startswith("linux")
    before = torch.get_num_threads()
    found = []
    for number in (1, 2):
        torch.set_num_threads(number)
        found.append(with_gradient(attend_rows, projected, 2, mask, upstream))
    torch.set_num_threads(before)
    alone, together = found
    assert all(torch.equal(a, b) for a, b in zip(alone, together))


def test_what_is_not_a_number_is_not_hidden():
    projected, mask, _ = random_rows(10, 8)
    projected[1, 4, 3, 20] = float("nan")  # a key
    bad = attend_rows(projected, 2, mask).isnan().flatten(2).any(dim=2)
    assert bad[1, 4]
    assert bad.sum() == 1


def test_a_row_with_nothing_to_attend_to_is_finite():
    projected, _, upstream = random_rows(10, 8)
    for nothing in (MASKED, torch.finfo(torch.float32).min):
        mask = torch.full((3, 1, 1, 10), nothing)
        out, gradient = with_gradient(attend_rows, projected, 2, mask, upstream)
        plain = attend_rows_plainly(projected, 2, mask)
        assert gradient.isfinite().all()
        assert out.isfinite().all()
        assert nothing == MASKED or torch.allclose(out, plain, atol=ATOL_FLOAT32, rtol=0)


def test_masks_that_are_not_one_number_per_graph_and_entry_go_the_plain_way():
    projected, mask, _ = random_rows(8, 8)
    expected = attend_rows(projected, 2, mask)
    asked = mask.clone().requires_grad_()
    found = attend_rows(projected, 2, asked)
    torch.testing.assert_close(found, expected, atol=ATOL_FLOAT32, rtol=0)
    found.sum().backward()
    assert asked.grad is not None
    assert not is_compiled_for(projected, 2, mask[..., :1])
    assert not is_compiled_for(projected, 2, mask[:1])
    assert not is_compiled_for(projected, 2, mask.double())
    assert is_compiled_for(projected, 2, mask)


def test_empty_batches_stay_empty_and_widths_must_be_whole_heads():
    assert attend_rows(torch.zeros(0, 6, 6, 48), 2, torch.zeros(0, 1, 1, 6)).shape == (0, 6, 6, 16)
    assert attend_rows(torch.zeros(2, 0, 6, 48), 2).shape == (2, 0, 6, 16)
    with pytest.raises(RuntimeError, match="unflatten"):
        attend_rows(torch.zeros(1, 8, 8, 51), 2)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 60_000, 10**9])
def test_long_rows_in_slices_agree_with_plain_attention(size, monkeypatch):
    monkeypatch.setattr(row_attention, "SLICE_BYTES", size)  # one row, a few, all at a time
    projected, mask, upstream = random_rows(LONGEST + 5, 8)
    for bias in (mask, None):
        out, gradient = with_gradient(attend_rows, projected, 2, bias, upstream)
        plain = with_gradient(attend_rows_plainly, projected, 2, bias, upstream)
        torch.testing.assert_close(out, plain[0], atol=ATOL_FLOAT32, rtol=0)
        torch.testing.assert_close(gradient, plain[1], atol=2e-5, rtol=0)


def test_slices_keep_no_probabilities():
    kept = []

    def note(tensor):
        kept.append(tensor.numel())
        return tensor

    projected = torch.randn(1, 40, 40, 48, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        attend_rows(projected, 2)
        in_slices, kept = kept, []
        attend_rows_plainly(projected, 2)
    assert max(in_slices) == projected.numel()
    assert max(kept) >= 2 * 40**3


def test_other_kinds_of_numbers_and_long_rows_go_the_plain_way(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("the compiled function was called")

    monkeypatch.setattr(row_attention._CompiledRows, "apply", refuse)
    projected, _, _ = random_rows(6, 8)
    assert attend_rows(projected.double(), 2).dtype == torch.float64
    assert attend_rows(projected.bfloat16(), 2).dtype == torch.bfloat16
    assert attend_rows(torch.randn(1, 2, LONGEST + 1, 48), 2).shape == (1, 2, LONGEST + 1, 16)
    assert attend_rows(torch.randn(1, 2, 6, 24), 2).shape == (1, 2, 6, 8)  # heads of four
    with pytest.raises(AssertionError, match="compiled function"):
        attend_rows(projected, 2)
