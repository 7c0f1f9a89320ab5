"""A small model memorises 64 graphs: everything from features to plan works together."""

from __future__ import annotations

import pytest
import torch

from grale.data.coloring import COLORING_VARIANTS, generate_coloring
from grale.graphs.batch import GraphBatch
from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from grale.model.config import LossConfig, MatcherConfig, ModelConfig
from grale.training.config import OptimizerConfig
from grale.training.evaluation import evaluate
from grale.training.optimizer import Optimizers
from grale.training.schedule import rate_share

STEPS = 1_200


@pytest.mark.slow
def test_a_small_model_memorises_64_graphs() -> None:
    graphs = generate_coloring(64, COLORING_VARIANTS["coloring10"], seed=0)
    config = ModelConfig(
        num_layers=2,
        node_dim=64,
        edge_dim=32,
        outer_dim=16,
        norm="pre",
        matcher=MatcherConfig(affinity="sphere", temperature=0.1, num_sweeps=30, grad_sweeps=3),
        loss=LossConfig(node_feature=0.05, marginal=1.0, normalise_by="size"),
    )
    recipe = OptimizerConfig(
        kind="muon",
        learning_rate=2e-3,
        muon_learning_rate=8e-3,
        warmup_steps=20,
        schedule="trapezoid",
    )
    torch.manual_seed(0)
    model = GRALE(GraphSpace(max_nodes=10, num_node_labels=4), config)
    before = evaluate(model, graphs)
    optimizers = Optimizers(model, recipe)
    batch, generator = GraphBatch.from_graphs(graphs), torch.Generator().manual_seed(0)
    for step in range(STEPS):
        noise = model.featurizer.draw_noise(len(graphs), generator)
        model(batch, noise).terms.total(config.loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizers.step(rate_share(step, step / STEPS, recipe))
    after = evaluate(model, graphs)
    assert before.accuracy < 0.1
    assert after.accuracy == 1.0
    assert after.edit_distance == 0.0
