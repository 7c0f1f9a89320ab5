"""Scores of predictors for the table of graph prediction, kept beside the models."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from grale.codec.graph_predictor import GraphPredictor
from grale.data.packed import PackedGraphs
from grale.data.pairs import open_pairs
from grale.files import write_whole
from grale.rivals.fgwbary.config import FgwbaryConfig
from grale.rivals.fgwbary.kernel import KernelBarycentre
from grale.training.prediction_scores import compare, score_predictions


class PredictionScore(NamedTuple):
    """How well one predictor does; None where it cannot answer."""

    exact_at_size: float
    """Share exact with the true size told, edges by their presence (the paper's metric)."""
    edit_distance_at_size: float
    exact: float | None
    """The same, sizes predicted."""
    edit_distance: float | None
    size_right: float | None
    exact_with_labels: float | None
    """Sizes predicted and labels of edges counted."""
    graphs_per_second: float
    steps: int
    minutes: float
    parameters: int


def score_predictor(
    model: GraphPredictor, pairs: PackedGraphs, length: dict[str, Any]
) -> PredictionScore:
    """Predict twice: with the sizes told, and without."""
    told = score_predictions(model, pairs, at_size=True, edge_labels=False).report()
    begin = time.perf_counter()
    free = score_predictions(model, pairs, edge_labels=model.predicts_edge_labels)
    seconds = time.perf_counter() - begin
    plain = compare([*free.graphs], [*free.predictions], edge_labels=False).report()
    with_labels = free.report().accuracy if model.predicts_edge_labels else None
    return PredictionScore(
        told.accuracy,
        told.edit_distance,
        plain.accuracy,
        plain.edit_distance,
        plain.size_accuracy,
        with_labels,
        len(pairs) / max(seconds, 1e-9),
        length["steps"],
        length["minutes"],
        sum(weight.numel() for weight in model.parameters()),
    )


def kernel_score(train: PackedGraphs, test: PackedGraphs, folder: Path) -> PredictionScore:
    """Fit FGWBary without templates and score it; it must be given the size."""
    manifest = open_pairs(folder / "train")
    assert manifest.inputs is not None
    assert train.inputs is not None
    assert test.inputs is not None
    begin = time.perf_counter()
    model = KernelBarycentre(
        manifest.inputs, manifest.space, FgwbaryConfig(), train.inputs, train.graphs()
    )
    fitted = time.perf_counter()
    targets = test.graphs()
    found = model.predict(test.inputs, [graph.num_nodes for graph in targets])
    seconds = time.perf_counter() - fitted
    report = compare(targets, found, edge_labels=False).report()
    minutes = (fitted - begin) / 60
    return PredictionScore(
        report.accuracy, report.edit_distance, None, None, None, None,
        len(test) / max(seconds, 1e-9), 0, minutes, 0,
    )  # fmt: skip


def saved_score(
    folder: Path, count: int, compute: Callable[[], PredictionScore]
) -> PredictionScore:
    """Score of a folder; computed and written if it is not there yet."""
    file = folder / f"scores-{count}.json"
    if not file.is_file():
        score = compute()
        write_whole(file, json.dumps(score._asdict(), indent=2) + "\n")
    return PredictionScore(**json.loads(file.read_text(encoding="utf-8")))
