"""Logs of a run that others read."""

from __future__ import annotations

import pytest

from grale.training.logs import open_logs


def test_weights_and_biases_keeps_an_offline_run(tmp_path, monkeypatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    csv_log, log = open_logs(tmp_path, ["wandb"])
    log.write(1, {"loss": 0.5})
    log.write(2, {"loss": 0.25})
    log.close()
    csv_log.close()
    assert list(tmp_path.glob("wandb/offline-run-*/*.wandb"))


def test_scores_stay_in_their_columns_whatever_a_report_has(tmp_path) -> None:
    (log,) = open_logs(tmp_path)
    log.write(1, {"loss": 0.5})
    log.write(2, {"loss": 0.25, "edit_distance": 7.5})
    log.write(3, {"loss": 0.2, "exact": 0.9, "edit_distance": 0.1, "size_right": 1.0})
    log.close()
    header, first, second, third = (tmp_path / "metrics.csv").read_text().splitlines()
    assert header == "step,loss,exact,edit_distance,size_right,held_out_loss,valid,distinct"
    assert first == "1,0.5,,,,,,"
    assert second == "2,0.25,,7.5,,,,"
    assert third == "3,0.2,0.9,0.1,1.0,,,"


def test_a_resumed_log_keeps_the_columns_it_began_with(tmp_path) -> None:
    (tmp_path / "metrics.csv").write_text("step,loss,exact\n1,0.5,\n2,0.4,\n")
    (log,) = open_logs(tmp_path, first_step=1)
    log.write(2, {"loss": 0.25, "exact": 0.5, "held_out_loss": 0.3})
    log.close()
    lines = (tmp_path / "metrics.csv").read_text().splitlines()
    assert lines == ["step,loss,exact", "1,0.5,", "2,0.25,0.5"]
