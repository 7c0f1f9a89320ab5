"""Single-bit flips in everything that is kept: each is found out."""

from __future__ import annotations

import pytest
import torch

import grale.tasks.embed as embedding
from damage import flip_bits
from grale.catalog import load
from grale.data.molecules.files import open_molecules
from grale.data.storage import check_shard, read_manifest, write_shards
from grale.tasks.embed import EmbedConfig, embed_file, finished
from grale.training.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from soak.counts import few_or_many

pytestmark = pytest.mark.slow


@pytest.fixture
def kept(tmp_path, molecule_model, coloring_graphs, space, monkeypatch):
    """Files of each kind, and what reads them."""
    molecule_model.save_pretrained(tmp_path / "model")
    manifest = write_shards(tmp_path / "data", coloring_graphs, space, shard_rows=8)
    values = {"weights": {"w": torch.ones(500)}, "average": {"w": torch.zeros(500)}}
    state = {"step": 7, "seconds": 1.5, "config": {"seed": 0}}
    checkpoint = save_checkpoint(tmp_path / "run", Checkpoint(values, state))
    (tmp_path / "in.csv").write_text("smiles\n" + "CCO\nCCN\nC\n" * 20)
    monkeypatch.setattr(embedding, "finish", lambda *args: None)
    source, config = open_molecules(tmp_path / "in.csv"), EmbedConfig(shard_rows=20)
    embed_file(molecule_model, "tiny", source, tmp_path / "z.parquet", config)
    parts = sorted((tmp_path / "z.parquet.parts").glob("part-*.parquet"))
    shards = {tmp_path / "data" / shard.file: shard for shard in manifest.shards}

    def read_part(path):
        if finished(path) is None:
            raise ValueError("it is made again")

    return {
        "parts": (parts, read_part),
        "shards": (list(shards), lambda path: check_shard(path.parent, shards[path])),
        "checkpoints": (sorted(checkpoint.iterdir()), lambda path: load_checkpoint(checkpoint)),
        "weights": (
            [tmp_path / "model" / "model.safetensors"],
            lambda path: load(tmp_path / "model"),
        ),
    }


@few_or_many(20, 200)
def test_every_flipped_bit_is_found_out(count, kept, rng, figure, tmp_path) -> None:
    for name, (files, read) in kept.items():
        for path in files:
            read(path)  # whole
        flip_bits(files, count // len(kept), rng, read)
        figure(f"flips, {name}: {count // len(kept)}, all found out")
    assert read_manifest(tmp_path / "data").rows == 16
