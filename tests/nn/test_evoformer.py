import pytest
import torch

from grale.graphs.permute import gather_edges, gather_nodes
from grale.nn.attention import mask_bias
from grale.nn.evoformer import (
    EvoformerDecoder,
    EvoformerDecoderLayer,
    EvoformerDims,
    EvoformerEncoder,
    EvoformerEncoderLayer,
)

ATOL_FLOAT64 = 1e-10  # two layers of normalised values, double precision


def dims(norm, hidden=None):
    return EvoformerDims(
        node_dim=8,
        node_hidden_dim=hidden,
        edge_dim=4,
        edge_hidden_dim=hidden,
        num_heads=2,
        outer_dim=3,
        norm=norm,
    )


def random_graphs():
    torch.manual_seed(1)
    nodes = torch.randn(2, 5, 8, dtype=torch.float64)
    edges = torch.randn(2, 5, 5, 4, dtype=torch.float64)
    mask = torch.ones(2, 5, dtype=torch.bool)
    mask[1, 3:] = False
    return nodes, edges, mask


def encoder(norm="pre", hidden=None):
    torch.manual_seed(0)
    return EvoformerEncoder(dims(norm, hidden), 2).double()


def decoder(norm="pre", hidden=None):
    torch.manual_seed(0)
    return EvoformerDecoder(dims(norm, hidden), 6, 2).double()


def random_tokens():
    return torch.randn(2, 3, 6, dtype=torch.float64)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_an_encoder_layer_applies_its_blocks_in_the_order_of_the_figure(norm):
    torch.manual_seed(0)
    layer = EvoformerEncoderLayer(dims(norm)).double()
    nodes, edges, mask = random_graphs()
    bias = mask_bias(mask, nodes.dtype)
    x = layer.node_attention(nodes, edges, bias)  # bSAB(X, C)
    x = layer.node_feedforward(x)  # FFB
    c = layer.outer_product(edges, x)  # OPB(C, X)
    c = layer.triangle(c, bias)  # tSAB
    c = layer.edge_feedforward(c)  # FFB
    new_nodes, new_edges = layer(nodes, edges, bias)
    assert torch.equal(new_nodes, x)
    assert torch.equal(new_edges, c)
    assert not torch.equal(layer.outer_product(edges, nodes), layer.outer_product(edges, x))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_decoder_layer_reads_the_tokens_after_each_attention(norm):
    torch.manual_seed(0)
    layer = EvoformerDecoderLayer(dims(norm), 6).double()
    nodes, edges, _ = random_graphs()
    tokens = random_tokens()
    x = layer.node_attention(nodes, edges, None)  # bSAB(X, C)
    x = layer.node_feedforward(layer.node_cross(x, tokens))  # FFB(CAB(X, Z))
    c = layer.triangle(layer.outer_product(edges, x), None)  # tSAB(OPB(C, X))
    c = torch.stack([layer.edge_cross(row, tokens) for row in c.unbind(1)], dim=1)  # CAB(C, Z)
    c = layer.edge_feedforward(c)  # FFB
    new_nodes, new_edges = layer(nodes, edges, tokens)
    torch.testing.assert_close(new_nodes, x, atol=1e-12, rtol=0)
    torch.testing.assert_close(new_edges, c, atol=1e-12, rtol=0)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_permuting_the_nodes_permutes_what_the_encoder_says(norm):
    model = encoder(norm)
    nodes, edges, mask = random_graphs()
    order = torch.stack([torch.randperm(5), torch.randperm(5)])
    out = model(nodes, edges, mask_bias(mask, nodes.dtype))
    moved_mask = mask_bias(mask.gather(1, order), nodes.dtype)
    moved = model(gather_nodes(nodes, order), gather_edges(edges, order), moved_mask)
    torch.testing.assert_close(moved[0], gather_nodes(out[0], order), atol=ATOL_FLOAT64, rtol=0)
    torch.testing.assert_close(moved[1], gather_edges(out[1], order), atol=ATOL_FLOAT64, rtol=0)

    def with_positions(x, c):
        marked = x.clone()
        marked[..., 0] += torch.arange(5.0)  # on one channel: a shift of all is normalised away
        return model(marked, c)[0]

    broken = with_positions(gather_nodes(nodes, order), gather_edges(edges, order))
    assert (broken - gather_nodes(with_positions(nodes, edges), order)).abs().max() > 0.01


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_padded_nodes_have_no_influence_on_real_ones(norm):
    model = encoder(norm)
    nodes, edges, mask = random_graphs()
    pairs = (mask[:, :, None] & mask[:, None])[..., None]
    noisy = nodes + 3 * torch.randn_like(nodes) * ~mask[..., None]
    noisy_edges = edges + 3 * torch.randn_like(edges) * ~pairs
    bias = mask_bias(mask, nodes.dtype)
    before, after = model(nodes, edges, bias), model(noisy, noisy_edges, bias)
    torch.testing.assert_close(after[0][mask], before[0][mask], atol=ATOL_FLOAT64, rtol=0)
    real = pairs[..., 0]
    torch.testing.assert_close(after[1][real], before[1][real], atol=ATOL_FLOAT64, rtol=0)
    unmasked = model(noisy, noisy_edges)[0] - model(nodes, edges)[0]
    assert unmasked[mask].abs().max() > 0.01


def test_the_decoder_depends_on_every_token():
    model = decoder()
    nodes, edges, _ = random_graphs()
    tokens = random_tokens()
    before = model(nodes, edges, tokens)
    assert torch.equal(model(nodes, edges, tokens.clone())[0], before[0])
    for k in range(tokens.shape[1]):
        changed = tokens.clone()
        changed[:, k] += 1
        after = model(nodes, edges, changed)
        assert (after[0] - before[0]).abs().max() > 1e-3
        assert (after[1] - before[1]).abs().max() > 1e-3


def assert_every_parameter_is_reached(model, outputs):
    weights = [torch.randn_like(out) for out in outputs]
    sum((out * w).sum() for out, w in zip(outputs, weights)).backward()
    unreached = [
        name
        for name, parameter in model.named_parameters()
        if parameter.grad is None or not parameter.grad.abs().max() > 0
    ]
    assert unreached == []


@pytest.mark.parametrize("hidden", [None, 7])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_gradients_reach_every_parameter(norm, hidden):
    nodes, edges, mask = random_graphs()
    model = encoder(norm, hidden)
    outputs = model(nodes, edges, mask_bias(mask, nodes.dtype))
    assert_every_parameter_is_reached(model, outputs)
    model = decoder(norm, hidden)
    assert_every_parameter_is_reached(model, model(nodes, edges, random_tokens()))


def test_the_gradient_check_sees_an_unreached_parameter():
    model = encoder()
    model.spare = torch.nn.Parameter(torch.zeros(1))
    with pytest.raises(AssertionError, match="spare"):
        assert_every_parameter_is_reached(model, model(*random_graphs()[:2]))
