"""Show a training run: a progress bar with the terms of the loss, a line per evaluation, logs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from grale.cli.terminal import TimeLeftColumn, console, say

if TYPE_CHECKING:
    from grale.training.logs import RunLog
    from grale.training.loop import Trainer
    from grale.training.report import StepReport

TERMS = ("mask", "node_label", "node_feature", "edge_label", "edge_feature", "bound")
OTHER_VALUES = ("loss", "marginal_error")
GAP = "  "


class TrainingBar(Progress):
    """A bar, and below it what the last step says, in lines that fit the terminal."""

    parts: Sequence[str] = ()

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bar, then the lines."""
        yield self.make_tasks_table(self.tasks)
        if self.parts:  # rich asks once before it knows its terminal
            yield Text("\n".join(packed(self.parts, self.console.width)))


def watch(trainer: Trainer, logs: Sequence[RunLog]) -> Any:
    """Run the trainer to the end with a progress bar; write every report to the logs."""
    from grale.training.logs import numbers

    columns = (TextColumn("{task.fields[state]}", markup=False), TimeElapsedColumn())
    with TrainingBar(
        SpinnerColumn(), BarColumn(bar_width=20), *columns, TimeLeftColumn(), console=console
    ) as progress:
        task = progress.add_task("training", total=1.0, state="drawing graphs")

        def show(step: StepReport) -> None:
            progress.parts = parts_of(step)
            progress.update(task, completed=step.progress, state=f"step {step.step}")

        def report(step: StepReport) -> None:
            for log in logs:
                log.write(step.step, numbers(step))
            show(step)
            if step.validation is not None:
                say(f"step {step.step}: {step.validation.text}")

        try:
            return trainer.run(report, show)
        finally:
            for log in logs:
                log.close()


def parts_of(step: StepReport) -> list[str]:
    """What the last step says: the loss, each of its terms by name, and the speed."""
    names = [name for name in TERMS if name in step.values]
    names = names or [name for name in step.values if name not in OTHER_VALUES]
    parts = [f"loss {step.values['loss']:.3f}"]
    parts += [f"{name} {step.values[name]:.3f}" for name in names]
    if "marginal_error" in step.values:
        parts.append(f"marginals {step.values['marginal_error']:.0e}")
    return [*parts, f"{step.graphs_per_second:.0f} graphs/s"]


def packed(parts: Sequence[str], width: int) -> list[str]:
    """Parts in as few lines of at most that width as they fit in; a part is never broken.

    >>> packed(["loss 1.0", "mask 0.5", "node 0.5"], 20)
    ['loss 1.0  mask 0.5', 'node 0.5']
    """
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(GAP) + len(part) <= width:
            lines[-1] += GAP + part
        else:
            lines.append(part)
    return lines
