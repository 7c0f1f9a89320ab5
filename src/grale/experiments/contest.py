"""Models that an experiment compares: trained if they are not there yet, all scored equally.

Every contender has one folder per seed: settings, checkpoints, the model and its scores. An
interrupted run continues where it stopped; a finished one is not repeated.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from grale.catalog import load_kind
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.data.sources import open_source, stream_held_out
from grale.experiments.kept import kept
from grale.files import write_whole
from grale.graphs.graph import Graph
from grale.settings.build import build
from grale.settings.files import override
from grale.training.config import RunOptions, TrainConfig
from grale.training.evaluation import evaluate
from grale.training.loop import Trainer

LENGTH = "length.json"  # written last: the model next to it is complete

Watch = Callable[[Trainer, Path], Any]
"""Runs a trainer to its end, logging into the folder; returns its model."""


class Contender(NamedTuple):
    """One row: a name and what it changes, as `grale train --set` takes it."""

    name: str
    changes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Contest:
    """What all contenders share."""

    folder: Path
    """Folder for their runs."""
    recipe: dict[str, Any]
    """Settings before a contender's changes."""
    minutes: float | None
    """Training time of each; None for the recipe's number of steps."""
    seeds: int = 1
    count: int = 10_000
    """Held-out graphs to score on."""
    split: str = "test"
    """Split that these come from."""
    watch: Watch
    on_model: Callable[[str], object] = lambda name: None
    """Called with the name of each model before it is trained or loaded."""


class Score(NamedTuple):
    """How well one trained model reconstructs graphs."""

    exact: float
    """Share of graphs reconstructed exactly; the model chooses sizes."""
    edit_distance: float
    exact_at_size: float
    """The same with the true size given."""
    edit_distance_at_size: float
    size_right: float
    parameters: int
    steps: int
    minutes: float


def compete(contest: Contest, contenders: Sequence[Contender]) -> dict[str, list[Score]]:
    """Train and score every contender with every seed."""
    found: dict[str, list[Score]] = {contender.name: [] for contender in contenders}
    graphs: list[Graph] = []

    def compute(model: GraphAutoencoder, config: TrainConfig) -> dict[str, float]:
        graphs[:] = graphs or unseen_graphs(config, contest.count, contest.split)
        return _score(model, graphs)

    for seed in range(contest.seeds):
        for contender in contenders:
            contest.on_model(f"{contender.name}, seed {seed}")
            score = trained_and_read(contest, contender, "scores", compute, seed)
            found[contender.name].append(Score(**score))
    return found


def trained_and_read(
    contest: Contest,
    contender: Contender,
    name: str,
    compute: Callable[[Any, TrainConfig], dict[str, float]],
    seed: int = 0,
) -> dict[str, Any]:
    """What `compute` says of a contender's model, and how long that was trained.

    The model is trained if it is not there yet; the numbers are kept in a file of its run.
    """
    folder, config = folder_of(contest, contender, seed), settings_of(contest, contender, seed)
    model = trained(config, folder, contest.minutes, contest.watch)

    def with_length() -> dict[str, float]:
        return {**compute(model, config), **json.loads((folder / LENGTH).read_text())}

    found: dict[str, Any] = kept(folder / f"{name}-{contest.count}.json", with_length)
    return found


def latent_shape(tokens: int, width: int) -> Contender:
    """GRALE with this number of tokens of this width."""
    changes = [f"model.num_tokens={tokens}", f"model.token_dim={width}"]
    return Contender(f"K={tokens} D={width}", changes)


def transport_pooling(contest: Contest) -> Contender:
    """GRALE with pooling by transport; its latent is as long as the recipe's or a bit shorter."""
    config = settings_of(contest, Contender("GRALE"), seed=0)
    model, slots = config.model, open_source(config.data).space.max_nodes
    width = max(1, model.num_tokens * model.token_dim // slots)
    changes = ["model.pooling=transport", f"model.encoder_layers={max(1, model.num_layers - 1)}"]
    changes += [f"model.num_tokens={slots}", f"model.token_dim={width}"]
    return Contender("GRALE, pooling by transport", changes)


def folder_of(contest: Contest, contender: Contender, seed: int) -> Path:
    """Where a contender's run is kept."""
    return contest.folder / f"{plain_name(contender.name)}-seed{seed}"


def settings_of(contest: Contest, contender: Contender, seed: int) -> TrainConfig:
    """All settings of a contender's run."""
    return build(TrainConfig, override(contest.recipe, [*contender.changes, f"seed={seed}"]))


def trained(config: TrainConfig, folder: Path, minutes: float | None, watch: Watch) -> Any:
    """Return the model of that folder; train it first if it is not finished."""
    settings = folder / "train.json"
    if settings.is_file() and _read_settings(settings) != (config, minutes):
        raise ValueError(f"{folder} was trained with other settings; remove it or choose another")
    wanted = json.dumps({"config": asdict(config), "minutes": minutes}, indent=2) + "\n"
    write_whole(settings, wanted.encode())
    if (folder / LENGTH).is_file():
        return load_kind(config.architecture, folder)
    resumes = any((folder / "checkpoints").glob("step-*"))
    trainer = Trainer(config, folder, RunOptions(resume=resumes, max_minutes=minutes))
    model = watch(trainer, folder)
    length = {"steps": trainer.step, "minutes": trainer.seconds / 60}
    write_whole(folder / LENGTH, (json.dumps(length) + "\n").encode())
    return model


def _read_settings(file: Path) -> tuple[TrainConfig, float | None]:
    """Settings of a run; newer settings get their defaults."""
    saved = json.loads(file.read_text())
    return build(TrainConfig, saved["config"]), saved["minutes"]


def unseen_graphs(config: TrainConfig, count: int, split: str = "test") -> list[Graph]:
    """Graphs that no run has seen: a split of the dataset, or held-out graphs of the generator."""
    return list(stream_held_out(config.data.path or config.data.source, count, split))


def _score(model: GraphAutoencoder, graphs: list[Graph]) -> dict[str, float]:
    """All fields of `Score` but the length of the training."""
    free, told = (evaluate(model, graphs, at_size=at_size) for at_size in (False, True))
    return {
        "exact": free.accuracy,
        "edit_distance": free.edit_distance,
        "exact_at_size": told.accuracy,
        "edit_distance_at_size": told.edit_distance,
        "size_right": free.size_accuracy,
        "parameters": sum(weight.numel() for weight in model.parameters()),
    }


def plain_name(name: str) -> str:
    """Name without characters that a file system may reject."""
    return "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in name.lower())


def spread(values: Sequence[float], scale: float = 1.0) -> str:
    """Mean and, for several seeds, standard deviation.

    >>> spread([0.5, 0.7], 100.0)
    '60.00 ± 10.00'
    """
    scaled = scale * np.array(values)
    return f"{scaled.mean():.2f}" + (f" ± {scaled.std():.2f}" if len(scaled) > 1 else "")
