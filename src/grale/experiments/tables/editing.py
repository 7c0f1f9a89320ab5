"""Molecules improved under a limit on similarity: the prior, gradients, and random neighbours.

    grale reproduce table-editing --model molecules --data data/pool32

Two tasks on test molecules: QED from 0.7-0.8 to at least 0.9, and penalised logP of the lowest;
both at Tanimoto similarity of at least 0.4 (Morgan, radius 2), with 20 proposals per molecule.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np

from grale.codec.decode import decode
from grale.codec.options import CodecOptions
from grale.codec.refine import ENOUGH_STEPS
from grale.data.samples import sample_graphs
from grale.experiments.picture import PictureConfig, Progress
from grale.experiments.table import Table
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.metrics.generation import why_invalid
from grale.model.autoencoder import GRALE
from grale.tasks.edit import Predictor, latent_path
from grale.tasks.latent_predictor import learn_property
from grale.tasks.properties import Property, named_property
from grale.tasks.propose import ProposeConfig, propose
from grale.tasks.similarity import morgan_bits, similarity_to

PASSES = 2  # over the molecules: one per task
PROPOSALS, LEAST_SIMILARITY = 20, 0.4
POOL_EACH = 40  # test molecules looked through for each that is edited
LEARNED_ON, LEAST_LEARNED = 4_000, 100  # training molecules of the predictors
EPSILON, STEPS = 0.02, 60  # of gradient steps; every third gives a proposal
NEIGHBOUR_SHARES = (0.1, 0.2, 0.3, 0.4)  # of the norm: lengths of random moves


class Task(NamedTuple):
    """What is improved, of which molecules, and what counts as a success."""

    name: str
    start: tuple[float, float] | None
    """Range of the property of the molecules to edit; None for the lowest."""
    goal: float | None
    """Least property of a success; None for any improvement."""
    condition: str = ""
    """What the prior is asked for, if it knows it: the property, or the largest part of it."""


TASKS = (Task("QED", (0.7, 0.8), 0.9, "QED"), Task("penalised logP", None, None, "logP"))


class Draw(NamedTuple):
    """What a method proposes for one molecule: as many graphs as were drawn, valid or not."""

    graphs: Sequence[Graph]


Method = Callable[[Graph, int], Draw]
"""From a molecule and its number to proposals."""


@dataclass
class Row:
    """Results of one method over the molecules of a task."""

    successes: list[bool] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    diversities: list[float] = field(default_factory=list)
    valid: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def make(model: GRALE, config: PictureConfig, progress: Progress = None) -> list[Table]:
    """Edit the same molecules by every method."""
    if not is_molecular(model.space):
        raise ValueError("table-editing needs a model of molecules")
    assert model.prior  # says so if there is none
    held_out = sample_graphs(model.space, POOL_EACH * config.count, config.data, "test")
    enough = max(LEAST_LEARNED, min(LEARNED_ON, POOL_EACH * config.count))
    train = sample_graphs(model.space, enough, config.data, "train")
    return [_table(task, model, held_out, train, config, progress) for task in TASKS]


def _table(
    task: Task,
    model: GRALE,
    held_out: Sequence[Graph],
    train: Sequence[Graph],
    config: PictureConfig,
    progress: Progress,
) -> Table:
    true = named_property(task.name)
    chosen = chosen_molecules(task, held_out, true, config.count)
    methods = _methods(model, train, true, task.condition)
    rows = {name: Row() for name in methods}
    for number, graph in enumerate(chosen):
        for name, method in methods.items():
            begin = time.perf_counter()
            drawn = method(graph, number)
            rows[name].seconds.append(time.perf_counter() - begin)
            _score(rows[name], task, graph, drawn, true, model)
        if progress is not None:
            progress(1)
    header = ["method", "successes", "mean gain", "diversity", "valid", "s per molecule"]
    cells = [
        [
            name, f"{np.mean(row.successes):.1%}", f"{np.mean(row.gains):.3f}",
            f"{np.nanmean([np.nan, *row.diversities]) if row.diversities else float('nan'):.3f}",
            f"{np.mean(row.valid):.1%}", f"{np.mean(row.seconds):.2f}",
        ]
        for name, row in rows.items()
    ]  # fmt: skip
    goal = "any gain" if task.goal is None else f"at least {task.goal:g}"
    which = "the lowest" if task.start is None else f"from {task.start[0]:g} to {task.start[1]:g}"
    caption = (
        f"{len(chosen)} test molecules ({task.name} {which}, of {len(held_out):,}); {PROPOSALS} "
        f"proposals each. Success: {goal} at similarity >= {LEAST_SIMILARITY:g}. Gain: of the best "
        "such proposal, 0 if there is none. Diversity: 1 - mean similarity of the successes of a "
        "molecule. Random neighbours are the control."
    )
    values = {name: vars(row) for name, row in rows.items()}
    title = f"Raising {task.name}"
    name = f"table-editing-{task.name.lower().replace(' ', '-')}"
    return Table(name, title, header, cells, caption, values)


def chosen_molecules(
    task: Task, graphs: Sequence[Graph], true: Property, count: int
) -> list[Graph]:
    """Molecules to edit: those in the range, or the lowest; at least one."""
    values = np.array([true(graph) for graph in graphs])
    if task.start is None:
        order = np.argsort(np.where(np.isnan(values), np.inf, values), kind="stable")
        return [graphs[row] for row in order[:count].tolist()]
    low, high = task.start
    rows = np.flatnonzero((values >= low) & (values <= high))[:count]
    if not len(rows):
        raise ValueError(f"no test molecule has {task.name} from {low:g} to {high:g}; give more")
    return [graphs[row] for row in rows.tolist()]


def _methods(model: GRALE, train: Sequence[Graph], true: Property, name: str) -> dict[str, Method]:
    through = learn_property(model, train, true, reads="description").predictor
    plain = learn_property(model, train, true, reads="latent").predictor
    return {
        "prior": lambda graph, number: _by_prior(model, graph, true, through, name, number),
        "gradient on the latent (paper)": lambda graph, number: _by_gradient(model, graph, plain),
        "gradient through the description": lambda graph, number: _by_gradient(
            model, graph, through
        ),
        "random neighbours": lambda graph, number: _by_chance(model, graph, number),
    }


def _by_prior(
    model: GRALE, graph: Graph, true: Property, predictor: Predictor, name: str, number: int
) -> Draw:
    config = ProposeConfig(count=PROPOSALS, seed=number)
    return Draw(propose(model, graph, true, predictor, 1, config, name).drawn_graphs)


def _by_gradient(model: GRALE, graph: Graph, predictor: Predictor) -> Draw:
    start = model.encode([graph], refine=ENOUGH_STEPS)[0]
    path = latent_path(predictor, start, EPSILON, STEPS)
    return Draw(decode(model, path[STEPS // PROPOSALS :: STEPS // PROPOSALS], CodecOptions()))


def _by_chance(model: GRALE, graph: Graph, number: int) -> Draw:
    start = model.encode([graph], refine=ENOUGH_STEPS)[0]
    rng = np.random.default_rng(number)
    moves = rng.standard_normal((PROPOSALS, len(start)))
    lengths = np.resize(NEIGHBOUR_SHARES, PROPOSALS) * np.linalg.norm(start)
    moves *= (lengths / np.linalg.norm(moves, axis=1))[:, None]
    return Draw(decode(model, (start + moves).astype(np.float32), CodecOptions()))


def _score(row: Row, task: Task, start: Graph, drawn: Draw, true: Property, model: GRALE) -> None:
    """Add what a method proposed for one molecule."""
    good = [graph for graph in drawn.graphs if why_invalid(graph, model.space) is None]
    row.valid.append(len(good) / len(drawn.graphs))
    similarity = similarity_to(start, model.space)
    distinct = {graph.to_smiles(): graph for graph in good}
    distinct.pop(start.to_smiles(), None)
    near = [graph for graph in distinct.values() if similarity(graph) >= LEAST_SIMILARITY]
    before = true(start)
    gains = [true(graph) - before for graph in near]
    row.gains.append(max([0.0, *gains]))
    least = 0.0 if task.goal is None else task.goal - before
    better = [graph for graph, gain in zip(near, gains) if gain >= least and gain > 0]
    row.successes.append(bool(better))
    if len(better) > 1:
        row.diversities.append(_diversity(better))


def _diversity(graphs: Sequence[Graph]) -> float:
    from rdkit.DataStructs import TanimotoSimilarity

    pairs = combinations(morgan_bits(graphs), 2)
    return float(1 - np.mean([TanimotoSimilarity(*pair) for pair in pairs]))
