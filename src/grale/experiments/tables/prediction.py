"""Graphs from images and from fingerprints (paper: "Graph prediction").

    grale reproduce table-prediction --scale cpu --data PAIRS_FOLDER

PAIRS_FOLDER may hold datasets of pairs under the names of TASKS; images are drawn if they are not
there, fingerprints have to be prepared (docs/prediction.md). GRALE's two stages share the minutes
that each rival gets; pre-training comes before, as in the paper.

Departures: POOL 13 stands in for GDB13. Rivals are trained here, with the same reader, rather than
copied. The paper's metric is told the true size; the other columns are not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from grale.catalog import load
from grale.data.latents import LATENTS
from grale.data.pairs import NOTES, first_pairs, prepare_images
from grale.data.storage import MANIFEST
from grale.experiments.contest import LENGTH, plain_name, trained
from grale.experiments.prediction_scores import (
    PredictionScore,
    kernel_score,
    saved_score,
    score_predictor,
)
from grale.experiments.recipes import at_scale
from grale.experiments.request import Request
from grale.experiments.table import Table
from grale.settings.build import build
from grale.settings.files import override
from grale.tasks.pair_latents import cache_pair_latents
from grale.training.config import TrainConfig

IMAGES = {"smoke": 64, "cpu": 100_000, "paper": 100_000}
AT_PAPER = (
    "reader.dim=256", "reader.num_layers=4", "reader.channels=[64, 128]",
    "batch_size=128", "max_steps=100000",
)  # fmt: skip
SLOW = {"smoke": 2, "cpu": 300, "paper": 1_000}
"""Test inputs of FGWBary, which takes a tenth of a second for each."""
KERNEL_ROWS = {"smoke": 16, "cpu": 2_000, "paper": 5_000}
"""Training pairs of FGWBary without templates."""


class Task(NamedTuple):
    """One column of the paper's table."""

    name: str
    title: str
    autoencoders: tuple[str, ...]
    """Shipped models whose latents are predicted."""
    paper: dict[str, tuple[float, float]]
    """Edit distance and accuracy in percent, as published; empty if it is another dataset."""
    share: float = 1.0
    """Of the usual number of images."""


FINE_TUNED, STAGE_1 = "GRALE + fine-tuning", "GRALE"
TASKS = (
    Task("coloring10", "COLORING 10, images", ("coloring-10", "coloring"), {
        "FGWBary": (6.73, 1.00), "Relationformer": (5.47, 18.14), "Any2Graph": (0.19, 84.44),
        STAGE_1: (0.39, 89.66), FINE_TUNED: (0.27, 90.04),
    }),
    Task("coloring15", "COLORING 15, images", ("coloring",), {
        "Relationformer": (2.64, 21.99), "Any2Graph": (1.22, 43.77),
        STAGE_1: (0.67, 86.02), FINE_TUNED: (0.45, 88.87),
    }, share=2.0),
    Task("qm9", "QM9, fingerprints", ("molecules@1",), {
        "FGWBary": (2.84, 28.95), "Relationformer": (3.80, 9.95), "Any2Graph": (2.61, 29.85),
        STAGE_1: (3.62, 30.77), FINE_TUNED: (2.13, 35.27),
    }),
    Task("gdb13", "GDB13, fingerprints", ("molecules@1",), {
        "Relationformer": (7.45, 0.05), "Any2Graph": (3.63, 16.25),
        STAGE_1: (4.43, 32.02), FINE_TUNED: (2.25, 53.22),
    }),
    Task("pool13", "POOL 13, fingerprints (instead of GDB13)", ("molecules@1",), {}),
)  # fmt: skip
RIVALS = {"Any2Graph": "any2graph", "Relationformer": "relationformer", "FGWBary": "fgwbary"}


@dataclass(frozen=True)
class Stage:
    """A task with its data and folder."""

    task: Task
    request: Request
    pairs: Path
    folder: Path

    @property
    def count(self) -> int:
        """Test inputs to score on."""
        return self.request.count or {"smoke": 2, "cpu": 2_000, "paper": 5_000}[self.request.scale]


def make(request: Request) -> list[Table]:
    """Train what is missing, and score everything; one table per task whose data is there."""
    return [_table(stage) for stage in stages(request)]


def stages(request: Request) -> list[Stage]:
    """Tasks whose pairs are there, or can be drawn."""
    found = []
    given = None if request.data is None else Path(request.data)
    for task in TASKS:
        folder = request.folder / "runs" / "table-prediction" / task.name
        pairs = folder / "pairs" if given is None else given / task.name
        is_there = (pairs / "train" / MANIFEST).is_file()
        if not is_there and task.name.startswith("coloring"):
            pairs = folder / "pairs"
            _draw_images(request, task, pairs)
        elif not is_there:
            request.on_model(f"{task.title}: no pairs at {pairs}; left out")
            continue
        found.append(Stage(task, request, pairs, folder))
    return found


def _draw_images(request: Request, task: Task, out: Path) -> None:
    if (out / "train" / MANIFEST).is_file():  # written last
        return
    request.on_model(f"drawing {task.title}")
    prepare_images(task.name, out, round(task.share * IMAGES[request.scale]))


def _table(stage: Stage) -> Table:
    task = stage.task
    scores: dict[str, list[PredictionScore]] = {}
    for name, score in _rows(stage):
        scores.setdefault(name, []).append(score)
    header = ["model", "edit distance*", "exact*, %", "edit distance", "exact, %", "size right, %"]
    header += ["exact with bonds, %", "graphs/s, scored", "steps", "minutes", "paper*"]
    rows = [_cells(name, found, task) for name, found in scores.items()]
    caption = (
        f"Up to {stage.count:,} test inputs of {task.title}; {stage.request.budget()}, GRALE's two "
        "stages together, pre-training aside. Stars: the true number of nodes is told and edges "
        "are compared by their presence, as in the paper. The other columns count sizes; bonds "
        f"count where it says so. {_overlap(stage.pairs)}"
    )
    values = {name: [score._asdict() for score in found] for name, found in scores.items()}
    title = f"Graph prediction, {task.title}"
    return Table(f"table-prediction-{task.name}", title, header, rows, caption, values)


def _overlap(pairs: Path) -> str:
    """What is known of test molecules that pre-training has seen."""
    if not (pairs / NOTES).is_file():
        return "Images are drawn; pre-training saw graphs of the same kind, from another seed."
    found = json.loads((pairs / NOTES).read_text(encoding="utf-8"))
    return f"{found['overlapping']:,} held-out molecules that pre-training saw are left out."


def _rows(stage: Stage) -> list[tuple[str, PredictionScore]]:
    """Scores of all models with every seed."""
    found = []
    for seed in range(stage.request.num_seeds):
        for autoencoder in stage.task.autoencoders:
            found += _grale_rows(stage, autoencoder, seed)
        for name, architecture in RIVALS.items():
            count = SLOW[stage.request.scale] if architecture == "fgwbary" else stage.count
            changes = [f"data.path={stage.pairs}"]
            row = _trained(stage, f"predict-{architecture}", changes, name, seed, count)
            found.append((f"{name}{' (templates)' if architecture == 'fgwbary' else ''}", row))
    scale = stage.request.scale
    stage.request.on_model("FGWBary without templates")
    folder = stage.folder / "fgwbary-kernel"
    pairs = first_pairs(stage.pairs / "train", KERNEL_ROWS[scale])
    test = first_pairs(stage.pairs / "test", min(stage.count, SLOW[scale]))
    score = saved_score(folder, len(test), lambda: kernel_score(pairs, test, stage.pairs))
    return [*found, ("FGWBary (kernel)", score)]


def _grale_rows(stage: Stage, autoencoder: str, seed: int) -> list[tuple[str, PredictionScore]]:
    """Stage 1, and stage 2 from there; each has half of the minutes."""
    called = Path(autoencoder).name
    latents = stage.folder / f"latents-{called}"
    if not (latents / LATENTS).is_file():  # written last
        stage.request.on_model(f"latents of {called}")
        cache_pair_latents(load(autoencoder), autoencoder, stage.pairs, latents)
    path = [f"data.path={latents}"]
    first, second = f"{STAGE_1} ({called})", f"{FINE_TUNED} ({called})"
    one = _trained(stage, "predict", path, first, seed, stage.count, 0.5)
    start = [*path, f"start_from={_folder(stage, first, seed)}"]
    two = _trained(stage, "predict-tune", start, second, seed, stage.count, 0.5)
    whole = two._replace(steps=one.steps + two.steps, minutes=one.minutes + two.minutes)
    return [(first, one), (second, whole)]


def _trained(
    stage: Stage,
    recipe: str,
    changes: list[str],
    name: str,
    seed: int,
    count: int,
    share: float = 1.0,
) -> PredictionScore:
    """Train a predictor if it is not there, and score it."""
    request, folder = stage.request, _folder(stage, name, seed)
    request.on_model(f"{stage.task.title}: {name}, seed {seed}")
    at_paper = AT_PAPER if request.scale == "paper" else ()
    values = override(at_scale(recipe, request.scale), [*at_paper, *changes, f"seed={seed}"])
    config = build(TrainConfig, values)
    model: Any = trained(config, folder, _minutes(request, share), request.watch)
    length = json.loads((folder / LENGTH).read_text())

    def score() -> PredictionScore:
        pairs = first_pairs(Path(str(config.data.path)) / "test", count)
        return score_predictor(model, pairs, length)

    return saved_score(folder, count, score)


def _minutes(request: Request, share: float) -> float | None:
    minutes = request.minutes_each()
    return None if minutes is None else share * minutes


def _folder(stage: Stage, name: str, seed: int) -> Path:
    return stage.folder / f"{plain_name(name)}-seed{seed}"


def _cells(name: str, found: list[PredictionScore], task: Task) -> list[str]:
    """One row; a dash where a model cannot answer."""

    def mean(field: str, scale: float = 1.0, digits: int = 2) -> str:
        values = [getattr(score, field) for score in found]
        if any(value is None for value in values):
            return "-"
        return f"{scale * sum(values) / len(values):,.{digits}f}"

    published = task.paper.get(name.partition(" (")[0])
    return [
        name,
        mean("edit_distance_at_size"),
        mean("exact_at_size", 100.0),
        mean("edit_distance"),
        mean("exact", 100.0),
        mean("size_right", 100.0),
        mean("exact_with_labels", 100.0),
        mean("graphs_per_second", digits=0),
        mean("steps", digits=0),
        mean("minutes", digits=1),
        "-" if published is None else "{}, {} %".format(*published),
    ]
