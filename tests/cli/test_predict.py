"""`grale prepare images`, `grale prepare latents`, `grale train predict`, `grale predict`."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from cli.invoking import invoke


@pytest.mark.slow
def test_images_become_pairs_latents_a_predictor_and_predictions(
    latent_pairs: Path, tmp_path: Path
) -> None:
    small = ["--set", "reader.dim=16", "--set", "reader.num_layers=1", "--set", "batch_size=8",
             "--set", "reader.channels=[4, 8]", "--set", "max_steps=2",
             "--set", "num_validation=1"]  # fmt: skip
    pairs, latents = tmp_path / "pairs", tmp_path / "latents"
    autoencoder = latent_pairs.parent / "autoencoder"
    invoke("prepare", "images", "coloring10", str(pairs), "--count", "12")
    invoke("prepare", "latents", str(pairs), str(latents), "--model", str(autoencoder))
    run = tmp_path / "run"
    data = ["--set", f"data.path={latents}"]
    invoke("train", "predict", *data, *small, "--out", str(run), "--accelerator", "cpu")
    out = tmp_path / "out.parquet"
    printed = invoke("predict", str(run), str(pairs / "test"), "-o", str(out), "-k", "2")
    assert "graphs per second" in printed
    assert "exact" in printed
    (row,) = pq.read_table(out).to_pylist()
    assert row["status"] == "ok"
