"""Raising or lowering a property, within a limit of similarity to the start.

A predictor is trained on a few hundred graphs that suit the model, when a property is first asked
for, and kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import isfinite
from threading import RLock
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.data.samples import sample_graphs
from grale.graphs.graph import Graph
from grale.graphs.molecules.fingerprints import ecfp
from grale.graphs.molecules.molecule import is_molecular
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE
from grale.tasks.edit import EditStep, edit
from grale.tasks.latent_predictor import LearnedProperty, ThroughDescription, fit_predictor
from grale.web.limits import Limits
from grale.web.names import property_in, smiles_in
from grale.web.refusals import Refused
from grale.web.rows import OK, Record, as_body, failed, taken

NUM_GRAPHS = 600  # that predictors learn from, and that the page shows neighbours in
KEPT_PREDICTORS = 8
TRIES = 20
BATCH = 32
EditOptions = tuple[str, Literal["raise", "lower"], float, int, float]
"""Property, direction, least similarity, steps, and length of a step."""


class Examples(NamedTuple):
    """Graphs and their vectors."""

    graphs: list[Graph]
    latents: NDArray[np.float32]
    descriptions: NDArray[np.float32]


class Background:
    """Graphs that suit a model, with their vectors, and what was learned from them."""

    def __init__(self, model: GRALE, count: int = NUM_GRAPHS) -> None:
        self.model, self.count = model, count
        self.lock = RLock()
        self._learned = lru_cache(maxsize=KEPT_PREDICTORS)(self._learn)

    @property
    def examples(self) -> Examples:
        """Graphs of the library, or of the generator that suits the model, and their vectors."""
        with self.lock:  # made once, whoever asks
            return self._examples

    @cached_property
    def _examples(self) -> Examples:
        try:
            graphs = sample_graphs(self.model.space, self.count, None, "train")
        except ValueError:
            raise Refused(422, "no graphs are known that suit this model") from None
        latents = self.model.encode(graphs, batch_size=BATCH)
        return Examples(graphs, latents, self.model.describe(latents, batch_size=BATCH))

    def learned(self, name: str) -> LearnedProperty:
        """A predictor of the property of that name."""
        with self.lock:
            return self._learned(name.lower())

    def _learn(self, name: str) -> LearnedProperty:
        true = property_in(name, self.model.space)
        graphs, latents, descriptions = self.examples
        values = np.array([true(graph) for graph in graphs])
        fitted = fit_predictor(descriptions, values)
        predictor = ThroughDescription(self.model, fitted.predictor)
        return LearnedProperty(predictor, fitted.r2, values, np.cov(latents.T))


def edit_rows(
    background: Background, limits: Limits, items: Sequence[Any], options: EditOptions
) -> list[Record]:
    """Distinct graphs on the way, from the start to the last that is similar enough."""
    wanted, direction, least, num_steps, epsilon = options
    model = background.model
    records: list[Record] = []
    for item in taken(items, model, limits):
        if isinstance(item, str):
            records.append(failed(item) | dict.fromkeys(("points", "left_out", "r2")))
            continue
        learned = background.learned(wanted)
        path = edit(
            model,
            item,
            learned.predictor,
            1 if direction == "raise" else -1,
            metric=learned.covariance,
            epsilon=epsilon,
            num_steps=num_steps,
            true_property=property_in(wanted, model.space),
            tries=TRIES,
        )
        points = [_point(item, step, model) for step in _distinct(path.steps)]
        kept = [point for point in points if _is_kept(point, least, model)]
        left_out = len(points) - len(kept)
        records.append(OK | {"points": kept, "left_out": left_out, "r2": learned.r2})
    return records


def similarity(first: Graph, second: Graph, model: GRALE) -> float:
    """From 0 to 1: Tanimoto of ECFP4 counts, or the share of nodes and edges that stay."""
    if is_molecular(model.space):
        if any(smiles_in(graph, model.space) is None for graph in (first, second)):
            return 0.0
        one, other = ecfp(first.to_mol()), ecfp(second.to_mol())
        return float(np.minimum(one, other).sum() / max(np.maximum(one, other).sum(), 1))
    total = sum(graph.num_nodes + graph.num_edges for graph in (first, second))
    return max(0.0, 1 - model.match(first, second).edit_distance / total)


def _distinct(steps: Sequence[EditStep]) -> list[EditStep]:
    """The first step of each graph; a path may come back to one."""
    found: list[EditStep] = []
    for step in steps:
        if not any(is_isomorphic(step.graph, other.graph) for other in found):
            found.append(step)
    return found


def _point(start: Graph, step: EditStep, model: GRALE) -> Record:
    return {
        "step": step.step,
        "smiles": smiles_in(step.graph, model.space),
        "graph": as_body(step.graph),
        "predicted": step.predicted if isfinite(step.predicted) else None,
        "value": step.true if isfinite(step.true) else None,
        "similarity": similarity(start, step.graph, model),
    }


def _is_kept(point: Record, least: float, model: GRALE) -> bool:
    is_valid = point["smiles"] is not None or not is_molecular(model.space)
    return is_valid and (point["step"] == 0 or point["similarity"] >= least)
