"""Every file of settings loads and builds, and repeats nothing; sizes match the paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from grale.codec.outline import outline
from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from grale.settings.files import SHIPPED, load_settings, read_settings, shipped_settings
from grale.training.config import TrainConfig

SPACES = {
    "coloring20": GraphSpace(max_nodes=20, num_node_labels=4),
    "coloring20-transport": GraphSpace(max_nodes=20, num_node_labels=4),
    "coloring20-described": GraphSpace(max_nodes=20, num_node_labels=4),
    "own": GraphSpace(max_nodes=16, num_node_labels=4),
    "pool32": GraphSpace(max_nodes=32, num_node_labels=32, num_edge_labels=4),
    "pool16-transport": GraphSpace(max_nodes=16, num_node_labels=32, num_edge_labels=4),
    "pubchem16": GraphSpace(max_nodes=16, num_node_labels=32, num_edge_labels=4),
    "pubchem32": GraphSpace(max_nodes=32, num_node_labels=32, num_edge_labels=4),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped_settings())
def test_the_config_loads_and_builds(name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # from any folder
    config = load_settings(TrainConfig, name)
    space = SPACES.get(name, GraphSpace(max_nodes=10, num_node_labels=4))
    model = outline(lambda: GRALE(space, config.model), 1_000)  # without memory: some are large
    assert len(model.decoder.node_queries) == space.max_nodes


@pytest.mark.parametrize("name", shipped_settings())
def test_a_config_repeats_nothing_of_what_it_extends(name: str) -> None:
    values = yaml.safe_load((SHIPPED / f"{name}.yaml").read_text())
    base = read_settings(values.pop("extends")) if "extends" in values else {}
    assert list(_repeated(values, base)) == []


def _repeated(values: dict, base: dict, where: str = "") -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            yield from _repeated(value, base[key], f"{where}{key}.")
        elif key in base and base[key] == value:
            yield f"{where}{key}"


@pytest.mark.parametrize(
    ("name", "millions", "tolerance"),
    [
        ("coloring20", 2.0, 0.13),  # 2.25M: decisions/001 explains the difference
        ("pubchem16", 2.5, 0.10),
        ("pubchem32", 11.7, 0.10),
    ],
)
def test_parameter_counts_are_the_papers(name: str, millions: float, tolerance: float) -> None:
    config = load_settings(TrainConfig, name)
    model = GRALE(SPACES[name], config.model)
    count = sum(weight.numel() for weight in model.parameters()) / 1e6
    assert count == pytest.approx(millions, rel=tolerance)
