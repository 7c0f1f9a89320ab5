"""Each verb runs in a temporary folder, and what a user gets wrong is one clear line."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grale.cli.main import app, main
from grale.files import BusyError, locked

SMOKE = "smoke"
runner = CliRunner()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    result = runner.invoke(app, ["train", SMOKE, "--out", str(folder), "--accelerator", "cpu"])
    assert result.exit_code == 0, result.output
    return folder


@pytest.mark.slow
def test_train_saves_a_model_a_log_and_a_checkpoint(trained: Path) -> None:
    names = {path.name for path in trained.iterdir()}
    assert {"model.safetensors", "config.json", "metrics.csv", "checkpoints"} <= names
    with (trained / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["step"] for row in rows] == ["2", "4", "6"]
    assert rows[-1]["exact"] != ""


@pytest.mark.slow
def test_train_writes_curves_for_tensorboard(tmp_path: Path) -> None:
    command = ["train", SMOKE, "--out", str(tmp_path), "--accelerator", "cpu"]
    result = runner.invoke(app, [*command, "--log", "tensorboard"])
    assert result.exit_code == 0, result.output
    assert list((tmp_path / "tensorboard").glob("events.*"))


@pytest.mark.slow
def test_evaluate_prints_the_scores(trained: Path) -> None:
    result = runner.invoke(app, ["evaluate", str(trained), "--count", "20"])
    assert result.exit_code == 0, result.output
    assert "exactly reconstructed" in result.output
    for option in ("--search", "--refine"):
        checked = runner.invoke(app, ["evaluate", str(trained), "--count", "3", option, "4"])
        assert checked.exit_code == 0, checked.output


@pytest.mark.slow
def test_info_describes_machine_and_model(trained: Path) -> None:
    assert "torch" in runner.invoke(app, ["info"]).output
    assert "up to 10 nodes" in runner.invoke(app, ["info", str(trained)]).output


@pytest.mark.parametrize("name", ["z.parquet", "z.csv"])
def test_info_says_which_model_made_a_file(tmp_path: Path, name: str) -> None:
    source, out = tmp_path / "in.csv", tmp_path / name
    source.write_text("smiles\nCCO\n")
    runner.invoke(app, ["embed", str(source), "-o", str(out), "--model", "molecules@1"])
    text = runner.invoke(app, ["info", str(out)]).output
    assert "a7cfdee4a300" in text
    assert "latent" in text
    silent = runner.invoke(app, ["info", str(source)])
    assert "does not say which model made it" in str(silent.exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "nowhere.yaml"], "no settings file at nowhere.yaml"),
        (["train", SMOKE, "--set", "model.nrm=pre"], "did you mean 'norm'"),
        (["train", SMOKE, "--set", "batch_size=many"], "batch_size='many'; expected int"),
        (["train", SMOKE, "--set", "batch_size=1000"], "larger than a pool of 256"),
        (["train", SMOKE, "--log", "paper"], "log='paper'"),
        (["evaluate", "no-such-model"], "no such folder, and no model of that name"),
        (
            ["evaluate", "coloring-10", "--data", "coloring7"],
            "'coloring7' is not one of coloring10",
        ),
        (["info", "no-such-model"], "no such folder, and no model of that name"),
    ],
)
def test_a_mistake_is_one_clear_line(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["grale", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    error = " ".join(capsys.readouterr().err.split())
    assert error.startswith("error:")
    assert message in error


def test_the_version_is_printed() -> None:
    result = runner.invoke(app, ["--version"])
    assert result.output.startswith("grale 0.")


@pytest.mark.slow
def test_the_module_runs_as_a_program() -> None:
    command = [sys.executable, "-m", "grale.cli", "info", "--help"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    "verb",
    [["interpolate", "C", "CC"], ["edit", "C"], ["denoise"], ["map"], ["match", "C", "CC"],
     ["barycenter"]],
)  # fmt: skip
def test_the_suffix_of_a_picture_is_checked_before_the_work(
    verb: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*arguments: object) -> None:
        raise AssertionError("the work has begun")

    monkeypatch.setattr("grale.catalog.load", work)
    result = CliRunner().invoke(app, [*verb, "-o", str(tmp_path / "a.jpeg")])
    assert isinstance(result.exception, ValueError), result.output
    assert "cannot save 'a.jpeg'; expected a suffix in ['.png', '.svg']" in str(result.exception)


@pytest.mark.slow
def test_preparing_graphs_locks_the_folder_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*arguments: object, **options: object) -> None:
        raise AssertionError("the work has begun")

    monkeypatch.setattr("grale.data.bayes_nets.random_networks", work)
    for verb in (
        ["networks", str(tmp_path / "out")],
        ["ged", str(tmp_path), str(tmp_path / "out")],
    ):
        with locked(tmp_path / "out"):
            result = CliRunner().invoke(app, ["prepare", *verb])
        assert isinstance(result.exception, BusyError), result.output


@pytest.mark.slow
def test_the_demo_needs_a_folder_of_its_own_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(name: str) -> None:
        raise AssertionError("the work has begun")

    monkeypatch.setattr("grale.catalog.load", work)
    with locked(tmp_path / "index.html"):
        result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path)])
    assert isinstance(result.exception, BusyError), result.output
    (tmp_path / "file").touch()
    result = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "file")])
    assert isinstance(result.exception, FileExistsError), result.output
