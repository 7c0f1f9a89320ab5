"""Published losses of the rivals without a decoder, on cases worked out by hand, and learning."""

from math import exp, log

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, cosine_similarity

from grale.catalog import ARCHITECTURES
from grale.graphs.batch import GraphBatch
from grale.graphs.flat import flatten
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.rivals.graphmae.config import GraphmaeConfig
from grale.rivals.graphmae.model import GraphMAE, hidden_nodes, scaled_cosine_error
from grale.rivals.infograph.config import InfographConfig
from grale.rivals.infograph.model import node_graph_loss
from grale.rivals.simgrace.config import SimgraceConfig
from grale.rivals.simgrace.model import SimGRACE, contrast
from grale.rivals.vgae.config import VgaeConfig
from grale.rivals.vgae.model import VGAE, adjacency_loss

ATOL_FLOAT32 = 1e-5
SPACE = GraphSpace(max_nodes=10, num_node_labels=4)


def generator():
    return torch.Generator().manual_seed(0)


def test_simgrace_leaves_the_positive_out_of_the_denominator():
    logits = torch.tensor([[2.0, 0.0, 1.0], [1.0, 3.0, -1.0], [0.0, 0.0, 0.5]])
    by_hand = [
        -log(exp(2) / (exp(0) + exp(1))),
        -log(exp(3) / (exp(1) + exp(-1))),
        -log(exp(0.5) / 2),
    ]
    assert contrast(logits).item() == pytest.approx(sum(by_hand) / 3, abs=1e-6)
    usual = torch.nn.functional.cross_entropy(logits, torch.arange(3)).item()
    assert contrast(logits).item() != pytest.approx(usual, abs=0.1)


def test_simgrace_disturbs_each_tensor_by_its_own_spread_and_the_projector_not_at_all():
    torch.manual_seed(0)
    model = SimGRACE(SPACE, SimgraceConfig(hidden_dim=64, num_layers=2, perturbation=0.5))
    weights = model.perturbed_weights(generator())
    assert set(weights) == {name for name, _ in model.encoder.named_parameters()}
    for name, weight in model.encoder.named_parameters():
        moved = (weights[name] - weight).std() / weight.std().clamp_min(1e-9)
        if "norms" in name:
            assert torch.equal(weights[name], weight)  # ones and zeros have no spread
        elif weight.numel() > 1_000:
            assert moved.item() == pytest.approx(0.5, rel=0.1)


def test_simgrace_written_out(coloring_graphs):
    torch.manual_seed(0)
    model = SimGRACE(SPACE, SimgraceConfig(hidden_dim=16, num_layers=2)).eval()
    batch = GraphBatch.from_graphs(coloring_graphs[:5])
    noise = model.draw_noise(5, generator())
    assert len(noise.unique()) == 1  # one perturbation for all
    twin = SimGRACE(SPACE, model.config).eval()
    twin.load_state_dict(model.state_dict())
    weights = model.perturbed_weights(torch.Generator().manual_seed(int(noise[0, 0])))
    twin.encoder.load_state_dict({**twin.encoder.state_dict(), **weights})
    first, second = (one.projector(one.embed(batch)) for one in (model, twin))
    total = 0.0
    for row in range(5):
        scores = [cosine_similarity(first[row], other, dim=0).item() / 0.1 for other in second]
        total -= scores[row] - log(sum(exp(s) for k, s in enumerate(scores) if k != row))
    assert model.losses(batch, noise)["loss"].item() == pytest.approx(total / 5, abs=1e-4)


def test_simgrace_has_no_gradient_through_the_disturbed_encoder_and_keeps_its_statistics():
    torch.manual_seed(0)
    model = SimGRACE(SPACE, SimgraceConfig(hidden_dim=8, num_layers=1))
    batch = GraphBatch.from_graphs([Graph([0, 1], [(0, 1)]), Graph([2, 3, 1], [(0, 1), (1, 2)])])
    other = SimGRACE(SPACE, model.config)
    other.load_state_dict(model.state_dict())
    model.losses(batch, model.draw_noise(2, generator()))
    other.embed(batch)  # one pass, undisturbed
    for name, buffer in model.named_buffers():
        assert torch.equal(buffer, dict(other.named_buffers())[name]), name
    with torch.no_grad():
        vectors = model.disturbed(batch, model.perturbed_weights(generator()))
    assert not vectors.requires_grad


def test_infograph_written_out_over_nodes_and_graphs():
    scores = torch.randn(5, 3, generator=generator())
    owner = [0, 0, 1, 2, 2]
    positive, negative = 0.0, 0.0
    for node in range(5):
        for graph in range(3):
            score = scores[node, graph].item()
            if owner[node] == graph:
                positive += log(2) - log(1 + exp(-score))
            else:
                negative += log(1 + exp(-score)) + score - log(2)
    expected = negative / (5 * 2) - positive / 5
    found = node_graph_loss(scores, torch.tensor(owner)).item()
    assert found == pytest.approx(expected, abs=1e-6)
    assert node_graph_loss(torch.zeros(5, 3), torch.tensor(owner)).item() == pytest.approx(0)


def test_graphmae_error_by_hand():
    guesses = torch.tensor([[3.0, 4.0], [0.0, 2.0], [-1.0, 0.0]])
    labels = torch.tensor([0, 1, 0])  # cosines 3/5, 1 and -1
    assert scaled_cosine_error(guesses, labels, 1.0).item() == pytest.approx((0.4 + 0 + 2) / 3)
    assert scaled_cosine_error(guesses, labels, 2.0).item() == pytest.approx((0.16 + 4) / 3)


@pytest.mark.parametrize(("share", "counts"), [(0.25, [1, 2, 3]), (1.0, [1, 4, 8])])
def test_graphmae_hides_a_share_of_each_graph_and_one_more(share, counts):
    mask = torch.arange(10) < torch.tensor([1, 4, 8])[:, None]
    noise = torch.rand(3, 10, generator=generator())
    hidden = hidden_nodes(mask, noise, share)
    assert hidden.sum(dim=1).tolist() == counts
    assert not (hidden & ~mask).any()
    for row in range(3):
        shown = noise[row][mask[row] & ~hidden[row]]
        assert len(shown) == 0 or noise[row][hidden[row]].max() < shown.min()


def test_graphmae_cannot_see_what_is_hidden():
    torch.manual_seed(0)
    model = GraphMAE(SPACE, GraphmaeConfig(hidden_dim=8, num_layers=2)).eval()
    path = [(0, 1), (1, 2), (2, 3)]
    first, second = (
        flatten(GraphBatch.from_graphs([Graph(labels, path)]), 1)
        for labels in ([0, 1, 2, 3], [0, 3, 2, 3])
    )
    hidden = torch.tensor([False, True, False, False])
    assert torch.equal(model.guessed(first, hidden), model.guessed(second, hidden))
    shown = torch.tensor([True, False, False, False])
    assert not torch.allclose(model.guessed(first, shown), model.guessed(second, shown))


def test_vgae_equals_the_published_formula_graph_by_graph():
    torch.manual_seed(0)
    model = VGAE(SPACE, VgaeConfig(hidden_dim=8, latent_dim=6))
    graphs = [Graph([0, 1, 2], [(0, 1)]), Graph([1, 1, 3, 0, 2], [(0, 1), (1, 2), (3, 4)])]
    batch = GraphBatch.from_graphs(graphs)
    noise = model.draw_noise(2, generator())
    total = 0.0
    for row, graph in enumerate(graphs):
        size = graph.num_nodes
        posterior = model.posterior(flatten(GraphBatch.from_graphs([graph]), 1))
        latents = posterior.sample(noise[row, :size])
        target = torch.from_numpy(graph.label_matrix()).float() + torch.eye(size)
        positives = target.sum()
        weight = (size**2 - positives) / positives
        norm = size**2 / (2 * (size**2 - positives))
        logits = latents @ latents.T
        total += norm * binary_cross_entropy_with_logits(logits, target, pos_weight=weight)
        log_std = posterior.log_variance / 2
        inner = 1 + 2 * log_std - posterior.mean.square() - log_std.exp().square()
        total -= (0.5 / size) * inner.sum(dim=1).mean()
    expected = (total / 2).item()
    assert model.losses(batch, noise)["loss"].item() == pytest.approx(expected, abs=1e-5)


def test_vgae_is_finite_where_all_pairs_are_joined():
    batch = GraphBatch.from_graphs([Graph([0]), Graph([0, 1], [(0, 1)])], 4)
    found = adjacency_loss(batch, torch.zeros(2, 4, 4))
    torch.testing.assert_close(found, torch.full((2,), log(2) / 2))


def test_vgae_convolution_is_the_normalised_one():
    torch.manual_seed(0)
    model = VGAE(SPACE, VgaeConfig(hidden_dim=5, latent_dim=3))
    graph = Graph([0, 1, 2], [(0, 1), (1, 2)])
    flat = flatten(GraphBatch.from_graphs([graph]), 1)
    joined = torch.from_numpy(graph.label_matrix()).float() + torch.eye(3)
    spread = joined.sum(dim=1).rsqrt().diag()
    passed = spread @ joined @ spread
    hidden = (
        passed @ torch.eye(4)[flat.labels] @ model.first.lin.weight.T + model.first.bias
    ).relu()
    expected = passed @ hidden @ model.mean.lin.weight.T + model.mean.bias
    torch.testing.assert_close(model.posterior(flat).mean, expected, atol=ATOL_FLOAT32, rtol=0)


LEARNERS = {
    "simgrace": (SimgraceConfig(hidden_dim=64, perturbation=0.1), "found", 0.9),
    "infograph": (InfographConfig(hidden_dim=32, num_layers=3), "found", 0.9),
    "graphmae": (GraphmaeConfig(hidden_dim=64, num_layers=3), "guessed", 0.9),
    "vgae": (VgaeConfig(hidden_dim=64, latent_dim=32, kl_weight=0.01), "joined", 0.85),
}
"""Settings, what is counted, and the share that must be right on graphs learned by heart."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_it_learns_graphs_by_heart(name, coloring_graphs):
    config, counted, enough = LEARNERS[name]
    torch.manual_seed(0)
    model = ARCHITECTURES[name](SPACE, config)
    batch = GraphBatch.from_graphs(cliques() if name == "vgae" else coloring_graphs)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    assert share_right(model, batch, counted) < enough - 0.1  # nothing is known yet
    for step in range(300):
        model.losses(batch, drawn(model, batch, step % NUM_DRAWS))["loss"].backward()
        optimizer.step()
        optimizer.zero_grad()
    assert share_right(model, batch, counted) >= enough


def cliques():
    """Graphs whose nodes are joined where their labels are equal: what an inner product can say."""
    rows = torch.randint(4, (16, 8), generator=generator()).numpy()
    matrices = [(labels[:, None] == labels) * (1 - torch.eye(8).numpy()) for labels in rows]
    return [
        Graph.from_label_matrix(labels, joined.astype(int))
        for labels, joined in zip(rows, matrices)
    ]


NUM_DRAWS = 3


def drawn(model, batch, seed):
    return model.draw_noise(len(batch), torch.Generator().manual_seed(seed))


@torch.no_grad()
def share_right(model, batch, counted):
    if counted != "joined":
        found = [model.losses(batch, drawn(model, batch, n))[counted] for n in range(NUM_DRAWS)]
        return torch.stack(found).mean().item()
    right = []
    for row in range(len(batch)):
        latents = model.posterior(flatten(batch[[row]], 1)).mean
        size = len(latents)
        joined = batch.adjacency[row, :size, :size] | torch.eye(size, dtype=torch.bool)
        right.append(((latents @ latents.T > 0) == joined).flatten())
    return torch.cat(right).float().mean().item()
