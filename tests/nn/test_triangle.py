import torch

from grale.graphs.permute import gather_edges
from grale.nn.attention import mask_bias
from grale.nn.triangle import TriangleAttention
from reference.attention_reference import triangle_reference

ATOL_FLOAT64 = 1e-12  # values of order one, sums of a few terms


def build():
    torch.manual_seed(0)
    layer = TriangleAttention(8, 2).double()
    edges = torch.randn(2, 5, 5, 8, dtype=torch.float64)
    mask = torch.ones(2, 5, dtype=torch.bool)
    mask[1, 3:] = False
    return layer, edges, mask


def test_triangle_attention_equals_the_sum_over_k():
    layer, edges, mask = build()
    literal = triangle_reference(layer, edges, torch.ones_like(mask))
    torch.testing.assert_close(layer(edges), literal, atol=ATOL_FLOAT64, rtol=0)
    columns = triangle_reference(layer, edges.transpose(1, 2), torch.ones_like(mask))
    assert (columns.transpose(1, 2) - literal).abs().max() > 0.01  # rows, not columns


def test_triangle_attention_looks_at_real_nodes_only():
    layer, edges, mask = build()
    bias = mask_bias(mask, edges.dtype)
    out = layer(edges, bias)
    torch.testing.assert_close(
        out, triangle_reference(layer, edges, mask), atol=ATOL_FLOAT64, rtol=0
    )
    moved = edges + 3 * ~mask[:, None, :, None]
    kept = mask[:, None, :, None] & mask[:, :, None, None]
    torch.testing.assert_close(layer(moved, bias) * kept, out * kept, atol=0, rtol=0)
    assert ((layer(moved) - layer(edges)) * kept).abs().max() > 0.01


def test_permuting_the_nodes_permutes_both_sides_of_the_edges():
    layer, edges, mask = build()
    order = torch.stack([torch.randperm(5), torch.randperm(5)])
    moved = layer(gather_edges(edges, order), mask_bias(mask.gather(1, order), edges.dtype))
    expected = gather_edges(layer(edges, mask_bias(mask, edges.dtype)), order)
    torch.testing.assert_close(moved, expected, atol=ATOL_FLOAT64, rtol=0)
    marked = edges + torch.arange(5.0)[:, None]  # a position index on the columns
    seen = gather_edges(edges, order) + torch.arange(5.0)[:, None]
    assert (layer(seen) - gather_edges(layer(marked), order)).abs().max() > 0.01
