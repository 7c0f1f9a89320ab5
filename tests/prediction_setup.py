"""Small pairs, a small autoencoder and small predictors, for tests of graph prediction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from grale.data.packed import PackedGraphs
from grale.data.pairs import fingerprint_row
from grale.data.storage import write_packed
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import molecule_space
from grale.inputs.config import ReaderConfig
from grale.inputs.space import InputSpace
from grale.model.autoencoder import GRALE
from grale.model.config import ModelConfig
from grale.settings.files import load_settings
from grale.tasks.pair_latents import cache_pair_latents
from grale.training.config import TrainConfig

READER = ReaderConfig(dim=16, num_layers=1, num_heads=2, channels=(4, 8))
IMAGE = InputSpace(kind="image", size=32)
BITS = InputSpace(kind="bits", size=64)
COUNTS = InputSpace(kind="counts", size=64)
SMILES = (
    "CCO", "CC(=O)O", "c1ccccc1", "CCN", "CC#N", "CCCC", "OCCO", "CC(C)O",
    "C1CC1", "CCCO", "NCC=O", "COC",
)  # fmt: skip


def random_rows(space: InputSpace, count: int, seed: int = 0) -> np.ndarray:
    """Rows of bytes that could be inputs."""
    rng = np.random.default_rng(seed)
    if space.is_image:
        return rng.integers(0, 256, (count, space.num_bytes), dtype=np.uint8)
    rows = (rng.random((count, space.num_bytes)) < 0.15).astype(np.uint8)
    return rows * rng.integers(1, 4, rows.shape, dtype=np.uint8) if space.kind == "counts" else rows


def write_autoencoder(folder: Path, config: ModelConfig, max_nodes: int = 10) -> Path:
    """Save an untrained autoencoder of colourings."""
    from grale.graphs.space import GraphSpace

    torch.manual_seed(0)
    GRALE(GraphSpace(max_nodes=max_nodes, num_node_labels=4), config).save_pretrained(folder)
    return folder


def write_molecule_pairs(folder: Path, inputs: InputSpace = BITS) -> Path:
    """Pairs of fingerprints and small molecules: all in train, a few in the other splits."""
    graphs = [Graph.from_smiles(text) for text in SMILES]
    rows = np.stack([np.asarray(fingerprint_row(graph, inputs)) for graph in graphs])
    for split, cut in (("test", slice(0, 4)), ("valid", slice(4, 8)), ("train", slice(0, None))):
        pack = PackedGraphs.from_graphs(graphs[cut], inputs=rows[cut])
        write_packed(folder / split, [pack], molecule_space(10), inputs=inputs)
    return folder


def write_latents(pairs: Path, autoencoder: Path, out: Path) -> Path:
    """Add the latents of an autoencoder to pairs."""
    cache_pair_latents(GRALE.from_pretrained(autoencoder), str(autoencoder), pairs, out)
    return out


def quick(recipe: str, data: Path, **changes) -> TrainConfig:
    """A recipe of prediction, cut down to a few small steps."""
    overrides = [f"data.path={data}"]
    config = load_settings(TrainConfig, recipe, overrides)
    optimizer = replace(config.optimizer, warmup_steps=1)
    small = {"batch_size": 8, "max_steps": 3, "num_validation": 2, "reader": READER}
    return replace(config, **{**small, "optimizer": optimizer, **changes})
