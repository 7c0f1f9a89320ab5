"""The loop learns, resumes bit by bit, and stops on a loss that is not a number."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from grale.data.batching import batches_from
from grale.training.checkpoint import BadCheckpointError
from grale.training.config import RunOptions, TrainConfig
from grale.training.failure import BadLossError
from grale.training.loop import StepReport, Trainer, noise_seed

pytestmark = pytest.mark.slow

CPU = RunOptions(accelerator="cpu")


def _run(config: TrainConfig, folder: Path, options: RunOptions = CPU) -> tuple[Trainer, list]:
    reports: list[StepReport] = []
    trainer = Trainer(config, folder, options)
    trainer.run(reports.append)
    return trainer, reports


def _weights(trainer: Trainer) -> list[torch.Tensor]:
    return [*trainer.model.state_dict().values(), *trainer.average.weights]


def test_the_loss_falls(smoke: TrainConfig, tmp_path: Path) -> None:
    _, reports = _run(replace(smoke, max_steps=60, validate_every=60), tmp_path)
    assert reports[-1].values["loss"] < 0.8 * reports[0].values["loss"]
    assert reports[-1].progress == 1
    assert reports[-1].validation is not None


def test_a_run_may_begin_with_the_weights_of_a_saved_model(
    smoke: TrainConfig, tmp_path: Path
) -> None:
    trainer, _ = _run(replace(smoke, max_steps=2), tmp_path / "first")
    trainer.model.save_pretrained(tmp_path / "saved")
    begun = Trainer(replace(smoke, start_from=str(tmp_path / "saved")), tmp_path / "second", CPU)
    assert all(
        torch.equal(a, b) for a, b in zip(trainer.model.parameters(), begun.model.parameters())
    )
    assert torch.equal(begun.average.weights[0], next(iter(trainer.model.parameters())))


def test_reports_name_every_term_and_the_marginal_error(smoke: TrainConfig, tmp_path: Path) -> None:
    _, reports = _run(smoke, tmp_path)
    terms = {"mask", "node_label", "node_feature", "edge_label", "edge_feature"}
    assert terms | {"loss", "marginal_error"} <= reports[0].values.keys()


@pytest.mark.parametrize("kind", ["adam", "muon"])
def test_a_resumed_run_equals_an_uninterrupted_one(
    smoke: TrainConfig, tmp_path: Path, kind: str
) -> None:
    optimizer = replace(smoke.optimizer, kind=kind, schedule="trapezoid", ema_decay=0.9)
    config = replace(smoke, optimizer=optimizer, max_steps=8)
    straight, _ = _run(config, tmp_path / "straight")
    options = replace(CPU, save_every=2)
    interrupted = Trainer(config, tmp_path / "resumed", options)

    class Stop(Exception):
        pass

    def stop(report: StepReport) -> None:
        if report.step == 4:
            raise Stop

    with pytest.raises(Stop):
        interrupted.run(stop)
    resumed, reports = _run(config, tmp_path / "resumed", replace(options, resume=True))
    assert reports[0].step == 6
    for a, b in zip(_weights(straight), _weights(resumed)):
        assert torch.equal(a, b)
    other, _ = _run(replace(config, seed=1), tmp_path / "other")
    assert not all(torch.equal(a, b) for a, b in zip(_weights(straight), _weights(other)))


def test_resuming_with_other_settings_is_refused(smoke: TrainConfig, tmp_path: Path) -> None:
    _run(smoke, tmp_path)
    with pytest.raises(ValueError, match="cannot resume: batch_size is 8"):
        Trainer(replace(smoke, batch_size=8), tmp_path, replace(CPU, resume=True))
    with pytest.raises(FileNotFoundError, match="leave out --resume"):
        Trainer(smoke, tmp_path / "nothing", replace(CPU, resume=True))


def test_a_run_killed_before_its_first_checkpoint_starts_anew(
    smoke: TrainConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()  # the first thing that a run does
    resumed, _ = _run(smoke, killed, replace(CPU, resume=True))
    assert f"{killed} has no checkpoint yet" in caplog.text
    straight, _ = _run(smoke, tmp_path / "straight")
    assert all(torch.equal(a, b) for a, b in zip(_weights(straight), _weights(resumed)))


def test_a_loss_that_is_not_a_number_stops_with_step_ids_and_batch(
    smoke: TrainConfig, tmp_path: Path
) -> None:
    trainer = Trainer(smoke, tmp_path, CPU)
    with torch.no_grad():
        trainer.model.decoder.node_heads.weight.fill_(float("nan"))
    with pytest.raises(BadLossError, match="the loss is nan"):
        trainer.run(lambda report: None)
    place = tmp_path / "bad-loss-step-000000000-rank-0"
    ids = json.loads((place / "ids.json").read_text())
    assert len(ids["rows"]) == smoke.batch_size
    assert (place / "batch.safetensors").is_file()
    weights = load_file(place / "weights.safetensors")
    assert weights["decoder.node_heads.weight"].isnan().all()


def test_a_gradient_that_is_not_finite_never_reaches_the_weights(
    smoke: TrainConfig, tmp_path: Path
) -> None:
    trainer = Trainer(smoke, tmp_path, CPU)
    before = [weight.clone() for weight in trainer.model.state_dict().values()]
    trainer.model.decoder.node_heads.weight.register_hook(lambda gradient: gradient * float("inf"))
    with pytest.raises(BadLossError, match="gradient is not finite"):
        trainer.run(lambda report: None)
    after = trainer.model.state_dict().values()
    assert all(torch.equal(a, b) for a, b in zip(before, after))


def test_a_folder_with_another_run_is_refused(smoke: TrainConfig, tmp_path: Path) -> None:
    _run(smoke, tmp_path)
    with pytest.raises(FileExistsError, match="--resume"):
        Trainer(smoke, tmp_path, CPU)


def test_a_run_whose_checkpoints_are_all_damaged_says_what_to_do_with_and_without_resume(
    smoke: TrainConfig, tmp_path: Path
) -> None:
    _run(smoke, tmp_path)
    for state in tmp_path.glob("checkpoints/step-*/state.json"):
        state.write_text("")
    said = []
    for options in (CPU, replace(CPU, resume=True)):
        with pytest.raises(BadCheckpointError, match="remove that folder and leave out") as caught:
            Trainer(smoke, tmp_path, options)
        said.append(str(caught.value))
    assert said[0] == said[1]
    shutil.rmtree(tmp_path / "checkpoints")  # as it says
    again, _ = _run(smoke, tmp_path)
    assert again.step == smoke.max_steps


def test_a_resumed_run_keeps_its_time_budget_unless_given_another(
    smoke: TrainConfig, tmp_path: Path
) -> None:
    _run(smoke, tmp_path, replace(CPU, max_minutes=7.0))
    resume = replace(CPU, resume=True)
    assert Trainer(smoke, tmp_path, resume).max_minutes == 7.0
    assert Trainer(smoke, tmp_path, replace(resume, max_minutes=9.0)).max_minutes == 9.0


def test_two_halves_of_a_batch_have_the_gradient_of_the_whole(
    smoke: TrainConfig, tmp_path: Path
) -> None:
    trainer = Trainer(smoke, tmp_path, CPU)
    batch = next(batches_from(trainer.source, 16, seed=0, step=0)).graphs
    noise = trainer.model.featurizer.draw_noise(16, torch.Generator().manual_seed(0))

    def gradient(rows: slice) -> torch.Tensor:
        trainer.model.zero_grad()
        trainer.model(batch[rows], noise[rows]).terms.total(smoke.model.loss).backward()
        return torch.cat([w.grad.flatten() for w in trainer.model.parameters()])

    whole = gradient(slice(None))
    halves = (gradient(slice(0, None, 2)) + gradient(slice(1, None, 2))) / 2
    torch.testing.assert_close(whole, halves, atol=1e-5, rtol=1e-3)
    assert whole.norm() > 1e-3


def test_a_time_budget_ends_the_run_and_the_schedule(smoke: TrainConfig, tmp_path: Path) -> None:
    options = replace(CPU, max_minutes=0.01)
    trainer, reports = _run(replace(smoke, max_steps=100_000), tmp_path, options)
    assert reports[-1].progress >= 1
    assert 0 < trainer.step < 100_000


def test_drawing_the_graphs_takes_nothing_from_the_time_budget(
    smoke: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow_to_begin(*args, **options):
        time.sleep(2)  # more than the budget
        yield from batches_from(*args, **options)

    monkeypatch.setattr("grale.training.loop.batches_from", slow_to_begin)
    config, options = replace(smoke, max_steps=100_000), replace(CPU, max_minutes=0.025)
    trainer, _ = _run(config, tmp_path, options)
    assert 1 < trainer.step < 100_000


def test_recomputing_activations_changes_no_gradient(smoke: TrainConfig, tmp_path: Path) -> None:
    plain, _ = _run(smoke, tmp_path / "plain")
    frugal, _ = _run(smoke, tmp_path / "frugal", replace(CPU, recompute_activations=True))
    for a, b in zip(_weights(plain), _weights(frugal)):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-4)


def test_mixed_precision_stays_close_to_the_plain_path(smoke: TrainConfig, tmp_path: Path) -> None:
    _, plain = _run(smoke, tmp_path / "plain")
    _, mixed = _run(smoke, tmp_path / "mixed", replace(CPU, precision="bf16-mixed"))
    for a, b in zip(plain, mixed):
        assert b.values["loss"] == pytest.approx(a.values["loss"], rel=0.05)


def test_noise_differs_between_steps_and_seeds() -> None:
    seeds = {noise_seed(seed, step) for seed in range(10) for step in range(100)}
    assert len(seeds) == 1000


def test_a_full_disk_leaves_the_last_checkpoint(
    smoke: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer, _ = _run(smoke, tmp_path)

    def full(*arguments: object) -> None:
        raise SafetensorError("No space left on device")

    monkeypatch.setattr("grale.training.checkpoint.save_file", full)
    trainer.step += 1
    with pytest.raises(OSError, match="No space left"):
        trainer.save()
    monkeypatch.undo()
    resumed = Trainer(smoke, tmp_path, replace(CPU, resume=True))
    assert resumed.step == smoke.max_steps


def test_a_bar_is_told_of_steps_between_reports(
    smoke: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grale.training.loop.TICK_SECONDS", 0.0)
    ticks: list[StepReport] = []
    reports: list[StepReport] = []
    config = replace(smoke, max_steps=4, log_every=4, validate_every=4)
    Trainer(config, tmp_path, CPU).run(reports.append, ticks.append)
    assert [tick.step for tick in ticks] == [1, 2, 3, 4]
    assert [report.step for report in reports] == [4]
    assert ticks[-1].values == reports[-1].values
