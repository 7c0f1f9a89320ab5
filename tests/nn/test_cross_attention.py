import pytest
import torch

from grale.nn.attention import mask_bias
from grale.nn.cross_attention import AttendFromFew, AttendToFew, literal_cross_attention
from reference.attention_reference import multi_head_reference

ATOL_FLOAT64 = 1e-10  # folding the projections only changes the order of sums of order one


def build(kind, num_few=3, num_many=11, seed=0):
    """A layer with non-zero biases, its x and its context, in double precision."""
    torch.manual_seed(seed)
    layer = kind(8, 6, 2).double()
    for part in (layer.query, layer.value, layer.combine):
        torch.nn.init.normal_(part.bias)
    counts = (num_many, num_few) if kind is AttendToFew else (num_few, num_many)
    x = torch.randn(2, counts[0], 8, dtype=torch.float64, requires_grad=True)
    context = torch.randn(2, counts[1], 6, dtype=torch.float64, requires_grad=True)
    return layer, x, context


def gradients(layer, x, context, out):
    weights = torch.linspace(-1, 1, out.numel(), dtype=out.dtype).view_as(out)
    tensors = [x, context, *layer.parameters()]
    return torch.autograd.grad((out * weights).sum(), tensors)


def random_mask(count=11):
    mask = torch.ones(2, count, dtype=torch.bool)
    mask[0, 7:], mask[1, ::3] = False, False
    assert mask.any()
    assert not mask.all()
    return mask


@pytest.mark.parametrize("kind", [AttendToFew, AttendFromFew])
@pytest.mark.parametrize("seed", range(3))
def test_folded_attention_equals_the_literal_one_in_value_and_gradient(kind, seed):
    layer, x, context = build(kind, seed=seed)
    folded, literal = layer(x, context), literal_cross_attention(layer, x, context)
    torch.testing.assert_close(folded, literal, atol=ATOL_FLOAT64, rtol=0)
    expected = gradients(layer, x, context, literal)
    for ours, theirs in zip(gradients(layer, x, context, folded), expected, strict=True):
        assert theirs.abs().max() > 1e-6  # there is something to compare
        torch.testing.assert_close(ours, theirs, atol=ATOL_FLOAT64, rtol=0)


@pytest.mark.parametrize("num_few", [3, 5], ids=["few enough to fold", "too many to fold"])
@pytest.mark.parametrize("run", [AttendFromFew.forward, AttendFromFew.folded])
def test_folded_attention_equals_the_literal_one_under_a_mask(run, num_few):
    layer, x, context = build(AttendFromFew, num_few)
    bias = mask_bias(random_mask(), x.dtype)
    folded = run(layer, x, context, bias[:, 0])
    literal = literal_cross_attention(layer, x, context, bias)
    torch.testing.assert_close(folded, literal, atol=ATOL_FLOAT64, rtol=0)
    expected = gradients(layer, x, context, literal)
    for ours, theirs in zip(gradients(layer, x, context, folded), expected, strict=True):
        torch.testing.assert_close(ours, theirs, atol=ATOL_FLOAT64, rtol=0)
    assert (folded - layer(x, context)).abs().max() > 0.01  # the mask matters


@pytest.mark.parametrize("kind", [AttendToFew, AttendFromFew])
def test_the_literal_attention_equals_a_loop(kind):
    layer, x, context = build(kind)
    looped = multi_head_reference(
        layer.query(x), layer.key(context), layer.value(context), layer.combine, layer.num_heads
    )
    torch.testing.assert_close(
        literal_cross_attention(layer, x, context), looped, atol=ATOL_FLOAT64, rtol=0
    )


def test_masked_context_has_no_influence():
    layer, x, context = build(AttendFromFew)
    mask = random_mask()
    moved = context + 5 * ~mask[..., None]
    bias = mask_bias(mask, x.dtype)[:, 0]
    torch.testing.assert_close(layer(x, moved, bias), layer(x, context, bias), atol=0, rtol=0)
    assert (layer(x, moved) - layer(x, context)).abs().max() > 0.01


@pytest.mark.parametrize("kind", [AttendToFew, AttendFromFew])
def test_the_order_of_the_context_does_not_matter(kind):
    layer, x, context = build(kind)
    shuffled = context[:, torch.randperm(context.shape[1])]
    torch.testing.assert_close(layer(x, shuffled), layer(x, context), atol=ATOL_FLOAT64, rtol=0)
    assert (layer(x, 2 * context) - layer(x, context)).abs().max() > 0.01  # its content does


@pytest.mark.parametrize("kind", [AttendToFew, AttendFromFew])
def test_permuting_x_permutes_the_output(kind):
    layer, x, context = build(kind)
    order = torch.arange(x.shape[1]).roll(1)
    out = layer(x, context)
    torch.testing.assert_close(layer(x[:, order], context), out[:, order], atol=1e-12, rtol=0)
    assert (out[:, order] - out).abs().max() > 1e-3  # rows differ, so the order is visible
