"""A tiny model learns graphs by heart: every part of the training works together."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.graphs.batch import GraphBatch
from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from grale.model.config import LossConfig, MatcherConfig, ModelConfig
from grale.training.config import OptimizerConfig
from grale.training.evaluation import evaluate
from grale.training.optimizer import Optimizers
from grale.training.schedule import rate_share

MODEL = ModelConfig(
    num_layers=2,
    node_dim=64,
    edge_dim=32,
    outer_dim=16,
    norm="pre",
    matcher=MatcherConfig(affinity="sphere", temperature=0.1, num_sweeps=30, grad_sweeps=3),
    loss=LossConfig(node_feature=0.05, marginal=10.0, normalise_by="size"),
)
OPTIMIZER = OptimizerConfig(
    kind="muon",
    learning_rate=2e-3,
    muon_learning_rate=8e-3,
    warmup_steps=20,
    schedule="trapezoid",
    decay_share=0.5,
)
MOST_STEPS, LOOK_EVERY = 240, 20


@pytest.mark.slow
@pytest.mark.parametrize(("encoder", "count"), [("evoformer", 6), ("gin", 4)])
def test_a_tiny_model_learns_graphs_by_heart(encoder: str, count: int) -> None:
    graphs = generate_coloring(count, COLORING_VARIANTS["coloring10"], seed=0)
    torch.manual_seed(0)
    model = GRALE(GraphSpace(max_nodes=10, num_node_labels=4), replace(MODEL, encoder=encoder))
    assert evaluate(model, graphs).accuracy < 0.05  # nothing is known yet
    optimizers = Optimizers(model, OPTIMIZER)
    batch, generator = GraphBatch.from_graphs(graphs), torch.Generator().manual_seed(0)
    for step in range(MOST_STEPS):
        result = model(batch, model.featurizer.draw_noise(len(batch), generator))
        result.terms.total(MODEL.loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizers.step(rate_share(step, step / MOST_STEPS, OPTIMIZER))
        if step % LOOK_EVERY == LOOK_EVERY - 1 and evaluate(model, graphs).accuracy == 1.0:
            break
    report = evaluate(model, graphs)
    assert report.accuracy == 1.0
    assert report.edit_distance == 0
