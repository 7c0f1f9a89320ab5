"""The log of a run: always a CSV file, and TensorBoard or Weights & Biases if asked for."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Literal, Protocol, runtime_checkable

from grale.files import write_whole
from grale.training.report import StepReport

LoggerName = Literal["tensorboard", "wandb"]
SCORES = ("exact", "edit_distance", "size_right", "held_out_loss", "valid", "distinct")


@runtime_checkable
class RunLog(Protocol):
    """Somewhere to write what happens in a run."""

    def write(self, step: int, values: dict[str, float]) -> None:
        """Add one report."""

    def close(self) -> None:
        """Flush and close."""


class CsvLog:
    """One line per report; a resumed run keeps the lines up to its first step and adds to them.

    The file is opened at the first report: by then the run has locked its folder.
    """

    def __init__(self, folder: Path, first_step: int = 0) -> None:
        self.path, self.first_step = folder / "metrics.csv", first_step
        self.file: IO[str] | None = None
        self.columns: list[str] = []

    def write(self, step: int, values: dict[str, float]) -> None:
        """Add one line; columns without a value stay empty."""
        if self.file is None:
            self._forget_later_steps()
            self.columns = self._columns_so_far()
            self.file = self.path.open("a", newline="", encoding="utf-8")
        writer = csv.writer(self.file)
        if not self.columns:
            self.columns = [*(name for name in values if name not in SCORES), *SCORES]
            writer.writerow(["step", *self.columns])
        writer.writerow([step, *(values.get(column, "") for column in self.columns)])
        self.file.flush()

    def _columns_so_far(self) -> list[str]:
        """Columns of the file that a resumed run adds to, whatever version began it."""
        if not self.path.is_file():
            return []
        return self.path.read_text(encoding="utf-8").partition("\n")[0].strip().split(",")[1:]

    def _forget_later_steps(self) -> None:
        """Drop lines of steps that were lost in a kill and are repeated."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.is_file():
            return
        header, *lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True) or [""]
        kept = [line for line in lines if int(line.partition(",")[0] or 0) <= self.first_step]
        write_whole(self.path, "".join([header, *kept]) if self.first_step else "")

    def close(self) -> None:
        """Close the file."""
        if self.file is not None:
            self.file.close()


class TensorBoardLog:
    """Curves for TensorBoard, in the folder of the run."""

    def __init__(self, folder: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise ValueError("--log tensorboard needs: pip install 'grale[logs]'") from error
        self.writer: Any = SummaryWriter(str(folder / "tensorboard"))

    def write(self, step: int, values: dict[str, float]) -> None:
        """Add one point to each curve."""
        for name, value in values.items():
            self.writer.add_scalar(name, value, step)

    def close(self) -> None:
        """Close the event file."""
        self.writer.close()


class WandbLog:
    """Curves on Weights & Biases; WANDB_MODE=offline keeps them on disk."""

    def __init__(self, folder: Path) -> None:
        try:
            import wandb
        except ImportError as error:
            raise ValueError("--log wandb needs: pip install wandb") from error
        self.run: Any = wandb.init(project="grale", name=folder.name, dir=str(folder))

    def write(self, step: int, values: dict[str, float]) -> None:
        """Add one point to each curve."""
        self.run.log(values, step=step)

    def close(self) -> None:
        """Finish the run."""
        self.run.finish()


LOGS: dict[str, type[TensorBoardLog] | type[WandbLog]] = {
    "tensorboard": TensorBoardLog,
    "wandb": WandbLog,
}


def open_logs(folder: Path, names: Sequence[str] = (), first_step: int = 0) -> list[RunLog]:
    """Open the CSV file and the named loggers of a run that continues after `first_step`."""
    for name in names:
        if name not in LOGS:
            raise ValueError(f"log={name!r}; expected one of {sorted(LOGS)}")
    return [CsvLog(folder, first_step), *(LOGS[name](folder) for name in names)]


def numbers(report: StepReport) -> dict[str, float]:
    """All numbers of a report by name."""
    values = {**report.values, "graphs_per_second": report.graphs_per_second}
    if report.validation is not None:
        values |= report.validation.scores
    return values
