import torch

from grale.nn.feedforward import FeedForward


def test_without_a_hidden_width_it_is_one_linear_layer_and_a_relu():
    torch.manual_seed(0)
    layer, x = FeedForward(4, None), torch.randn(2, 3, 4)
    (linear,) = (part for part in layer.net if isinstance(part, torch.nn.Linear))
    out = layer(x)
    assert torch.equal(out, linear(x).clamp_min(0))
    assert (linear(x) < 0).any()  # so that the activation is seen


def test_with_a_hidden_width_it_is_two_linear_layers_around_a_relu():
    torch.manual_seed(0)
    layer, x = FeedForward(4, 6), torch.randn(2, 3, 3, 4)
    first, second = (part for part in layer.net if isinstance(part, torch.nn.Linear))
    assert first.out_features == 6
    out = layer(x)
    assert torch.equal(out, second(first(x).clamp_min(0)))
    assert (out < 0).any()  # no activation at the end


def test_its_argument_is_not_modified():
    x = torch.randn(2, 3, 4)
    before = x.clone()
    FeedForward(4, None)(x)
    assert torch.equal(x, before)
