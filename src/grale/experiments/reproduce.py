"""One command per figure or table of the paper: `grale reproduce NAME`.

Departures: figures are made with the shipped models unless another is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from grale.experiments import (
    figure_denoising,
    figure_embedding_size,
    figure_failures,
    figure_interpolation,
    figure_map,
    figure_scaling,
    figure_size_edit,
    table_ablation,
    table_complexity,
    table_ged,
    table_matching,
    table_reconstruction,
    table_tuning,
)
from grale.experiments.picture import Picture, PictureConfig, Progress
from grale.experiments.request import Request
from grale.experiments.table import Table, write_json
from grale.model.autoencoder import GRALE
from grale.plot.files import write_whole

Make = Callable[[GRALE, PictureConfig, Progress], Sequence[Picture | Table]]


class Experiment(NamedTuple):
    """A figure or table and how much to make it from."""

    make: Make
    counts: dict[str, int]
    """Graphs at each scale."""
    passes: int = 1
    """How often each graph is counted by the progress bar."""


EXPERIMENTS: dict[str, Experiment] = {
    "figure-interpolation": Experiment(
        figure_interpolation.make, {"smoke": 20, "cpu": 10_000, "paper": 300_000}
    ),
    "figure-size-edit": Experiment(
        figure_size_edit.make, {"smoke": 100, "cpu": 4_000, "paper": 100_000}
    ),
    "figure-denoising": Experiment(
        figure_denoising.make,
        {"smoke": 20, "cpu": 2_000, "paper": 10_000},
        passes=len(figure_denoising.LEVELS),
    ),
    "figure-failures": Experiment(
        figure_failures.make, {"smoke": 100, "cpu": 10_000, "paper": 10_000}
    ),
    "figure-map": Experiment(figure_map.make, {"smoke": 30, "cpu": 4_000, "paper": 10_000}),
    "table-matching": Experiment(table_matching.make, {"smoke": 2, "cpu": 200, "paper": 1_000}),
}


TRAININGS: dict[str, Callable[[Request], Sequence[Picture | Table]]] = {
    "table-reconstruction": table_reconstruction.make,
    "table-ablation": table_ablation.make,
    "table-tuning": table_tuning.make,
    "table-complexity": table_complexity.make,
    "table-ged": table_ged.make,
    "figure-embedding-size": figure_embedding_size.make,
    "figure-training-size": figure_scaling.make_training_size,
    "figure-total-dimension": figure_scaling.make_total_dimension,
}
"""Experiments that train the models they compare."""


def write_results(name: str, results: Sequence[Picture | Table], folder: Path) -> list[Path]:
    """Write all files, tables of other names also together in NAME.md and NAME.json.

    Return the first file of each result.
    """
    firsts = [result.write(folder)[0] for result in results]
    tables = [result for result in results if isinstance(result, Table)]
    if tables and [table.name for table in tables] != [name]:
        text = "\n".join(table.markdown() for table in tables)
        write_whole(folder / f"{name}.md", text.encode())
        write_json(folder / f"{name}.json", {table.name: table.as_data() for table in tables})
    return firsts


def find_experiment(name: str) -> Experiment:
    """Look up a figure or table; an unknown name is an error that lists the known ones."""
    if name not in EXPERIMENTS:
        known = ", ".join([*EXPERIMENTS, *TRAININGS])
        raise ValueError(f"nothing called {name!r} to reproduce; known: {known}")
    return EXPERIMENTS[name]
