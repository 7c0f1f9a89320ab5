"""Predicted graphs beside the true ones: images, targets, predictions, failures first.

grale reproduce figure-prediction --model PREDICTOR --data PAIRS
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from grale.codec.graph_predictor import GraphPredictor
from grale.data.pairs import first_pairs, open_pairs
from grale.experiments.picture import Picture, PictureConfig, Progress
from grale.matching.local_search import edit_distance_bound
from grale.metrics.isomorphism import is_isomorphic
from grale.plot.figures import reconstruction_figure
from grale.plot.look import look_of, palette_of
from grale.plot.predictions import prediction_figure
from grale.training.prediction_scores import score_predictions

SHOWN = 4  # right ones, and as many wrong ones


def make(model: GraphPredictor, config: PictureConfig, progress: Progress = None) -> list[Picture]:
    """Draw the first right and the first wrong predictions of a test split."""
    if config.data is None:
        raise ValueError("figure-prediction needs --data: the dataset of pairs of the model")
    folder = Path(config.data) / "test"
    if open_pairs(folder).inputs != model.inputs:
        raise ValueError(f"{folder} holds other inputs than {model.inputs.called()}")
    pairs = first_pairs(folder, config.count)
    found = score_predictions(model, pairs, progress=progress)
    right = [row for row, cost in enumerate(found.distances) if cost == 0][:SHOWN]
    wrong = [row for row, cost in enumerate(found.distances) if cost > 0][:SHOWN]
    figure = _figure(model, pairs, found, [*right, *wrong])
    caption = (
        f"Held-out inputs, their graphs, and what {model.architecture} predicts from the input: "
        f"the first {len(right)} that are right and the first {len(wrong)} that are not, of "
        f"{len(pairs):,}. Edges that the other graph lacks are red. "
        f"{100 * found.exact().value:.1f} % are exact."
    )
    return [Picture("prediction", "Graphs predicted from inputs", figure, caption)]


def _figure(model: GraphPredictor, pairs: Any, found: Any, rows: list[int]) -> Any:
    targets = [found.graphs[row] for row in rows]
    predictions = [found.predictions[row] for row in rows]
    mappings = [edit_distance_bound(*pair).mapping for pair in zip(targets, predictions)]
    captions = [f"{found.distances[row]} edits" if found.distances[row] else "" for row in rows]
    exact = [bool(is_isomorphic(*pair)) for pair in zip(targets, predictions)]
    if not model.inputs.is_image:
        look = look_of(model.space)
        return reconstruction_figure(targets, predictions, mappings, captions, exact, look)
    shape = model.inputs.shape
    images = [np.asarray(pairs.inputs[row]).reshape(shape) for row in rows]
    palette = palette_of(model.space)
    return prediction_figure(images, targets, predictions, mappings, captions, exact, palette)
