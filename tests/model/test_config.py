import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
from torch import nn

import grale
from grale.model import choices
from grale.model.config import (
    DescriptionConfig,
    FeaturizerConfig,
    LatentConfig,
    LossConfig,
    MatcherConfig,
    ModelConfig,
)
from grale.model.loss import LossTerms
from grale.model.parts import part_at
from grale.settings.build import SettingsError, build

SOURCE = Path(grale.__file__).parent / "model"
CONFIGS = [
    ModelConfig, FeaturizerConfig, MatcherConfig, LossConfig, LatentConfig, DescriptionConfig
]  # fmt: skip
WEIGHTS = {f.name for f in fields(LossTerms)}  # read by name, in LossTerms.total
DERIVED = {"encoder_layers"}  # read by a property of the settings
CHOICES = [
    (config, name, hint)
    for config in CONFIGS
    for name, hint in get_type_hints(config).items()
    if get_origin(hint) is Literal
]


def reads(name):
    """Files of the model, other than the settings themselves, that read it from settings."""
    pattern = re.compile(rf"\bconfig(\.\w+)?\.{name}\b")
    sources = (path for path in SOURCE.rglob("*.py") if path.name != "config.py")
    return [path for path in sources if pattern.search(path.read_text(encoding="utf-8"))]


def test_every_field_is_read_somewhere():
    own = {(config, f.name) for config in CONFIGS for f in fields(config)}
    by_name = {(LossConfig, name) for name in WEIGHTS} | {(ModelConfig, name) for name in DERIVED}
    assert [f"{config.__name__}.{name}" for config, name in own - by_name if not reads(name)] == []


def test_the_search_for_dead_fields_finds_one():
    assert not reads("sinkhorn_epsilon")
    assert not reads("log_plan")  # read of other things than settings
    assert set(WEIGHTS) <= {f.name for f in fields(LossConfig)}


def test_defaults_are_the_coloring_column_of_the_paper():
    config = ModelConfig()
    assert (config.num_tokens, config.token_dim) == (4, 32)
    assert (config.num_layers, config.num_heads) == (5, 4)
    assert (config.node_dim, config.edge_dim) == (128, 64)
    assert config.featurizer.diffusion_order == 2
    assert config.matcher.num_sweeps == 100
    assert config.norm == "post"
    loss = config.loss
    assert (loss.mask, loss.node_label, loss.edge_label) == (1, 1, 1)
    assert (loss.node_feature, loss.edge_feature) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("config", "values", "complaint"),
    [
        (ModelConfig, {"num_tokens": 0}, "num_tokens must be at least 1, got 0"),
        (ModelConfig, {"num_layers": 0}, "num_layers must be at least 1"),
        (ModelConfig, {"num_heads": 0}, "num_heads must be at least 1"),
        (ModelConfig, {"outer_dim": 0}, "outer_dim must be at least 1"),
        (ModelConfig, {"token_dim": 0}, "token_dim must be at least 1"),
        (ModelConfig, {"node_dim": -4}, "node_dim must be at least 1"),
        (ModelConfig, {"node_hidden_dim": 0}, "node_hidden_dim must be at least 1"),
        (ModelConfig, {"token_dim": 30}, "token_dim=30 must be a multiple of num_heads=4"),
        (ModelConfig, {"node_dim": 30}, "node_dim=30 must be a multiple"),
        (ModelConfig, {"edge_dim": 30}, "edge_dim=30 must be a multiple"),
        (FeaturizerConfig, {"diffusion_order": -1}, "diffusion_order must be at least 0"),
        (FeaturizerConfig, {"noise_std": -0.1}, "noise_std must be at least 0"),
        (FeaturizerConfig, {"path_dim": 5}, "path_dim must be even"),
        (FeaturizerConfig, {"path_dim": 0}, "path_dim must be even and at least 2, got 0"),
        (MatcherConfig, {"temperature": 0.0}, "temperature must be above 0"),
        (MatcherConfig, {"embedding_dim": 0}, "embedding_dim must be at least 1"),
        (MatcherConfig, {"num_sweeps": 0}, "num_sweeps must be at least 1"),
        (MatcherConfig, {"grad_sweeps": 0}, "grad_sweeps must be at least 1"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(config, values, complaint):
    with pytest.raises(ValueError, match=complaint):
        config(**values)


@pytest.mark.parametrize(("config", "name", "hint"), CHOICES)
def test_a_choice_is_one_of_the_listed(config, name, hint):
    for value in get_args(hint):
        assert getattr(build(config, {name: value}), name) == value
    with pytest.raises(SettingsError, match=f"{name}='neither'; expected one of"):
        build(config, {name: "neither"})
    unchecked = config()  # beartype would refuse the value before the class can
    object.__setattr__(unchecked, name, "neither")
    with pytest.raises(ValueError, match=f"{name}='neither'; expected one of"):
        unchecked.__post_init__()


def test_a_name_in_a_table_of_parts_is_a_choice_and_leads_to_a_part():
    settings = {
        "encoder": choices.BACKBONES,
        "pooling": choices.POOLINGS,
        "decoder": choices.DECODER_STACKS,
    }
    for name, table in settings.items():
        assert get_args(get_type_hints(ModelConfig)[name]) == tuple(table)
    assert get_args(get_type_hints(MatcherConfig)["kind"]) == tuple(choices.MATCHERS)
    for table in (*settings.values(), choices.MATCHERS):
        for paths in table.values():
            for path in [paths] if isinstance(paths, str) else paths:
                assert issubclass(part_at(path), nn.Module)
    with pytest.raises(AttributeError, match="NoPooling"):
        part_at("grale.model.pooling.NoPooling")


def test_settings_cannot_be_changed_in_place():
    for config in CONFIGS:
        assert is_dataclass(config)
        name = fields(config)[0].name
        with pytest.raises(AttributeError, match=name):
            setattr(config(), name, None)
