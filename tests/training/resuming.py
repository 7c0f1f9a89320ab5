"""Train to the end, or stop on the way as a kill would."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from grale.training.config import RunOptions, TrainConfig
from grale.training.loop import StepReport, Trainer


class Stop(Exception):
    """Ends a run as a kill would."""


def trained(
    config: TrainConfig, folder: Path, **options
) -> tuple[dict[str, torch.Tensor], list[StepReport]]:
    """Weights at the end, and what was reported on the way."""
    reports: list[StepReport] = []
    model = Trainer(config, folder, RunOptions(**options)).run(reports.append)
    return model.state_dict(), reports


def assert_resumes_exactly(config: TrainConfig, folder: Path, last: int, saved: int) -> dict:
    """Stop after step `last`, resume from checkpoint `saved`; weights of the straight run."""
    straight, _ = trained(config, folder / "straight")

    def stop(report: StepReport) -> None:
        if report.step == last:
            raise Stop

    with pytest.raises(Stop):
        Trainer(config, folder / "resumed", RunOptions(save_every=2)).run(stop)
    resumed, reports = trained(config, folder / "resumed", resume=True)
    assert reports[0].step == saved + 1
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)
    return straight
