"""Settings and weights are compared before a model is built."""

from __future__ import annotations

import json
import resource
import time

import pytest
import torch
from safetensors.torch import load_file, save_file
from safetensors.torch import save as serialized

from grale.catalog import ARCHITECTURES, load_any
from grale.codec.outline import outline
from grale.codec.storage import CONFIG, WEIGHTS
from grale.graphs.space import GraphSpace
from grale.rivals.graphmae.config import GraphmaeConfig
from grale.rivals.graphvae.config import GraphVaeConfig
from grale.rivals.infograph.config import InfographConfig
from grale.rivals.pigvae.config import PigvaeConfig
from grale.rivals.simgrace.config import SimgraceConfig
from grale.rivals.vgae.config import VgaeConfig

BILLION = 1_000_000_000
MEGABYTES = 1_024  # in what the system counts memory in


@pytest.fixture
def configs(tiny_config):
    return {
        "grale": tiny_config,
        "pigvae": PigvaeConfig(latent_dim=8, num_layers=1, num_heads=2, message_dim=8),
        "graphvae": GraphVaeConfig(encoder_dim=8, decoder_dims=(16,), latent_dim=8),
        "simgrace": SimgraceConfig(hidden_dim=8, num_layers=2),
        "infograph": InfographConfig(hidden_dim=8, num_layers=2),
        "graphmae": GraphmaeConfig(hidden_dim=8, num_layers=2),
        "vgae": VgaeConfig(hidden_dim=8, latent_dim=8),
    }


@pytest.fixture
def save(configs, space, tmp_path):
    """Writes a model of an architecture to a folder."""

    def run(name):
        ARCHITECTURES[name](space, configs[name]).save_pretrained(tmp_path / name)
        return tmp_path / name

    return run


def edit(folder, part, name, value):
    values = json.loads((folder / CONFIG).read_text())
    values.pop("sha256", None)  # these changes are on purpose
    values[part][name] = value
    (folder / CONFIG).write_text(json.dumps(values))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", sorted(ARCHITECTURES))
def test_an_outline_has_the_shapes_of_the_model_and_no_memory(configs, name, directed):
    space = GraphSpace(max_nodes=7, num_node_labels=3, num_edge_labels=2, directed=directed)
    real = ARCHITECTURES[name](space, configs[name])
    found = outline(lambda: ARCHITECTURES[name](space, configs[name]), len(real.state_dict()))
    for of in ("named_parameters", "named_buffers"):
        shapes = {key: (value.shape, value.dtype) for key, value in getattr(real, of)()}
        assert {k: (v.shape, v.dtype) for k, v in getattr(found, of)()} == shapes
        assert all(value.is_meta for _, value in getattr(found, of)())


SIZES = {
    "grale": ["node_dim", "num_layers", "encoder_layers", "num_tokens", "token_dim", "outer_dim"],
    "pigvae": ["latent_dim", "num_layers", "message_dim", "hidden_dim", "position_dim"],
    "graphvae": ["latent_dim", "num_convolutions", "encoder_dim", "pool_dim"],
    "simgrace": ["hidden_dim", "num_layers"],
    "infograph": ["hidden_dim", "num_layers"],
    "graphmae": ["hidden_dim", "num_layers"],
    "vgae": ["hidden_dim", "latent_dim"],
}


SPACE_SIZES = ("max_nodes", "num_node_labels", "num_edge_labels")
UNUSED = {
    "simgrace": ["max_nodes"],
    "infograph": ["max_nodes"],
    "graphmae": ["max_nodes"],
    "vgae": ["max_nodes", "num_edge_labels"],
}
"""Sizes that no weight and no table of an architecture depends on: they cost nothing."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("architecture", "value"),
    [*((name, BILLION) for name in sorted(ARCHITECTURES)), ("grale", 10**30), ("pigvae", 10**30)],
)
def test_sizes_out_of_this_world_are_refused_at_once(save, architecture, value):
    folder = save(architecture)
    config = (folder / CONFIG).read_text()
    spaces = [("space", name) for name in SPACE_SIZES if name not in UNUSED.get(architecture, ())]
    for part, name in [*spaces, *(("config", name) for name in SIZES[architecture])]:
        (folder / CONFIG).write_text(config)
        edit(folder, part, name, value)
        before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        with pytest.raises(ValueError, match=f"{architecture}/") as caught:
            load_any(folder)
        assert len(str(caught.value).splitlines()) == 1
        assert time.process_time() - begin < 10
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 * MEGABYTES


def test_tables_that_no_file_holds_have_a_limit(save):
    folder = save("pigvae")
    edit(folder, "space", "max_nodes", 100)  # fits every weight
    assert load_any(folder).space.max_nodes == 100
    edit(folder, "space", "max_nodes", BILLION)
    with pytest.raises(ValueError, match=r"would take \d+ bytes for its tables, more than"):
        load_any(folder)


def change_weights(folder, change):
    weights = load_file(folder / WEIGHTS)
    change(weights)
    save_file(weights, folder / WEIGHTS)
    values = json.loads((folder / CONFIG).read_text())
    values.pop("sha256", None)  # these changes are on purpose
    (folder / CONFIG).write_text(json.dumps(values))


def other_types(weight):
    """Types that a weight cannot have, and how files call them; old safetensors has no C64."""
    types = {"I32": torch.int32} if weight.is_floating_point() else {"F32": torch.float32}
    try:
        serialized({"x": torch.zeros(1, dtype=torch.complex64)})
    except KeyError:
        return types
    return types | {"C64": torch.complex64}


@pytest.mark.parametrize("architecture", sorted(ARCHITECTURES))
def test_every_difference_between_weights_and_settings_is_named(save, architecture):
    saved = save(architecture)
    whole = (saved / WEIGHTS).read_bytes()
    name, weight = next(iter(load_file(saved / WEIGHTS).items()))
    for change, reason in [
        (lambda weights: weights.pop(name), f"the weight {name} is missing"),
        (lambda weights: weights.update(more=torch.zeros(2)), "'more', which is not a weight"),
        (
            lambda weights: weights.update({name: torch.zeros(5, 6, 7)}),
            rf"{name} has the shape \(5, 6, 7\) in the file and",
        ),
        *(
            (
                lambda weights, kind=kind: weights.update({name: weights[name].to(kind)}),
                f"the weight {name} is stored as {called}, not as torch",
            )
            for called, kind in other_types(weight).items()
        ),
    ]:
        (saved / WEIGHTS).write_bytes(whole)
        change_weights(saved, change)
        with pytest.raises(ValueError, match=f"does not fit its config.json: .*{reason}"):
            load_any(saved)
    (saved / WEIGHTS).write_bytes(b"")
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged"):
        load_any(saved)


@pytest.mark.slow
def test_weights_under_former_names_are_taken_but_not_twice(tiny_model, tmp_path):
    tiny_model.save_pretrained(tmp_path)
    stored = load_file(tmp_path / WEIGHTS)
    expected = {name: weight.clone() for name, weight in stored.items()}  # the file is overwritten

    def rename(weights):
        for former, present in tiny_model.former_names.items():
            for name in [name for name in weights if name.startswith(f"{present}.")]:
                weights[former + name.removeprefix(present)] = weights.pop(name)

    change_weights(tmp_path, rename)
    assert load_file(tmp_path / WEIGHTS).keys() != expected.keys()
    loaded = load_any(tmp_path).state_dict()
    assert all(torch.equal(loaded[name], weight) for name, weight in expected.items())
    change_weights(tmp_path, lambda weights: weights.update(expected))
    with pytest.raises(ValueError, match="holds a weight under two names"):
        load_any(tmp_path)
