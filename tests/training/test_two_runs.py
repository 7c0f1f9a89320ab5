"""Two runs with one folder: the second one is told, whether it comes during the first or after."""

from __future__ import annotations

from pathlib import Path

import pytest

from grale.files import BusyError, locked
from grale.training.config import RunOptions, TrainConfig
from grale.training.loop import Trainer

pytestmark = pytest.mark.slow

CPU = RunOptions(accelerator="cpu")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_set_up_before_another_one_trained_here_does_not_overwrite_it(
    smoke: TrainConfig, tmp_path: Path
) -> None:
    first, second = (Trainer(smoke, tmp_path, CPU) for _ in range(2))
    first.run(lambda report: None)
    before = contents(tmp_path)
    with pytest.raises(FileExistsError, match=r"in the meantime; add --resume .* another --out"):
        second.run(lambda report: None)
    assert contents(tmp_path) == before
    resuming = RunOptions(accelerator="cpu", resume=True)
    Trainer(smoke, tmp_path, resuming).run(lambda report: None)  # it found them when it was set up


def test_a_run_in_a_folder_that_another_one_trains_in_is_refused(
    smoke: TrainConfig, tmp_path: Path
) -> None:
    trainer = Trainer(smoke, tmp_path / "run", CPU)
    with locked(tmp_path / "run"), pytest.raises(BusyError, match="another run"):
        trainer.run(lambda report: None)
    assert not (tmp_path / "run").exists()
    trainer.run(lambda report: None)
    assert trainer.progress == 1
