"""Layers of GIN against sums written out."""

import pytest
import torch

from grale.nn.gin import GinEncoder, mean_over_graphs, sum_over_graphs

ATOL_FLOAT32 = 1e-5
MESSAGES = ((0, 1, 0), (1, 0, 0), (1, 2, 1), (2, 1, 1))


@pytest.mark.parametrize("num_kinds", [1, 2])
def test_the_encoder_is_its_equations(num_kinds):
    torch.manual_seed(0)
    encoder = GinEncoder(4, 6, 2, num_kinds).eval()
    labels, kinds = torch.tensor([3, 0, 1]), torch.tensor([m[2] % num_kinds for m in MESSAGES])
    ends = torch.tensor([[m[0] for m in MESSAGES], [m[1] for m in MESSAGES]])
    for norm in encoder.norms:
        norm.running_mean.normal_()
    nodes, expected = encoder.labels.weight[labels], []
    for layer, norm in zip(encoder.layers, encoder.norms):
        nodes = nodes.relu() if expected else nodes
        total = nodes.clone()
        for source, target, kind in zip(*ends.tolist(), kinds.tolist()):
            message = nodes[source]
            if num_kinds > 1:
                message = (message + layer.edge_kinds.weight[kind]).relu()
            total[target] = total[target] + message
        nodes = norm(layer.convolution.nn(total))
        expected.append(nodes)
    found = encoder(labels, ends, kinds)
    torch.testing.assert_close(found, torch.stack(expected), atol=ATOL_FLOAT32, rtol=0)


def test_states_are_pooled_graph_by_graph():
    nodes = torch.tensor([[1.0], [2.0], [6.0]])
    owner = torch.tensor([2, 0, 0])
    assert sum_over_graphs(nodes, owner, 3).tolist() == [[8], [0], [1]]
    assert mean_over_graphs(nodes, owner, 3).tolist() == [[4], [0], [1]]
