import torch

from grale.graphs.permute import gather_edges, gather_nodes
from grale.nn.outer_product import OuterProduct

ATOL_FLOAT64 = 1e-12  # values of order one, sums of a few dozen terms


def build():
    torch.manual_seed(0)
    layer = OuterProduct(6, 5, 4).double()
    torch.nn.init.normal_(layer.bias)
    return layer, torch.randn(2, 7, 6, dtype=torch.float64)


def test_the_outer_product_equals_its_einsum():
    layer, nodes = build()
    torch.testing.assert_close(layer(nodes), layer.literal(nodes), atol=ATOL_FLOAT64, rtol=0)


def test_the_outer_product_equals_its_loop():
    layer, nodes = build()
    left, right = layer.left(nodes), layer.right(nodes)
    out = layer(nodes)
    for i, j, c in ((0, 0, 0), (2, 5, 1), (5, 2, 1), (6, 3, 4)):
        total = layer.bias[c].clone()
        for a in range(4):
            for b in range(4):
                total = total + left[1, i, a] * layer.weight[a, b * 5 + c] * right[1, j, b]
        torch.testing.assert_close(out[1, i, j, c], total, atol=ATOL_FLOAT64, rtol=0)


def test_left_and_right_are_told_apart():
    layer, nodes = build()
    out = layer(nodes)
    assert (out - out.transpose(1, 2)).abs().max() > 0.01


def test_permuting_the_nodes_permutes_both_sides_of_the_edges():
    layer, nodes = build()
    order = torch.stack([torch.randperm(7), torch.randperm(7)])
    expected = gather_edges(layer(nodes), order)
    torch.testing.assert_close(
        layer(gather_nodes(nodes, order)), expected, atol=ATOL_FLOAT64, rtol=0
    )
    assert (layer(nodes) - expected).abs().max() > 0.01
