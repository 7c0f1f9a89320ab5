"""What every rival that predicts graphs must do: memorise a few pairs, and come back from disk."""

from __future__ import annotations

from pathlib import Path

import torch

from grale.catalog import load_predictor
from grale.codec.graph_predictor import GraphPredictor
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.metrics.isomorphism import is_isomorphic

TEMPLATES = ("edges", "nodes", "sizes")  # of FGWBary
FEW = [
    Graph([0, 1], [(0, 1)]),
    Graph([2, 3, 0], [(0, 1), (1, 2)]),
    Graph([1, 1, 2], [(0, 1), (1, 2), (0, 2)]),
]


def check_it_memorises(
    model: GraphPredictor, rows: torch.Tensor, steps: int, count: int = 3
) -> None:
    """Overfit a few graphs; before that, at most one of them may be right by chance."""
    graphs, rows = GraphBatch.from_graphs(FEW[:count]), rows[:count]
    sizes = [graph.num_nodes for graph in FEW[:count]] if model.needs_size else None
    assert num_right(model, rows, sizes) <= 1
    templates = [weight for name, weight in model.named_parameters() if name in TEMPLATES]
    others = [weight for name, weight in model.named_parameters() if name not in TEMPLATES]
    adam = torch.optim.Adam([{"params": others, "lr": 3e-3}, {"params": templates, "lr": 2e-2}])
    generator = torch.Generator().manual_seed(0)
    model.train()
    for _ in range(steps):
        noise = model.draw_noise(count, generator)
        noise[:, 0] = 0  # always the same images
        loss = model.losses(graphs, rows, noise)["loss"]
        adam.zero_grad()
        loss.backward()
        adam.step()
    assert num_right(model, rows, sizes) == count


def num_right(model: GraphPredictor, rows: torch.Tensor, sizes: list[int] | None) -> int:
    found = model.predict(rows.numpy(), sizes=sizes)
    return sum(is_isomorphic(graph, again) for graph, again in zip(FEW, found))


def check_it_saves(model: GraphPredictor, rows: torch.Tensor, folder: Path) -> None:
    """Save and load; the card names the input."""
    model.eval()
    model.save_pretrained(folder)
    again = load_predictor(folder)
    assert type(again) is type(model)
    assert again.fingerprint == model.fingerprint
    assert "RGB image of 32 x 32" in (folder / "README.md").read_text()
    sizes = [3] * len(rows)
    assert again.predict(rows.numpy(), sizes=sizes) == model.predict(rows.numpy(), sizes=sizes)
