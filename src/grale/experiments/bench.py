"""Speed and memory, compared with the authors' code (paper: table of computational cost).

Time is counted in yardsticks: one yardstick is one 1024 x 1024 x 1024 float32 matrix product in
the same run, on the same threads. Steps and yardsticks alternate, and the best of several counts,
so that a busy machine affects both equally. The step ends with Adam, as the authors' does.

Departures: molecules are replaced by random graphs of the same sizes and label counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Literal

import numpy as np
import torch

from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.intake import by_size
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from grale.model.config import ModelConfig
from grale.settings.build import build
from grale.settings.files import merged, override, read_settings
from grale.training.config import OptimizerConfig, TrainConfig
from grale.training.fit import RECIPE, graphs_per_step
from grale.training.optimizer import Optimizers

What = Literal["train", "encode"]

MOLECULES = GraphSpace(max_nodes=32, num_node_labels=32, num_edge_labels=4)


@dataclass(frozen=True)
class Setting:
    """A model to measure: a column of the paper's table of hyperparameters, or a shipped one."""

    name: str
    space: GraphSpace
    settings: tuple[str, ...]
    """Files of settings, each on top of the one before."""
    batch_size: int
    mean_size: float
    size_deviation: float
    authors_train: float | None = None
    """Yardsticks per graph of the authors' implementation, recorded on two cores."""
    authors_encode: float | None = None
    changes: tuple[str, ...] = ("model.description.properties=0",)
    """Overrides; random graphs have no properties to learn."""

    @property
    def config(self) -> ModelConfig:
        """Settings of the model."""
        values = reduce(merged, map(read_settings, self.settings))
        return build(TrainConfig, override(values, self.changes)).model


SETTINGS = (
    Setting(
        "COLORING 20", GraphSpace(max_nodes=20, num_node_labels=4), ("coloring20", "fast"),
        64, 12.5, 4.33, 6.4, 0.71,
    ),
    Setting(
        "PUBCHEM 16", replace(MOLECULES, max_nodes=16), ("pubchem16", "fast"),
        128, 13.82, 2.17, 5.4, 0.50,
    ),
    Setting("PUBCHEM 32", MOLECULES, ("pubchem32", "fast"), 32, 22.62, 5.79, 31.0, 4.5),
    Setting(
        "coloring, as shipped", GraphSpace(max_nodes=20, num_node_labels=4),
        ("coloring20-transport",), 64, 12.5, 4.33,
    ),
    Setting("molecules, as shipped", MOLECULES, ("pool32",), 48, 21.5, 5.5),
)  # fmt: skip
PUBCHEM32 = SETTINGS[2]


@dataclass(frozen=True)
class Speed:
    """Best time per graph over several rounds."""

    seconds: float
    yardstick: float
    """Seconds of one yardstick in the same run."""

    @property
    def yardsticks(self) -> float:
        """Yardsticks per graph."""
        return self.seconds / self.yardstick

    @property
    def graphs_per_second(self) -> float:
        """Graphs per second at the best of the rounds."""
        return 1 / self.seconds


def graphs_like(setting: Setting, count: int) -> list[Graph]:
    """COLORING graphs, or random molecule-like ones: a tree, a few rings, random labels."""
    if setting.space.num_edge_labels == 1:
        return generate_coloring(count, COLORING_VARIANTS["coloring20"], seed=0)
    rng = np.random.default_rng(0)
    return [_molecule_like(setting, rng) for _ in range(count)]


def _molecule_like(setting: Setting, rng: np.random.Generator) -> Graph:
    drawn = rng.normal(setting.mean_size, setting.size_deviation)
    size = int(np.clip(round(drawn), 2, setting.space.max_nodes))
    edges = {(int(rng.integers(max(0, node - 3), node)), node) for node in range(1, size)}
    for _ in range(size // 8):
        a, b = sorted(rng.choice(size, 2, replace=False).tolist())
        edges.add((a, b))
    labels = rng.integers(1, setting.space.num_edge_labels + 1, len(edges))
    return Graph(rng.integers(0, setting.space.num_node_labels, size), sorted(edges), labels)


def measure(
    setting: Setting, what: What, rounds: int = 3, batches: int = 8, recompute: bool = False
) -> Speed:
    """Time a training step (forward, loss, backward, update) or the encoder, per graph."""
    torch.manual_seed(0)
    model = GRALE(setting.space, setting.config)
    model.recompute_activations(recompute)
    graphs = graphs_like(setting, batches * setting.batch_size)
    work = [batch for _, batch in by_size(graphs, setting.batch_size)]
    run = _encoder(model) if what == "encode" else training_step(model)
    for batch in (work[0], work[-1], work[-1]):
        run(batch)
    square = torch.randn(1024, 1024)
    best = [float("inf")] * len(work)
    yardstick = float("inf")
    for _ in range(rounds):
        for place, batch in enumerate(work):
            best[place] = min(best[place], seconds_of(partial(run, batch)))
            yardstick = min(yardstick, seconds_of(lambda: square @ square))
    return Speed(sum(best) / len(graphs), yardstick)


def training_step(model: GraphAutoencoder) -> Callable[[GraphBatch], None]:
    """Forward, loss, backward and update, as a function of a batch."""
    optimizers = Optimizers(model, OptimizerConfig(kind="adam"))
    generator = torch.Generator().manual_seed(0)

    def step(graphs: GraphBatch) -> None:
        noise = model.draw_noise(len(graphs), generator)
        model.losses(graphs, noise)["loss"].backward()
        optimizers.step(0.1)

    return step


def _encoder(model: GRALE) -> Callable[[GraphBatch], None]:
    model.eval()

    def encode(graphs: GraphBatch) -> None:
        with torch.no_grad():
            model.embed(graphs)

    return encode


def seconds_of(run: Callable[[], object]) -> float:
    """Wall time of one call."""
    begin = time.perf_counter()
    run()
    return time.perf_counter() - begin


def of_size(num_nodes: int) -> Setting:
    """PUBCHEM 32 with graphs of exactly `num_nodes` nodes."""
    setting = PUBCHEM32
    space = replace(setting.space, max_nodes=num_nodes)
    return replace(setting, space=space, mean_size=float(num_nodes), size_deviation=0.0)


def own_of_size(num_nodes: int) -> Setting:
    """The recipe of `grale fit` with graphs of exactly `num_nodes` nodes, and its batch."""
    space = GraphSpace(max_nodes=num_nodes, num_node_labels=8, num_edge_labels=2)
    batch_size = graphs_per_step(space, rows=1_000_000)
    changes = (f"model.num_tokens={num_nodes}",)
    return Setting("own", space, (RECIPE,), batch_size, float(num_nodes), 0.0, changes=changes)


def step_at(num_nodes: int, recompute: bool, own: bool = False) -> float:
    """Seconds of one gradient step on graphs of `num_nodes`.

    One graph at PUBCHEM 32 widths, or, with `own`, a batch of `grale fit`.
    """
    setting = own_of_size(num_nodes) if own else of_size(num_nodes)
    torch.manual_seed(0)
    model = GRALE(setting.space, setting.config)
    model.recompute_activations(recompute)
    batch = GraphBatch.from_graphs(graphs_like(setting, setting.batch_size if own else 1))
    step = training_step(model)
    step(batch)
    return min(seconds_of(lambda: step(batch)) for _ in range(3))
