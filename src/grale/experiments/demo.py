"""The guided tour behind `grale demo`: reconstruct and interpolate, as one page of pictures.

Departures: a small model trained for minutes, to show the whole way, not the paper's numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grale.data.sources import DataConfig
from grale.graphs.graph import Graph
from grale.metrics.isomorphism import is_isomorphic
from grale.metrics.local_search import ReconstructionReport
from grale.model import inference
from grale.model.autoencoder import GRALE
from grale.model.config import LossConfig, MatcherConfig, ModelConfig
from grale.plot.figures import (
    curve_figure,
    interpolation_figure,
    reconstruction_figure,
    save_figure,
)
from grale.plot.page import Section, write_page
from grale.tasks.interpolate import interpolate
from grale.training.config import OptimizerConfig, TrainConfig
from grale.training.loop import StepReport

SHOWN = 6  # graphs in the picture of reconstructions
STEPS = 7  # graphs in the strip between two

CONFIG = TrainConfig(
    data=DataConfig(source="coloring10", num_graphs=None),
    model=ModelConfig(
        num_layers=3,
        node_dim=64,
        edge_dim=32,
        outer_dim=16,
        norm="pre",
        matcher=MatcherConfig(affinity="sphere", temperature=0.1, num_sweeps=50, grad_sweeps=5),
        loss=LossConfig(node_feature=0.05, marginal=1.0, normalise_by="size"),
    ),
    optimizer=OptimizerConfig(
        kind="muon",
        learning_rate=2e-3,
        muon_learning_rate=6e-3,
        clip_norm=1.0,
        warmup_steps=50,
        schedule="trapezoid",
        ema_decay=0.98,
    ),
    batch_size=64,
    max_steps=100_000,
    log_every=10,
    validate_every=100_000,
)


@dataclass(frozen=True)
class Tour:
    """What the tour has to show."""

    model: GRALE
    scores: ReconstructionReport
    curve: Sequence[StepReport]


def write_tour(tour: Tour, graphs: Sequence[Graph], folder: Path) -> Path:
    """Draw reconstructions, an interpolation and the learning curve; return the page's path.

    Parameters
    ----------
    tour
        A trained model and how it came to be.
    graphs
        Held-out graphs to show; the first few are reconstructed.
    folder
        Where `index.html` and one PNG per picture go.
    """
    shown = list(graphs[:SHOWN])
    result = inference.reconstruct(tour.model, shown, SHOWN)
    exact = [is_isomorphic(a, b) for a, b in zip(shown, result.graphs)]
    captions = ["exact" if same else "differs" for same in exact]
    path = interpolate(tour.model, graphs[0], graphs[1], STEPS)
    figures = {
        "reconstructions": reconstruction_figure(
            shown, result.graphs, result.mappings, captions, exact
        ),
        "interpolation": interpolation_figure(
            path.graphs, path.mappings, [f"t = {t:.2f}" for t in path.positions]
        ),
        "learning": curve_figure(
            [report.step for report in tour.curve],
            {"loss": [report.values["loss"] for report in tour.curve]},
            "step",
            "training loss",
        ),
    }
    for name, figure in figures.items():
        save_figure(figure, folder / f"{name}.png")
    sections = [
        Section("Scores", _scores_text(tour), table=_score_rows(tour.scores)),
        Section(
            "Graphs and their reconstructions",
            "Each graph above was turned into one vector and back into the graph below it. "
            "Nodes that the matcher pairs stand at the same place.",
            figure=figures["reconstructions"],
            alt="Input graphs above, reconstructed graphs below",
        ),
        Section(
            "Between two graphs",
            "Points on the straight line between two vectors, each decoded into a graph.",
            figure=figures["interpolation"],
            alt="A strip of graphs from the first to the second",
        ),
        Section("Learning", "The loss of each logged step.", figure=figures["learning"]),
    ]
    return write_page(folder / "index.html", "grale: a graph in, a vector, a graph out", sections)


def _scores_text(tour: Tour) -> str:
    weights = sum(weight.numel() for weight in tour.model.parameters())
    return (
        f"A model of {weights:,} weights, trained just now for {tour.curve[-1].step} steps on "
        f"random COLORING graphs of 5 to 10 nodes, and tried on {tour.scores.count} graphs it has "
        f"never seen. Each graph became {tour.model.latent_dim} numbers."
    )


def _score_rows(scores: ReconstructionReport) -> list[list[str]]:
    return [
        ["measure", "value"],
        ["exactly reconstructed", f"{scores.accuracy:.1%}"],
        ["mean edit distance (upper bound)", f"{scores.edit_distance:.2f}"],
        ["right number of nodes", f"{scores.size_accuracy:.1%}"],
    ]
