"""A run that is asked to stop ends where it can be resumed."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grale.training.config import RunOptions, TrainConfig
from grale.training.loop import StepReport, Trainer
from grale.training.stopping import stop_request

pytestmark = pytest.mark.slow

CPU = RunOptions(accelerator="cpu")


@pytest.mark.parametrize(
    ("number", "ending"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)]
)
def test_a_stopped_run_goes_on_with_the_same_bits(
    smoke: TrainConfig,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    number: int,
    ending: type[BaseException],
) -> None:
    config = replace(smoke, max_steps=6, log_every=1)
    straight = Trainer(config, tmp_path / "straight", CPU)
    straight.run(lambda step: None)

    def ask(step: StepReport) -> None:
        if step.step == 2:
            signal.raise_signal(number)

    with pytest.raises(ending):
        Trainer(config, tmp_path / "stopped", CPU).run(ask)
    assert "stopped at step 3; --resume continues from here" in caplog.text
    resumed = Trainer(config, tmp_path / "stopped", replace(CPU, resume=True))
    assert resumed.step == 3
    resumed.run(lambda step: None)
    for mine, other in zip(resumed.model.parameters(), straight.model.parameters()):
        assert torch.equal(mine, other)


def test_the_second_ctrl_c_does_not_wait() -> None:
    with stop_request() as request:
        signal.raise_signal(signal.SIGINT)
        assert request.signal == signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with stop_request():
        assert signal.getsignal(signal.SIGTERM) != before[0]
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


def test_threads_other_than_the_main_one_train_too() -> None:
    found = []

    def listen() -> None:
        with stop_request() as request:
            found.append(request.signal)

    thread = threading.Thread(target=listen)
    thread.start()
    thread.join()
    assert found == [0]
