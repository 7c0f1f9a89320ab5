import pytest
import torch
from torch import nn

from grale.nn.attention import (
    MASKED,
    EdgeBiasedAttention,
    SelfAttention,
    attend,
    attend_plainly,
    join_heads,
    mask_bias,
    split_heads,
)
from reference.attention_reference import attention_reference, multi_head_reference

ATOL_FLOAT32 = 1e-6  # values of order one, sums of a dozen terms: a few units in the last place
ATOL_FLOAT64 = 1e-12  # the same in double precision
ATOL_BFLOAT16 = 2e-2  # two roundings to eight bits of values below two


def random_heads(dtype=torch.float64, num_keys=7):
    torch.manual_seed(0)
    queries = torch.randn(2, 3, 5, 4, dtype=dtype)
    keys, values = torch.randn(2, 2, 3, num_keys, 4, dtype=dtype)
    return queries, keys, values, torch.randn(2, 3, 5, num_keys, dtype=dtype)


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("run", [attend, attend_plainly])
def test_attention_equals_the_fused_kernel(run, with_bias):
    queries, keys, values, bias = random_heads(torch.float32)
    bias = bias if with_bias else None
    fused = nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=bias)
    torch.testing.assert_close(run(queries, keys, values, bias), fused, atol=ATOL_FLOAT32, rtol=0)


@pytest.mark.parametrize("with_bias", [False, True])
def test_attention_equals_a_loop_over_heads_and_entries(with_bias):
    queries, keys, values, bias = random_heads()
    bias = bias if with_bias else None
    literal = attention_reference(queries, keys, values, bias)
    torch.testing.assert_close(
        attend_plainly(queries, keys, values, bias), literal, atol=ATOL_FLOAT64, rtol=0
    )


def test_a_bias_shared_by_heads_and_queries_counts_for_each_of_them():
    queries, keys, values, bias = random_heads()
    shared = bias[:, :1, :1]
    literal = attention_reference(queries, keys, values, shared.expand_as(bias))
    torch.testing.assert_close(
        attend_plainly(queries, keys, values, shared), literal, atol=ATOL_FLOAT64, rtol=0
    )


def test_the_softmax_of_half_precision_scores_is_taken_in_float32():
    queries, keys, values, _ = random_heads(torch.float32, num_keys=400)
    ones = torch.ones_like(values)
    exact = attend_plainly(queries, keys, values)
    half = attend_plainly(*(x.bfloat16() for x in (queries, keys, values)))
    assert half.dtype == torch.bfloat16
    torch.testing.assert_close(half.float(), exact, atol=ATOL_BFLOAT16, rtol=0)
    sums = attend_plainly(queries.bfloat16(), keys.bfloat16(), ones.bfloat16())
    torch.testing.assert_close(sums.float(), ones[:, :, :5], atol=ATOL_BFLOAT16, rtol=0)


def test_a_masked_key_has_no_influence():
    queries, keys, values, _ = random_heads()
    mask = torch.tensor([[True] * 5 + [False] * 2, [False] + [True] * 6])
    bias = mask_bias(mask, keys.dtype)
    padding = ~mask[:, None, :, None]
    before = attend_plainly(queries, keys, values, bias)
    after = attend_plainly(queries, keys + 10 * padding, values - 10 * padding, bias)
    torch.testing.assert_close(after, before, atol=0, rtol=0)
    unmasked = attend_plainly(queries, keys + 10 * padding, values - 10 * padding)
    assert (unmasked - before).abs().max() > 0.1  # the mask is what hides the change


def test_a_row_with_nothing_to_attend_to_is_finite():
    queries, keys, values, _ = random_heads()
    mask = torch.tensor([[False] * 7, [True] * 7])
    out = attend_plainly(queries, keys, values, mask_bias(mask, keys.dtype))
    assert out.isfinite().all()
    assert (
        not attend_plainly(
            queries, keys, values, torch.full((2, 1, 1, 7), -torch.inf, dtype=keys.dtype)
        )
        .isfinite()
        .all()
    )  # an infinite bias would not do


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str
)
def test_the_mask_is_finite_in_every_precision(dtype):
    bias = mask_bias(torch.tensor([[True, False]]), dtype)
    assert bias.dtype == dtype
    assert bias.shape == (1, 1, 1, 2)
    assert bias.isfinite().all()
    assert torch.softmax(bias.float(), dim=-1).flatten().tolist() == [1, 0]
    assert bias.flatten()[0] == 0
    assert bias.flatten()[1] == torch.tensor(MASKED, dtype=dtype)


def test_joining_heads_undoes_splitting_them():
    x = torch.arange(24.0).reshape(1, 2, 12)
    heads = split_heads(x, 3)
    assert heads.shape == (1, 3, 2, 4)
    assert heads[0, 1, 0].tolist() == [4, 5, 6, 7]  # head 1 holds the second block of columns
    assert torch.equal(join_heads(heads), x)
    assert not torch.equal(heads.flatten(2).transpose(1, 2).reshape(x.shape), x)


def test_self_attention_equals_the_one_of_torch():
    torch.manual_seed(0)
    ours, theirs = SelfAttention(12, 3), nn.MultiheadAttention(12, 3, batch_first=True)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(ours.project.weight)
        theirs.in_proj_bias.copy_(ours.project.bias)
        theirs.out_proj.weight.copy_(ours.combine.weight)
        theirs.out_proj.bias.copy_(ours.combine.bias)
    x, mask = torch.randn(2, 6, 12), torch.ones(2, 6, dtype=torch.bool)
    mask[0, 4:] = False
    for bias, padding in ((None, None), (mask_bias(mask, x.dtype), ~mask)):
        expected = theirs(x, x, x, key_padding_mask=padding, need_weights=False)[0]
        torch.testing.assert_close(ours(x, bias), expected, atol=ATOL_FLOAT32, rtol=0)


@pytest.mark.parametrize("with_mask", [False, True])
def test_edge_biased_attention_equals_its_loop(with_mask):
    torch.manual_seed(0)
    layer = EdgeBiasedAttention(8, 6, 2).double()
    nodes = torch.randn(2, 5, 8, dtype=torch.float64)
    edges = torch.randn(2, 5, 5, 6, dtype=torch.float64)
    real = torch.ones(2, 5, dtype=torch.bool)
    real[1, 3:] = False
    mask = mask_bias(real, nodes.dtype) if with_mask else None
    bias = torch.zeros(2, 2, 5, 5, dtype=torch.float64)
    for b in range(2):
        for i in range(5):
            for j in range(5):
                bias[b, :, i, j] = layer.bias.weight @ edges[b, i, j]
                if with_mask and not real[b, j]:
                    bias[b, :, i, j] = -torch.inf
    inner = layer.attention
    literal = multi_head_reference(
        *inner.project(nodes).chunk(3, dim=-1), inner.combine, inner.num_heads, bias
    )
    torch.testing.assert_close(layer(nodes, edges, mask), literal, atol=ATOL_FLOAT64, rtol=0)
