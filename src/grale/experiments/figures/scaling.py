"""What more data and a longer latent bring (paper: figures of "Training Complexity" and related).

    grale reproduce figure-training-size --data POOL9_FOLDER --labelled FOLDER_OF_QM9
    grale reproduce figure-total-dimension --data POOL9_FOLDER --labelled FOLDER_OF_QM9

Left: reconstruction of graphs of the training set and of unseen ones. Right: error of an MLP that
predicts the internal energy of QM9 from the latent and from the description, in standard
deviations.

Departures: without --data, COLORING 10 and no right side; the same minutes for every model. At
`cpu`, the amounts are for molecules of up to 9 atoms (`grale prepare pool --max-atoms 9`), as in
QM9: larger ones cannot be reconstructed yet after these minutes. Beside the paper's pooling stands
pooling by transport (decisions/012); its latent has a token per node, so lengths are rounded down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

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
    transport_pooling,
)
from grale.experiments.kept import kept
from grale.experiments.picture import Picture
from grale.experiments.request import Request
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
PAPER, TRANSPORT = "attention", "transport"
STYLES = ("o-", "o:")
QM9_ROWS = {"smoke": 60, "cpu": 20_000, "paper": 200_000}


Reading = Literal["latent", "description"]
READINGS: tuple[Reading, ...] = ("latent", "description")


class Series(NamedTuple):
    """Models of one pooling, one for each place on the axis."""

    name: str
    places: Sequence[int]
    contenders: Sequence[Contender]


class Curves(NamedTuple):
    """What the models of one series reach."""

    places: Sequence[int]
    training: list[float]
    unseen: list[float]
    errors: dict[str, list[float]]
    """On QM9, by reading; empty if it was not asked for."""


def make_training_size(request: Request) -> list[Picture]:
    """One model of each pooling per size of the training set."""
    key = "num_graphs" if len(request.datasets()) == 1 else "max_graphs"
    amounts = AMOUNTS[request.scale]
    contest = _contest(request, "figure-training-size")
    pooled = transport_pooling(contest)
    usual = [Contender(f"{n} graphs", [f"data.{key}={n}"]) for n in amounts]
    by_transport = [
        Contender(f"{n} graphs, by transport", [*pooled.changes, f"data.{key}={n}"])
        for n in amounts
    ]
    series = [Series(PAPER, amounts, usual), Series(TRANSPORT, amounts, by_transport)]
    return _make(request, contest, "training graphs", series)


def make_total_dimension(request: Request) -> list[Picture]:
    """One model of each pooling per length of the latent."""
    contest = _contest(request, "figure-total-dimension")
    usual = [latent_shape(k, d) for k, d in SHAPES[request.scale]]
    lengths = [k * d for k, d in SHAPES[request.scale]]
    pooled = transport_pooling(contest)
    slots = settings_of(contest, pooled, 0).model.num_tokens
    widths = [max(1, length // slots) for length in lengths]
    by_transport = [
        Contender(f"{pooled.name}, D={width}", [*pooled.changes, f"model.token_dim={width}"])
        for width in widths
    ]
    rounded = [slots * width for width in widths]
    series = [Series(PAPER, lengths, usual), Series(TRANSPORT, rounded, by_transport)]
    return _make(request, contest, "length K x D", series)


def _contest(request: Request, name: str) -> Contest:
    return request.contest(name, request.datasets()[-1], CPU_SHARE)


def _make(
    request: Request, contest: Contest, xlabel: str, series: Sequence[Series]
) -> list[Picture]:
    data = request.datasets()[-1]
    labelled = request.labelled if data == "molecules" else None
    curves = {each.name: _measured(request, contest, each, labelled) for each in series}
    caption = (
        f"Left: share of graphs of {request.data_name(data)} reconstructed exactly, over the "
        f"{xlabel}; {request.budget(CPU_SHARE)}. "
    )
    if labelled is not None:
        caption += "Right: error of the internal energy of QM9, predicted from each reading."
    details = "\n".join(
        f"{name}: {part} {values}"
        for name, found in curves.items()
        for part, values in found._asdict().items()
    )
    name = contest.folder.parent.name
    return [Picture(name, f"Over the {xlabel}", scaling_figure(curves, xlabel), caption, details)]


def _measured(request: Request, contest: Contest, series: Series, labelled: Path | None) -> Curves:
    """Train the models of one series if they are not there, and score them."""
    scores = compete(contest, series.contenders)
    unseen = [float(np.mean([s.exact for s in scores[c.name]])) for c in series.contenders]
    seen = [_on_training_graphs(contest, contender) for contender in series.contenders]
    errors: dict[str, list[float]] = {}
    if labelled is not None:
        rows = QM9_ROWS[request.scale]
        for reading in READINGS:
            errors[reading] = [
                _energy_error(contest, contender, labelled, rows, reading)
                for contender in series.contenders
            ]
    return Curves(series.places, seen, unseen, errors)


def _on_training_graphs(contest: Contest, contender: Contender) -> float:
    """Share of training graphs reconstructed exactly, seed 0; kept in a file."""
    folder = folder_of(contest, contender, 0)

    def compute(model: GraphAutoencoder) -> float:
        pool = open_source(settings_of(contest, contender, 0).data).pool(0)
        graphs = [pool.graph(row) for row in range(min(contest.count, len(pool)))]
        return evaluate(model, graphs).accuracy

    return _kept(folder, "on-training-graphs.json", compute)


def _energy_error(
    contest: Contest, contender: Contender, labelled: Path, rows: int, reading: Reading
) -> float:
    """Error on QM9 of a predictor that sees one reading, seed 0; kept in a file."""

    def compute(model: GraphAutoencoder) -> float:
        found = read_set("qm9", labelled)
        assert found.targets is not None
        drawn = np.random.default_rng(0).permutation(len(found.smiles))[:rows]  # sorted by size
        vectors = model.encode([found.smiles[row] or "" for row in drawn], on_error="null")
        if reading == "description":
            vectors = model.describe(vectors, on_error="null")
        return fit_predictor(vectors, found.targets[drawn]).mae

    return _kept(folder_of(contest, contender, 0), f"qm9-{reading}-{rows}.json", compute)


def _kept(folder: Path, name: str, compute: Callable[[GraphAutoencoder], float]) -> float:
    """Number from a file in the run's folder; computed with its model if it is not there."""
    return float(kept(folder / name, lambda: compute(load_any(folder))))


def scaling_figure(curves: dict[str, Curves], xlabel: str) -> Figure:
    """Accuracy, and the error on QM9 if there is one, over a logarithmic axis."""
    first = next(iter(curves.values()))
    panels = 2 if first.errors else 1
    figure = Figure(figsize=(4.6 * panels, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, *others = np.atleast_1d(figure.subplots(1, panels))
    for colour, (name, found) in zip(CURVE_COLOURS, curves.items()):
        pairs = {"unseen": found.unseen, "training": found.training}
        for style, (part, values) in zip(STYLES, pairs.items()):
            shares = 100 * np.array(values)
            left.plot(found.places, shares, style, color=colour, label=f"{name}, {part}")
        for axes in others:
            for style, (reading, errors) in zip(STYLES, found.errors.items()):
                axes.plot(found.places, errors, style, color=colour, label=f"{name}, {reading}")
            axes.set_ylabel("error on QM9, deviations")
    left.set_ylabel("exactly reconstructed, %")
    for axes in (left, *others):
        axes.set_xscale("log")
        axes.set_xticks(first.places, [f"{place:,}" for place in first.places])
        axes.minorticks_off()
        axes.set_xlabel(xlabel)
        axes.set_ylim(bottom=0)
        axes.grid(color="0.9", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    return figure
