"""Fixtures shared by all tests: a small model and graphs of several sizes.

The processes that run tests load this file (`conftest.py`).
"""

from __future__ import annotations

import os
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch

from grale.catalog import load
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.data.pairs import prepare_images
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import molecule_space
from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from grale.model.config import FeaturizerConfig, MatcherConfig, ModelConfig
from prediction_setup import write_autoencoder, write_latents
from prior.still_prior import still_prior

torch.set_num_threads(1)  # tensors here are tiny; tests run in as many processes as cores


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def coloring_graphs() -> list[Graph]:
    """Connected graphs of 5 to 10 nodes."""
    return generate_coloring(16, COLORING_VARIANTS["coloring10"], seed=7)


@pytest.fixture(scope="session")
def tiny_config() -> ModelConfig:
    return ModelConfig(
        num_tokens=2,
        token_dim=8,
        num_layers=2,
        num_heads=2,
        node_dim=16,
        edge_dim=8,
        outer_dim=4,
        norm="pre",
        featurizer=FeaturizerConfig(path_dim=4),
        matcher=MatcherConfig(affinity="sphere", temperature=0.1, embedding_dim=8, num_sweeps=50),
    )


@pytest.fixture(scope="session")
def space() -> GraphSpace:
    return GraphSpace(max_nodes=12, num_node_labels=4, num_edge_labels=2)


@pytest.fixture
def tiny_model(space: GraphSpace, tiny_config: ModelConfig) -> GRALE:
    torch.manual_seed(0)
    return GRALE(space, tiny_config).eval()


@pytest.fixture(scope="session")
def molecule_model(tiny_config: ModelConfig) -> GRALE:
    """An untrained model of molecules of up to 10 atoms."""
    torch.manual_seed(0)
    return GRALE(molecule_space(10), tiny_config).eval()


@pytest.fixture(scope="session")
def generative_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped `molecules` with a prior around one molecule, on disk."""
    folder = tmp_path_factory.mktemp("generative")
    model = load("molecules@1")
    model.use_prior(still_prior(model))
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def loaded_generative(generative_folder: Path) -> GRALE:
    """Take `generative`: a copy of it costs a tenth of loading, and may be changed."""
    return load(generative_folder)


@pytest.fixture
def generative(loaded_generative: GRALE) -> GRALE:
    return deepcopy(loaded_generative)


@pytest.fixture(scope="session")
def image_pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20 images to train on and one each held out, with their graphs."""
    folder = tmp_path_factory.mktemp("images")
    prepare_images("coloring10", folder, 22)
    return folder


@pytest.fixture(scope="session")
def latent_pairs(
    tmp_path_factory: pytest.TempPathFactory, image_pairs: Path, tiny_config: ModelConfig
) -> Path:
    """The same with the latents of an untrained autoencoder."""
    folder = tmp_path_factory.mktemp("latent-pairs")
    autoencoder = write_autoencoder(folder / "autoencoder", tiny_config)
    return write_latents(image_pairs, autoencoder, folder / "pairs")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of real data, if this machine has one (environment variable GRALE_DATA)."""
    folder = os.environ.get("GRALE_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("GRALE_DATA names no folder of real data")
    return Path(folder)
