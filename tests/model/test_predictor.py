"""GRALE's predictor: both stages are their equations, and the encoder stays as it was."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.model.config import LatentConfig, ModelConfig
from grale.model.loss import reconstruction_loss
from grale.model.predictor import GralePredictor, PredictorSettings
from prediction_setup import IMAGE, READER, random_rows

SPACE = GraphSpace(max_nodes=10, num_node_labels=4)
TRANSPORT = {"pooling": "transport", "num_tokens": 10}


def _predictor(config: ModelConfig) -> GralePredictor:
    torch.manual_seed(0)
    settings = PredictorSettings(inputs=IMAGE, reader=READER, autoencoder=config)
    return GralePredictor(SPACE, settings)


@pytest.fixture(params=["attention", "transport"])
def predictor(request: pytest.FixtureRequest, tiny_config: ModelConfig) -> GralePredictor:
    changes = TRANSPORT if request.param == "transport" else {}
    return _predictor(replace(tiny_config, **changes))


def _batch(graphs: list[Graph]) -> tuple[GraphBatch, torch.Tensor, torch.Tensor]:
    few = graphs[:4]
    return GraphBatch.from_graphs(few), torch.from_numpy(random_rows(IMAGE, 4)), torch.zeros(4, 1)


def test_stage_1_is_the_squared_error_to_the_latent(
    predictor: GralePredictor, coloring_graphs: list[Graph]
) -> None:
    graphs, rows, noise = _batch(coloring_graphs)
    latents = torch.from_numpy(predictor.autoencoder.encode(coloring_graphs[:4]))
    found = predictor.regression(latents, rows, noise)["loss"]
    said = predictor.latents_of(rows).detach()
    by_hand = sum(float((said[row] - latents[row]).square().sum()) for row in range(4))
    assert float(found.detach()) == pytest.approx(by_hand / (4 * latents.shape[1]), rel=1e-5)


def test_stage_2_is_the_loss_of_the_autoencoder_with_its_own_plan(
    predictor: GralePredictor, coloring_graphs: list[Graph]
) -> None:
    """With phi(x) = g(G*), the loss is that of reconstruction at test time."""
    graphs, rows, noise = _batch(coloring_graphs)
    model = predictor.autoencoder.eval()
    inputs = model.featurizer(graphs)
    with torch.no_grad():
        encoded = model.encoded_inputs(inputs)
    predictor.tokens_of = lambda rows, turns=None: encoded.latent
    found = predictor.train().losses(graphs, rows, noise)
    with torch.no_grad():
        decoded = model.decoder(encoded.latent)
        plan = encoded.plan.soft(decoded.slots).log_plan
        targets = model.featurizer.targets(inputs)
        terms = reconstruction_loss(targets, decoded.logits, plan, model.config.loss)
    wanted = terms.total(model.config.loss)
    torch.testing.assert_close(found["loss"].detach(), wanted, atol=1e-5, rtol=1e-4)
    predictor.tokens_of = lambda rows, turns=None: encoded.latent + torch.randn_like(encoded.latent)
    other = predictor.losses(graphs, rows, noise)["loss"].detach()
    assert abs(float(other - wanted)) > 1e-3


@pytest.mark.slow
def test_the_order_of_the_nodes_does_not_change_either_stage(
    predictor: GralePredictor, coloring_graphs: list[Graph], rng
) -> None:
    graphs, rows, noise = _batch(coloring_graphs)
    moved = [graph.permuted(rng.permutation(graph.num_nodes)) for graph in coloring_graphs[:4]]
    values = []
    others = coloring_graphs[4:8]
    for some in (graphs, GraphBatch.from_graphs(moved), GraphBatch.from_graphs(others)):
        values.append(float(predictor.losses(some, rows, noise)["loss"].detach()))
    assert values[0] == pytest.approx(values[1], rel=1e-4)
    assert values[0] != pytest.approx(values[2], rel=1e-4)  # other graphs


@pytest.mark.slow
def test_only_phi_and_the_decoder_learn(
    predictor: GralePredictor, coloring_graphs: list[Graph]
) -> None:
    predictor.train()
    assert predictor.reader.training
    assert not predictor.autoencoder.encoder.training
    predictor.losses(*_batch(coloring_graphs))["loss"].backward()
    learns = {name.split(".")[0] for name, w in predictor.named_parameters() if w.grad is not None}
    assert learns == {"reader", "narrow", "autoencoder"}
    for name, weight in predictor.autoencoder.named_parameters():
        assert (weight.grad is None) or name.startswith("decoder."), name


@pytest.mark.slow
def test_a_turned_image_has_the_same_target(predictor: GralePredictor) -> None:
    rows = torch.from_numpy(random_rows(IMAGE, 2))
    pixels = rows.unflatten(1, (32, 32, 3))
    turned = pixels.rot90(1, (1, 2)).flatten(1)
    with torch.no_grad():
        told = predictor.latents_of(rows, torch.tensor([1, 1]))
        shown = predictor.latents_of(turned)
    torch.testing.assert_close(told, shown)
    assert not torch.allclose(told, predictor.latents_of(rows), atol=1e-3)


def test_predicted_tokens_lie_where_those_of_the_autoencoder_lie(tiny_config) -> None:
    on_sphere = replace(tiny_config, latent=LatentConfig(on_sphere=True))
    rows = torch.from_numpy(random_rows(IMAGE, 2))
    lengths = _predictor(on_sphere).tokens_of(rows).norm(dim=-1)
    assert lengths.detach().numpy() == pytest.approx(tiny_config.token_dim**0.5, rel=1e-4)
    assert _predictor(tiny_config).tokens_of(rows).norm(dim=-1).std() > 1e-3


@pytest.mark.slow
def test_candidates_are_distinct_and_the_likeliest_comes_first(predictor: GralePredictor) -> None:
    rows = random_rows(IMAGE, 2)
    likeliest = predictor.predict(rows)
    for first, listed in zip(likeliest, predictor.predict_candidates(rows, 3)):
        assert len(listed) == 3
        assert listed[0] == first
        assert len({(len(g.edges), g.num_nodes, g.node_labels.tobytes()) for g in listed}) == 3


@pytest.mark.parametrize(
    ("keywords", "reason"),
    [
        ({"candidates": 0}, "candidates must be at least 1, got 0"),
        ({"tries": 0}, "tries must be at least 1, got 0"),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"candidates": 1_001}, "candidates must be at most 1000, got 1001"),
    ],
)
def test_numbers_of_candidates_out_of_range_are_refused_by_the_users_name(
    predictor: GralePredictor, keywords: dict[str, int], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        predictor.predict_candidates([], **keywords)


@pytest.mark.slow
def test_bad_inputs_raise_are_null_or_are_skipped(predictor: GralePredictor) -> None:
    good = random_rows(IMAGE, 1).reshape(32, 32, 3)
    items = [good, good[:16], None, "CCO"]
    reasons = predictor.why_not(items)
    assert reasons[0] is None
    assert "shape (16, 32, 3)" in reasons[1]
    assert "no entry" in reasons[2]
    assert "is a molecule, but this model takes an RGB image" in reasons[3]
    with pytest.raises(ValueError, match="item 1: the input has the shape"):
        predictor.predict(items)
    found = predictor.predict(items, on_error="null")
    assert [graph is None for graph in found] == [False, True, True, True]
    assert predictor.predict(items, on_error="skip") == found[:1]
