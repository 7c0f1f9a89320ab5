"""Time of a training step of the three autoencoders over N (paper: table "Training complexity").

    grale reproduce table-complexity

All graphs are similar to molecules and have N nodes. Models alternate, so that a busy machine
affects all equally. The exponent is fitted to the larger half of the sizes, where the growing part
dominates.

Departures: seconds per step on this machine, next to the paper's hours of whole trainings. GraphVAE
matches along edges (O(E N^2)); the paper's table says O(N^4).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np
import torch

from grale.catalog import ARCHITECTURES
from grale.experiments.bench import graphs_like, of_size, seconds_of, training_step
from grale.experiments.recipes import at_scale
from grale.experiments.request import Request
from grale.experiments.table import Table
from grale.graphs.batch import GraphBatch
from grale.settings.build import build
from grale.training.config import Architecture, TrainConfig

SIZES = {"smoke": (4, 6, 8), "cpu": (8, 12, 16, 24, 32, 48), "paper": (8, 16, 32, 64, 128)}
BATCH = 16
ROUNDS = {"smoke": 1, "cpu": 5, "paper": 5}
PAPER = {
    "grale": ("O(N^3)", "8, 20, 100"),
    "pigvae": ("O(N^3)", "8, 18, 95"),
    "graphvae": ("O(N^4)", "40, 80, N.A."),
}
"""Complexity as printed; hours on COLORING, PUBCHEM 16 (one GPU) and PUBCHEM 32 (two)."""


def make(request: Request) -> list[Table]:
    """Time steps of every architecture at every size."""
    sizes, rounds = SIZES[request.scale], ROUNDS[request.scale]
    config = build(TrainConfig, at_scale("pool16", request.scale))
    seconds: dict[str, list[float]] = {name: [] for name in PAPER}
    for size in sizes:
        request.on_model(f"{size} nodes")
        for name, best in _steps(config, size, rounds).items():
            seconds[name].append(best)
    exponents = {name: growth(sizes, times) for name, times in seconds.items()}
    header = ["model", *(f"N = {size}" for size in sizes), "exponent", "paper", "paper, hours"]
    rows = [
        [name, *(f"{1000 * best:.0f} ms" for best in times), f"{exponents[name]:.1f}", *PAPER[name]]
        for name, times in seconds.items()
    ]
    caption = (
        f"Best time of {rounds} training steps on {BATCH} graphs of N nodes, with the settings of "
        "POOL 16 at cpu scale; exponent of the growth over the larger half of the sizes. The "
        "paper's hours are for COLORING 20 and PUBCHEM 16 on one GPU, PUBCHEM 32 on two."
    )
    values = {"sizes": list(sizes), "seconds": seconds, "exponents": exponents}
    return [Table("table-complexity", "Training step over N", header, rows, caption, values)]


def growth(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """Slope of log time over log size, on the larger half of the sizes.

    >>> round(growth((1, 2, 4, 8), [1.0, 1.0, 16.0, 128.0]), 3)
    3.0
    """
    half = len(sizes) // 2
    return float(np.polyfit(np.log(sizes[half:]), np.log(seconds[half:]), 1)[0])


def _steps(config: TrainConfig, size: int, rounds: int) -> dict[str, float]:
    """Best time of a step of each architecture on graphs of one size."""
    setting = of_size(size)
    graphs = GraphBatch.from_graphs(graphs_like(setting, BATCH))
    steps = {}
    for name in PAPER:
        torch.manual_seed(0)
        chosen = replace(config, architecture=cast(Architecture, name))
        steps[name] = training_step(ARCHITECTURES[name](setting.space, chosen.architecture_config))
        steps[name](graphs)  # warms up
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(rounds):
        for name, step in steps.items():
            best[name] = min(best[name], seconds_of(partial(step, graphs)))
    return best
