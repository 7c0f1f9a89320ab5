from dataclasses import fields, replace

import pytest
import torch

from grale.codec.logits import GraphLogits
from grale.graphs.space import GraphSpace
from grale.model.parts import build_parts

ATOL_FLOAT32 = 1e-5  # the same sums in batches of another size


def build(config, directed=False):
    space = GraphSpace(max_nodes=6, num_node_labels=3, num_edge_labels=2, directed=directed)
    torch.manual_seed(0)
    decoder = build_parts(space, config).decoder.eval()
    return decoder, torch.randn(5, config.num_tokens, config.token_dim)


def random_logits(count=20, size=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    edges = torch.randn(count, size, size, 3, generator=generator)
    return GraphLogits(
        torch.randn(count, size, generator=generator),
        torch.randn(count, size, 3, generator=generator),
        torch.zeros(count, size, 0),
        edges + edges.transpose(1, 2),
        torch.zeros(count, size, size, 0),
    )


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_latent_is_decoded_alike_among_any_others(tiny_config, norm):
    decoder, latents = build(replace(tiny_config, norm=norm))
    slots, logits, _ = decoder(latents)
    for row in range(len(latents)):
        own_slots, own_logits, _ = decoder(latents[row : row + 1])
        torch.testing.assert_close(own_slots[0], slots[row], atol=ATOL_FLOAT32, rtol=0)
        for f in fields(GraphLogits):
            torch.testing.assert_close(
                getattr(own_logits, f.name)[0],
                getattr(logits, f.name)[row],
                atol=ATOL_FLOAT32,
                rtol=0,
            )
    assert (slots[1:] - slots[:1]).abs().amax((1, 2)).min() > 100 * ATOL_FLOAT32


def test_a_decoder_that_normalises_over_the_batch_would_fail_that_test(tiny_config):
    decoder, latents = build(tiny_config)
    centred = latents - latents.mean(0)
    together = decoder(centred).slots[0]
    alone = decoder(latents[:1] - latents[:1].mean(0)).slots[0]
    assert (together - alone).abs().max() > 100 * ATOL_FLOAT32


def test_shapes_follow_the_space(tiny_config):
    decoder, latents = build(tiny_config)
    slots, logits, _ = decoder(latents)
    assert slots.shape == (5, 6, 16)
    assert logits.node_mask.shape == (5, 6)
    assert logits.node_label.shape == (5, 6, 3)
    assert logits.node_feature.shape == (5, 6, 6)  # A F and A^2 F
    assert logits.edge_label.shape == (5, 6, 6, 3)
    assert logits.edge_feature.shape == (5, 6, 6, 4)


def test_edge_logits_are_symmetric_exactly_when_undirected(tiny_config):
    for directed in (False, True):
        decoder, latents = build(tiny_config, directed)
        logits = decoder(latents).logits
        for edges in (logits.edge_label, logits.edge_feature):
            assert torch.equal(edges, edges.transpose(1, 2)) is not directed


def test_the_most_likely_graph_takes_the_best_of_each_choice():
    logits = random_logits()
    graphs = logits.most_likely(directed=False)
    exists = graphs.node_mask
    assert exists.any()
    assert not exists.all()
    certain = (logits.node_mask > 0).any(dim=1)
    assert torch.equal(exists[certain], (logits.node_mask > 0)[certain])
    assert torch.equal(graphs.node_labels[exists], logits.node_label.argmax(-1)[exists])
    assert not graphs.node_labels[~exists].any()
    inside = graphs.edge_mask & ~torch.eye(6, dtype=torch.bool)
    assert torch.equal(graphs.edge_labels[inside], logits.edge_label.argmax(-1)[inside])
    assert not graphs.edge_labels[~inside].any()


def test_the_most_likely_graph_has_no_self_loops_and_is_symmetric():
    logits = random_logits()
    assert logits.edge_label.argmax(-1).diagonal(dim1=1, dim2=2).any()  # loops would be likely
    edges = logits.most_likely(directed=False).edge_labels
    assert not edges.diagonal(dim1=1, dim2=2).any()
    assert torch.equal(edges, edges.transpose(1, 2))
    arrows = torch.randn(20, 6, 6, 3, generator=torch.Generator().manual_seed(1))
    directed = replace(logits, edge_label=arrows).most_likely(directed=True)
    assert directed.directed
    assert not torch.equal(directed.edge_labels, directed.edge_labels.transpose(1, 2))


def test_the_most_likely_graph_has_at_least_one_node():
    logits = random_logits()
    doubtful = replace(logits, node_mask=logits.node_mask - 10)
    graphs = doubtful.most_likely(directed=False)
    assert (graphs.num_nodes == 1).all()
    assert torch.equal(graphs.node_mask.int().argmax(1), logits.node_mask.argmax(1))
    assert all(graph.num_nodes == 1 for graph in graphs.to_graphs())


def test_the_output_depends_on_every_token(tiny_config):
    decoder, latents = build(tiny_config)
    before = decoder(latents).slots
    for k in range(latents.shape[1]):
        changed = latents.clone()
        changed[:, k] = -changed[:, k]
        assert (decoder(changed).slots - before).abs().max() > 1e-3
