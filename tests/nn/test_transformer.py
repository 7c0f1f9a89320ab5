import pytest
import torch

from grale.nn.attention import mask_bias
from grale.nn.transformer import (
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)

ATOL_FLOAT64 = 1e-10  # two layers of normalised values, double precision


def encoder(norm="pre", hidden=None):
    torch.manual_seed(0)
    return TransformerEncoder(8, hidden, 2, norm, 2).double()


def decoder(norm="pre", hidden=None):
    torch.manual_seed(0)
    layers = [TransformerDecoderLayer(8, 4, hidden, 2, norm) for _ in range(2)]
    return TransformerDecoder(layers, 8, norm).double()


def random_sets():
    torch.manual_seed(1)
    tokens = torch.randn(2, 3, 8, dtype=torch.float64)
    context = torch.randn(2, 9, 4, dtype=torch.float64)
    mask = torch.ones(2, 9, dtype=torch.bool)
    mask[1, 4:] = False
    return tokens, context, mask


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_an_encoder_layer_is_self_attention_then_feed_forward(norm):
    torch.manual_seed(0)
    layer = TransformerEncoderLayer(8, None, 2, norm).double()
    tokens, _, _ = random_sets()
    assert torch.equal(layer(tokens), layer.feedforward(layer.attention(tokens)))
    assert not torch.equal(layer(tokens), layer.attention(layer.feedforward(tokens)))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_decoder_layer_reads_its_context_between_the_two(norm):
    torch.manual_seed(0)
    layer = TransformerDecoderLayer(8, 4, None, 2, norm).double()
    tokens, context, mask = random_sets()
    bias = mask_bias(mask, tokens.dtype)[:, 0]
    by_hand = layer.feedforward(layer.cross(layer.attention(tokens), context, bias))
    assert torch.equal(layer(tokens, context, bias), by_hand)
    swapped = layer.feedforward(layer.attention(layer.cross(tokens, context, bias)))
    assert not torch.equal(swapped, by_hand)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_stack_applies_its_layers_in_order_and_normalises_at_the_end(norm):
    tokens, context, _ = random_sets()
    for model, more in ((encoder(norm), ()), (decoder(norm), (context,))):
        first, second = model.layers
        by_hand = model.norm(second(first(tokens, *more), *more))
        assert torch.equal(model(tokens, *more), by_hand)
        assert not torch.equal(model.norm(first(second(tokens, *more), *more)), by_hand)


def test_permuting_the_tokens_permutes_the_output():
    model, (tokens, _, _) = encoder(), random_sets()
    order = [2, 0, 1]
    out = model(tokens)
    torch.testing.assert_close(model(tokens[:, order]), out[:, order], atol=ATOL_FLOAT64, rtol=0)
    assert (out[:, order] - out).abs().max() > 0.01


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_neither_order_nor_padding_of_the_context_matters_to_the_decoder(norm):
    model, (tokens, context, mask) = decoder(norm), random_sets()
    bias = mask_bias(mask, tokens.dtype)[:, 0]
    before = model(tokens, context, bias)
    order = torch.randperm(9)
    shuffled = model(tokens, context[:, order], bias[..., order])
    torch.testing.assert_close(shuffled, before, atol=ATOL_FLOAT64, rtol=0)
    noisy = context + ~mask[..., None]
    torch.testing.assert_close(model(tokens, noisy, bias), before, atol=ATOL_FLOAT64, rtol=0)
    assert (model(tokens, noisy) - model(tokens, context)).abs().max() > 1e-3


@pytest.mark.parametrize("hidden", [None, 7])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_gradients_reach_every_parameter(norm, hidden):
    tokens, context, _ = random_sets()
    for model, more in ((encoder(norm, hidden), ()), (decoder(norm, hidden), (context,))):
        out = model(tokens, *more)
        (out * torch.randn_like(out)).sum().backward()
        assert all(parameter.grad.abs().max() > 0 for parameter in model.parameters())
