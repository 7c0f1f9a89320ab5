"""What more data and a longer latent bring (paper: figures of "Training Complexity" and related).

    grale reproduce figure-training-size --data POOL9_FOLDER --labelled FOLDER_OF_QM9
    grale reproduce figure-total-dimension --data POOL9_FOLDER --labelled FOLDER_OF_QM9

Left: reconstruction of graphs of the training set and of unseen ones. Right: error of an MLP that
predicts the internal energy of QM9 from the embedding, in standard deviations.

Departures: without --data, COLORING 10 and no right side; the same minutes for every model. At
`cpu`, the amounts are for molecules of up to 9 atoms (`grale prepare pool --max-atoms 9`), as in
QM9: larger ones cannot be reconstructed yet after these minutes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from grale.catalog import load_any
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.data.molecules.sets import read_set
from grale.data.sources import open_source
from grale.experiments.contest import (
    Contender,
    Contest,
    compete,
    folder_of,
    latent_shape,
    settings_of,
)
from grale.experiments.picture import Picture
from grale.experiments.request import Request
from grale.files import write_whole
from grale.plot.curves import CURVE_COLOURS
from grale.tasks.latent_predictor import fit_predictor
from grale.training.evaluation import evaluate

CPU_SHARE = 0.6  # of the usual minutes
AMOUNTS = {
    "smoke": (16, 64),
    "cpu": (1_000, 10_000, 90_000),
    "paper": (10_000, 100_000, 1_000_000, 10_000_000),
}
SHAPES = {
    "smoke": ((2, 4), (2, 8)),
    "cpu": ((2, 8), (4, 16), (8, 32), (16, 64)),
    "paper": ((2, 8), (4, 16), (8, 32), (16, 64), (32, 128)),
}
QM9_ROWS = {"smoke": 60, "cpu": 20_000, "paper": 200_000}


def make_training_size(request: Request) -> list[Picture]:
    """One model per size of the training set."""
    key = "num_graphs" if len(request.datasets()) == 1 else "max_graphs"
    amounts = AMOUNTS[request.scale]
    contenders = [Contender(f"{n} graphs", [f"data.{key}={n}"]) for n in amounts]
    return _make(request, "figure-training-size", "training graphs", amounts, contenders)


def make_total_dimension(request: Request) -> list[Picture]:
    """One model per length of the latent."""
    shapes = SHAPES[request.scale]
    contenders = [latent_shape(k, d) for k, d in shapes]
    lengths = [k * d for k, d in shapes]
    return _make(request, "figure-total-dimension", "length K x D", lengths, contenders)


def _make(
    request: Request, name: str, xlabel: str, places: Sequence[int], contenders: list[Contender]
) -> list[Picture]:
    data = request.datasets()[-1]
    contest = request.contest(name, data, CPU_SHARE)
    scores = compete(contest, contenders)
    unseen = [float(np.mean([s.exact for s in scores[c.name]])) for c in contenders]
    seen = [_on_training_graphs(contest, contender) for contender in contenders]
    errors = None
    if request.labelled is not None and data == "molecules":
        rows = QM9_ROWS[request.scale]
        errors = [_energy_error(contest, c, request.labelled, rows) for c in contenders]
    caption = (
        f"Left: share of graphs of {request.data_name(data)} reconstructed exactly, over the "
        f"{xlabel}; {request.budget(CPU_SHARE)}. "
    )
    if errors is not None:
        caption += "Right: error of the internal energy of QM9, predicted from the embedding."
    lines = [f"{xlabel}: {list(places)}", f"training: {seen}", f"unseen: {unseen}"]
    details = "\n".join([*lines, f"QM9 error: {errors}"])
    figure = scaling_figure(places, {"training": seen, "unseen": unseen}, errors, xlabel)
    return [Picture(name, f"Over the {xlabel}", figure, caption, details)]


def _on_training_graphs(contest: Contest, contender: Contender) -> float:
    """Share of training graphs reconstructed exactly, seed 0; kept in a file."""
    folder = folder_of(contest, contender, 0)

    def compute(model: GraphAutoencoder) -> float:
        pool = open_source(settings_of(contest, contender, 0).data).pool(0)
        graphs = [pool.graph(row) for row in range(min(contest.count, len(pool)))]
        return evaluate(model, graphs).accuracy

    return _kept(folder, "on-training-graphs.json", compute)


def _energy_error(contest: Contest, contender: Contender, labelled: Path, rows: int) -> float:
    """Error on QM9 of a predictor that sees the embedding, seed 0; kept in a file."""

    def compute(model: GraphAutoencoder) -> float:
        found = read_set("qm9", labelled)
        assert found.targets is not None
        drawn = np.random.default_rng(0).permutation(len(found.smiles))[:rows]  # sorted by size
        latents = model.encode([found.smiles[row] or "" for row in drawn], on_error="null")
        return fit_predictor(latents, found.targets[drawn]).mae

    return _kept(folder_of(contest, contender, 0), f"qm9-{rows}.json", compute)


def _kept(folder: Path, name: str, compute: Callable[[GraphAutoencoder], float]) -> float:
    """Number from a file in the run's folder; computed with its model if it is not there."""
    file = folder / name
    if not file.is_file():
        write_whole(file, json.dumps(compute(load_any(folder))).encode())
    return float(json.loads(file.read_text()))


def scaling_figure(
    places: Sequence[int],
    shares: dict[str, list[float]],
    errors: list[float] | None,
    xlabel: str,
) -> Figure:
    """Accuracy, and the error on QM9 if there is one, over a logarithmic axis."""
    panels = 1 if errors is None else 2
    figure = Figure(figsize=(4.2 * panels, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    left, *others = np.atleast_1d(figure.subplots(1, panels))
    for colour, (name, values) in zip(CURVE_COLOURS, shares.items()):
        left.plot(places, 100 * np.array(values), "o-", color=colour, label=name, markersize=4)
    left.set_ylabel("exactly reconstructed, %")
    left.legend(frameon=False, fontsize=9)
    for axes in others:
        axes.plot(places, errors, "o-", color=CURVE_COLOURS[2], markersize=4)
        axes.set_ylabel("error on QM9, deviations")
    for axes in (left, *others):
        axes.set_xscale("log")
        axes.set_xticks(places, [f"{place:,}" for place in places])
        axes.minorticks_off()
        axes.set_xlabel(xlabel)
        axes.set_ylim(bottom=0)
        axes.grid(color="0.9", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    return figure
