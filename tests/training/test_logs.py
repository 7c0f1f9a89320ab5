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
