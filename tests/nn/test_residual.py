import pytest
import torch
from torch import nn

from grale.nn.residual import Residual, SideResidual, final_norm

EPSILON = 1e-5  # of torch's LayerNorm


def normalised(x, norm):
    centred = x - x.mean(-1, keepdim=True)
    scaled = centred / (centred.square().mean(-1, keepdim=True) + EPSILON).sqrt()
    return scaled * norm.weight + norm.bias


def scrambled(block):
    """Give the norm weights that are neither one nor zero."""
    nn.init.normal_(block.norm.weight)
    nn.init.normal_(block.norm.bias)
    return block.double()


def build(norm):
    torch.manual_seed(0)
    block = scrambled(Residual(nn.Linear(4, 4), 4, norm))
    return block, torch.randn(3, 4, dtype=torch.float64)


def test_post_norm_normalises_the_sum():
    block, x = build("post")
    expected = normalised(x + block.layer(x), block.norm)
    torch.testing.assert_close(block(x), expected, atol=1e-12, rtol=0)


def test_pre_norm_normalises_what_the_layer_sees():
    block, x = build("pre")
    expected = x + block.layer(normalised(x, block.norm))
    torch.testing.assert_close(block(x), expected, atol=1e-12, rtol=0)


def test_pre_and_post_norm_differ():
    (pre, x), (post, _) = build("pre"), build("post")
    assert (pre(x) - post(x)).abs().max() > 0.1


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_context_is_handed_on_to_the_layer_unchanged(norm):
    class Recorder(nn.Module):
        def forward(self, x, *context):
            self.context = context
            return x

    block = Residual(Recorder(), 4, norm)
    first, second = torch.randn(3, 2), None
    block(torch.randn(3, 4), first, second)
    assert block.layer.context[0] is first
    assert block.layer.context[1] is None


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_side_residual_adds_what_the_layer_makes_of_the_source(norm):
    torch.manual_seed(0)
    block = scrambled(SideResidual(nn.Linear(6, 4), 4, 6, norm))
    x = torch.randn(3, 4, dtype=torch.float64)
    source = torch.randn(3, 6, dtype=torch.float64)
    if norm == "pre":
        expected = x + block.layer(normalised(source, block.norm))
    else:
        expected = normalised(x + block.layer(source), block.norm)
    torch.testing.assert_close(block(x, source), expected, atol=1e-12, rtol=0)


def test_only_pre_norm_is_normalised_at_the_end():
    x = torch.tensor([[1.0, 2.0, 3.0, 10.0]])
    assert torch.equal(final_norm(4, "post")(x), x)
    assert abs(final_norm(4, "pre")(x).mean()) < 1e-6
    assert not torch.equal(final_norm(4, "pre")(x), x)
