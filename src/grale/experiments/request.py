"""What a user asks an experiment to do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from grale.data.sources import DataConfig, open_source
from grale.experiments.contest import Contest, Watch
from grale.experiments.recipes import Scale, recipe
from grale.settings.files import override
from grale.training.logs import numbers, open_logs
from grale.training.loop import Trainer

Dataset = Literal["coloring", "molecules"]
MINUTES: dict[Scale, float | None] = {"smoke": None, "cpu": 15.0, "paper": None}
COUNTS = {"smoke": 8, "cpu": 5_000, "paper": 10_000}
SEEDS: dict[Scale, int] = {"smoke": 1, "cpu": 1, "paper": 5}


def run_quietly(trainer: Trainer, folder: Path) -> Any:
    """Run to the end with a log but nothing on the screen."""
    (log,) = open_logs(folder)
    try:
        return trainer.run(lambda step: log.write(step.step, numbers(step)))
    finally:
        log.close()


@dataclass(frozen=True, kw_only=True)
class Request:
    """How much to train, on which data, and where to write."""

    scale: Scale = "cpu"
    folder: Path = Path("results")
    data: str | None = None
    """Folder of prepared molecules; None for COLORING alone. For table-ged, the folder of the
    published graphs."""
    labelled: Path | None = None
    """Folder that holds QM9, for experiments that also predict from embeddings."""
    minutes: float | None = None
    """Minutes per model; None for those of the scale."""
    seeds: int | None = None
    """Models of each kind; None for the number of the scale."""
    count: int | None = None
    """Held-out graphs; None for the number of the scale."""
    model: str = "coloring-10"
    """Model for an experiment without training."""
    also: tuple[str, ...] = ()
    """Further models to compare it with."""
    watch: Watch = run_quietly
    on_model: Callable[[str], object] = lambda name: None

    def datasets(self) -> list[Dataset]:
        """COLORING, and molecules if there are any."""
        return ["coloring"] if self.data is None else ["coloring", "molecules"]

    def contest(self, name: str, data: Dataset, share: float = 1.0) -> Contest:
        """Everything that the models of one table share; each gets `share` of the usual minutes."""
        values = recipe(data, self.scale)
        changes = [f"data.path={self.data}"] if data == "molecules" else []
        minutes = self.minutes_each(share)
        return Contest(
            folder=self.folder / "runs" / name / data,
            recipe=override(values, changes),
            minutes=minutes,
            seeds=self.num_seeds,
            count=self.count or COUNTS[self.scale],
            watch=self.watch,
            on_model=self.on_model,
        )

    @property
    def num_seeds(self) -> int:
        """Models of each kind."""
        return self.seeds or SEEDS[self.scale]

    def minutes_each(self, share: float = 1.0) -> float | None:
        """Minutes for each model, or None for the recipe's steps."""
        if self.minutes is not None:
            return self.minutes
        usual = MINUTES[self.scale]
        return None if usual is None else usual * share

    def data_name(self, data: Dataset) -> str:
        """Name of the dataset to print."""
        if data == "molecules":
            assert self.data is not None
            size = open_source(DataConfig(source="shards", path=self.data)).space.max_nodes
            return f"{Path(self.data).name} (molecules of up to {size} atoms)"
        return "COLORING 20" if self.scale == "paper" else "COLORING 10"

    def budget(self, share: float = 1.0) -> str:
        """Training time of each model in words."""
        minutes = self.minutes_each(share)
        length = "the recipe's number of steps" if minutes is None else f"{minutes:g} minutes"
        seeds = f"{self.num_seeds} seed{'s' if self.num_seeds > 1 else ''}"
        return f"{length} and {seeds} for each model"
