"""Changing a property of a graph by steps in the latent (paper: "Complex graph operations").

    u = M grad p(z),     z' = z + direction * epsilon * |z_0| * u / |u|,     G' = f(z')

p is a predictor on embeddings, trained so that p(g(G)) is near the property of G.

Departures: the paper's step is epsilon * grad p (M = 1), whose length depends on the units of the
property; ours has the length epsilon |z_0|, where z_0 is the start. If M is the covariance of the
embeddings, steps prefer directions in which graphs differ, which the decoder knows.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isnan
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from grale.codec.encode import encode
from grale.codec.options import CodecOptions
from grale.codec.refine import ENOUGH_STEPS
from grale.graphs.graph import Graph
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE
from grale.tasks.interpolate import decode_valid
from grale.tasks.properties import Property

Predictor = Callable[[Tensor], Tensor]
"""From embeddings (B, K x D) to one number each, (B,) or (B, 1); differentiable."""


class EditStep(NamedTuple):
    """One graph of the path, different from the one before it."""

    step: int
    """Gradient steps taken when it appeared."""
    graph: Graph
    predicted: float
    """Prediction for the embedding."""
    true: float
    """The property of the graph itself; NaN if it has none, or no function was given."""


class EditPath(NamedTuple):
    """Decoded graphs without repeats, starting with the reconstruction of the given one."""

    steps: list[EditStep]

    def records(self, direction: int = 1) -> list[EditStep]:
        """The first step, and those whose true property exceeds all before them.

        If the true property is known for none of them, as of a measured one, predictions count.
        """
        if all(isnan(step.true) for step in self.steps):
            best = [-direction * inf]
            for step in self.steps:
                best.append(max(best[-1], step.predicted, key=lambda value: direction * value))
            return [s for s, before, now in zip(self.steps, best, best[1:]) if now != before]
        kept: list[EditStep] = []
        for step in self.steps:
            is_first_known = kept and isnan(kept[-1].true) and not isnan(step.true)
            if not kept or is_first_known or direction * (step.true - kept[-1].true) > 0:
                kept.append(step)
        return kept


def edit(
    model: GRALE,
    graph: Any,
    predictor: Predictor,
    direction: int = 1,
    *,
    metric: NDArray[np.floating] | None = None,
    epsilon: float = 0.01,
    num_steps: int = 100,
    true_property: Property | None = None,
    tries: int = 1,
    refine: int = ENOUGH_STEPS,
) -> EditPath:
    """Follow the gradient of a predictor and decode every step; repeats are left out.

    Parameters
    ----------
    model, graph
        What to edit; anything `model.encode` takes.
    predictor
        The property as a function of the embedding; see `fit_predictor`.
    direction
        1 to raise the property, -1 to lower it.
    metric
        M above, such as ``np.cov(latents.T)`` of many embeddings; the identity by default.
    epsilon
        Length of a step, relative to the length of the embedding.
    num_steps
        Gradient steps.
    true_property
        Computed for every decoded graph, to compare with the prediction.
    tries
        Above 1, molecules on the path are valid if possible, as in `decode_valid`.
    refine
        As in `model.encode`: the path starts at the graph itself, unless it is 0.
    """
    if direction not in (1, -1):
        raise ValueError(f"direction must be 1 (raise) or -1 (lower), got {direction}")
    if epsilon <= 0 or num_steps < 1:
        raise ValueError(f"epsilon and num_steps must be above 0, got {epsilon} and {num_steps}")
    options = CodecOptions(molecule_tries=tries, refine_steps=refine)
    (start,) = encode(model, [graph], options, "raise")
    path = latent_path(predictor, start, direction * epsilon, num_steps, metric)
    with torch.no_grad():
        predicted = predictor(torch.from_numpy(path)).reshape(-1).tolist()
    steps: list[EditStep] = []
    for number, decoded in enumerate(decode_valid(model, path, options)):
        if steps and is_isomorphic(steps[-1].graph, decoded):
            continue
        true = float("nan") if true_property is None else true_property(decoded)
        steps.append(EditStep(number, decoded, predicted[number], true))
    return EditPath(steps)


def latent_path(
    predictor: Predictor,
    start: NDArray[np.float32],
    epsilon: float,
    num_steps: int,
    metric: NDArray[np.floating] | None = None,
) -> NDArray[np.float32]:
    """Embeddings after 0, 1, ... gradient steps of length |epsilon| |start|."""
    latent = torch.from_numpy(start).float()[None]
    length = epsilon * float(latent.norm())
    path = [latent]
    stretch = None if metric is None else torch.from_numpy(np.asarray(metric, np.float32))
    for _ in range(num_steps):
        leaf = path[-1].detach().requires_grad_()
        with torch.enable_grad():
            (gradient,) = torch.autograd.grad(predictor(leaf).sum(), leaf)
        if stretch is not None:
            gradient = gradient @ stretch
        norm = gradient.norm()
        if not bool(norm.isfinite()) or float(norm) == 0:
            raise ArithmeticError(
                f"the predictor's gradient is {float(norm)} after {len(path) - 1} steps; "
                "it must be finite and not zero"
            )
        path.append((leaf + length * gradient / norm).detach())
    result: NDArray[np.float32] = torch.cat(path).numpy()
    return result
