"""A graph made larger by steps in the latent (paper: figure "Latent space edition of the size").

Departures: epsilon is relative to the embedding's length (`grale.tasks.edit`).
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from grale.data.samples import sample_graphs
from grale.experiments.picture import Picture, PictureConfig, Progress
from grale.graphs.molecules.molecule import is_molecular
from grale.model.autoencoder import GRALE
from grale.plot.figures import interpolation_figure
from grale.plot.look import look_of
from grale.tasks.edit import EditPath, edit
from grale.tasks.interpolate import follow
from grale.tasks.latent_predictor import learn_property
from grale.tasks.properties import named_property

FRAMES = 7
EPSILON, STEPS = 0.01, 80
TRIES = 20  # likeliest graphs to search for a valid molecule


def make(model: GRALE, config: PictureConfig, progress: Progress = None) -> list[Picture]:
    """Raise the size of one of the smaller graphs, along the gradient as in the paper."""
    return [property_picture("size", model, config, progress)]


def property_picture(
    name: str,
    model: GRALE,
    config: PictureConfig,
    progress: Progress = None,
    *,
    uses_covariance: bool = False,
) -> Picture:
    """Train a predictor of a property on the graphs, and raise the property of one of them."""
    graphs = sample_graphs(model.space, config.count, config.data, "train")
    true = named_property(name)
    learned = learn_property(model, graphs, true, config.seed)
    if progress is not None:
        progress(len(graphs))
    low = np.flatnonzero(learned.values <= np.nanquantile(learned.values, 0.2))
    start = graphs[low[config.seed % len(low)]]
    path = edit(
        model,
        start,
        learned.predictor,
        metric=learned.covariance if uses_covariance else None,
        epsilon=EPSILON,
        num_steps=STEPS,
        true_property=true,
        tries=TRIES,
    )
    figure = edit_figure(model, path, name, FRAMES)
    caption = (
        f"Steps of {EPSILON:g} of the embedding's length along the gradient of a predictor of "
        f"{name} (one hidden layer, trained on {len(graphs):,} graphs, R2 {learned.r2:.3f} on "
        f"held-out ones). Of {STEPS} steps, {len(path.steps) - 1} gave a graph different from the "
        "one before; those at which the property reached a new best value are shown."
    )
    details = "\n".join(
        f"step {step.step}: {name} {step.true:.3g}, predicted {step.predicted:.3g}"
        for step in path.steps
    )
    title = f"Raising {name}"
    command = f"grale reproduce figure-{name.lower()}-edit"
    if is_molecular(model.space):
        plain = "" if uses_covariance else " --plain"
        command = f"grale edit '{start.to_smiles()}' -p {name}{plain} -o edit.svg"
    return Picture(f"{name.lower()}-edit", title, figure, caption, details, command=command)


def edit_figure(model: GRALE, path: EditPath, name: str, most: int, direction: int = 1) -> Figure:
    """Strip of at most `most` graphs at which the property reached a new best value."""
    records = path.records(direction)
    places = np.linspace(0, len(records) - 1, min(most, len(records))).round().astype(int)
    shown = [records[place] for place in places]
    frames = [step.graph for step in shown]
    captions = [
        f"step {step.step}: {name} {step.true:.3g},\npredicted {step.predicted:.3g}"
        for step in shown
    ]
    return interpolation_figure(frames, follow(model, frames), captions, look_of(model.space))
