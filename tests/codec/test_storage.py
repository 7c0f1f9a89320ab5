import json
import os
import stat
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import torch

from damage import flip_bits
from grale.catalog import load, load_any
from grale.codec.storage import CONFIG, WEIGHTS
from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from grale.settings.build import SettingsError

ATOL_FLOAT32 = 1e-6  # the same sums in the same order, so even this is generous


@pytest.fixture
def saved(tiny_model, tmp_path):
    tiny_model.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def edit_config(folder, change):
    values = json.loads((folder / CONFIG).read_text())
    change(values)
    (folder / CONFIG).write_text(json.dumps(values))


@pytest.mark.slow
def test_a_loaded_model_encodes_to_the_same_bits(tiny_model, saved, coloring_graphs):
    torch.manual_seed(99)
    loaded = GRALE.from_pretrained(saved)
    assert loaded.space == tiny_model.space
    assert loaded.config == tiny_model.config
    assert not loaded.training
    latents = tiny_model.encode(coloring_graphs)
    assert np.array_equal(loaded.encode(coloring_graphs), latents)
    by_text = GRALE.from_pretrained(str(saved))  # a path may be text
    assert np.array_equal(by_text.encode(coloring_graphs), latents)
    assert loaded.reconstruct(coloring_graphs) == tiny_model.reconstruct(coloring_graphs)
    torch.manual_seed(99)
    fresh = GRALE(tiny_model.space, tiny_model.config)
    assert not np.array_equal(fresh.encode(coloring_graphs), latents)


@pytest.mark.slow
def test_every_kind_of_setting_survives(tiny_config, tmp_path):
    config = replace(
        tiny_config,
        norm="post",
        node_hidden_dim=12,
        featurizer=replace(tiny_config.featurizer, noise_seed=5, noise_std=0.3),
        matcher=replace(tiny_config.matcher, affinity="l1", grad_sweeps=2),
        loss=replace(tiny_config.loss, objective="pigvae", marginal=0.25),
    )
    space = GraphSpace(max_nodes=5, num_node_labels=2, num_edge_labels=3, directed=True)
    GRALE(space, config).save_pretrained(tmp_path)
    loaded = GRALE.from_pretrained(tmp_path)
    assert loaded.config == config
    assert loaded.space == space


def test_weights_are_safetensors_and_nothing_is_pickled(saved):
    names = {path.name for path in saved.iterdir()}
    assert names - {"README.md"} == {"model.safetensors", "config.json"}  # the hub adds a card
    for path in saved.iterdir():
        start = path.read_bytes()[:2]
        assert start not in (b"PK", b"\x80\x02", b"\x80\x04", b"\x80\x05")  # zip or pickle
    with (saved / WEIGHTS).open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    assert "encoder.padding" in header
    assert set(json.loads((saved / CONFIG).read_text())) == {
        "architecture",
        "fingerprint",
        "space",
        "config",
        "sha256",
    }


def test_the_check_for_pickles_sees_one(tmp_path):
    torch.save({}, tmp_path / "model.pt")
    assert (tmp_path / "model.pt").read_bytes()[:2] == b"PK"


def test_saving_twice_writes_the_same_bytes(tiny_model, saved, tmp_path):
    tiny_model.save_pretrained(tmp_path / "again")
    for name in (WEIGHTS, CONFIG):
        assert (tmp_path / "again" / name).read_bytes() == (saved / name).read_bytes()


def test_a_folder_without_config_is_not_a_model(saved):
    (saved / CONFIG).unlink()
    with pytest.raises(FileNotFoundError, match=r"holds no config\.json; it is not a saved grale"):
        GRALE.from_pretrained(saved)


def test_a_folder_without_weights_is_refused(saved):
    (saved / WEIGHTS).unlink()
    with pytest.raises(FileNotFoundError, match=WEIGHTS):
        GRALE.from_pretrained(saved)


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b"\xff" * 8 + b[8:]])
def test_corrupted_weights_are_refused(saved, damage):
    path = saved / WEIGHTS
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match="is damaged"):
        GRALE.from_pretrained(saved)


@pytest.mark.slow
def test_weights_of_another_shape_are_refused(saved):
    edit_config(saved, lambda values: values["config"].update(node_dim=32))
    with pytest.raises(ValueError, match="does not fit its config.json: .*has the shape"):
        GRALE.from_pretrained(saved)


@pytest.mark.slow
def test_missing_and_surplus_weights_are_refused(saved):
    edit_config(saved, lambda values: values["config"].update(num_layers=3))
    with pytest.raises(ValueError, match="layers.2.* is missing"):
        GRALE.from_pretrained(saved)
    edit_config(saved, lambda values: values["config"].update(num_layers=1))
    with pytest.raises(ValueError, match="layers.1.*which is not a weight of this model"):
        GRALE.from_pretrained(saved)


def test_an_unknown_setting_is_refused_with_the_nearest_known_one(saved):
    edit_config(saved, lambda values: values["config"].update(num_layer=2))
    with pytest.raises(
        SettingsError, match="unknown setting 'num_layer'; did you mean 'num_layers'"
    ):
        GRALE.from_pretrained(saved)


def test_an_unknown_nested_setting_is_refused_by_its_path(saved):
    edit_config(saved, lambda values: values["config"]["matcher"].update(temprature=1.0))
    with pytest.raises(SettingsError, match="did you mean 'temperature'"):
        GRALE.from_pretrained(saved)


def test_a_config_of_something_else_is_refused(saved):
    (saved / CONFIG).write_text(json.dumps({"hidden_size": 768}))
    with pytest.raises(ValueError, match="is not a grale model: needs 'space' and 'config'"):
        GRALE.from_pretrained(saved)


@pytest.mark.parametrize("read", [GRALE.from_pretrained, load_any])
@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe{", b"[" * 100_000, b"{}" + b" " * 6_000_000, b"[1]", b"null", b'{"space"'],
    ids=["empty", "not UTF-8", "deep", "huge", "a list", "null", "cut"],
)
def test_a_damaged_config_is_one_sentence_that_names_the_file(saved, content, read):
    (saved / CONFIG).write_bytes(content)
    with pytest.raises(ValueError, match=r"model/config\.json") as caught:
        read(saved)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("value", [[1] * 100_000, "x" * 100_000, 10**400, -1, None, 1e400])
@pytest.mark.parametrize("name", ["node_dim", "norm", "featurizer"])
def test_a_value_of_the_wrong_kind_is_one_sentence_that_names_the_file(saved, name, value):
    edit_config(saved, lambda values: values["config"].update({name: value}))
    with pytest.raises(ValueError, match=r"model/(config\.json|model\.safetensors)") as caught:
        GRALE.from_pretrained(saved)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 1_000


@pytest.mark.slow
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_weight_that_is_not_finite_is_refused_by_name(tiny_model, tmp_path, value):
    with torch.no_grad():
        tiny_model.decoder.node_heads.weight[0, 0] = value
    tiny_model.save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="decoder.node_heads.weight is not finite"):
        GRALE.from_pretrained(tmp_path)


@contextmanager
def no_gradients():
    torch.set_grad_enabled(False)
    try:
        yield
    finally:
        torch.set_grad_enabled(True)


@contextmanager
def double_precision():
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@contextmanager
def another_seed():
    with torch.random.fork_rng():
        torch.manual_seed(12_345)
        yield


@contextmanager
def deterministic_algorithms():
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


WORLDS = [
    no_gradients,
    double_precision,
    another_seed,
    deterministic_algorithms,
    torch.inference_mode,
]


@pytest.mark.slow
@pytest.mark.parametrize("pooling", ["attention", "transport"])
@pytest.mark.parametrize("world", WORLDS)
def test_global_settings_of_torch_do_not_change_vectors(
    world, pooling, space, tiny_config, tmp_path, coloring_graphs
):
    graphs = coloring_graphs[:4]
    torch.manual_seed(0)
    config = replace(tiny_config, pooling=pooling, num_tokens=space.max_nodes)
    expected = GRALE(space, config).eval()
    expected.save_pretrained(tmp_path)
    vectors, described = expected.encode(graphs), expected.describe(graphs)
    with world():
        loaded = load(tmp_path)
        assert all(weight.dtype == torch.float32 for weight in loaded.parameters())
        assert np.abs(loaded.encode(graphs) - vectors).max() < ATOL_FLOAT32
        assert np.abs(loaded.describe(graphs) - described).max() < ATOL_FLOAT32
        assert loaded.decode(vectors) == expected.decode(vectors)
        refined = loaded.encode(graphs, refine=2)
    assert np.abs(loaded.encode(graphs) - vectors).max() < ATOL_FLOAT32
    assert np.abs(refined - expected.encode(graphs, refine=2)).max() < ATOL_FLOAT32
    assert np.abs(refined - vectors).max() > ATOL_FLOAT32


@pytest.mark.slow
def test_another_default_device_does_not_change_vectors(tiny_model, saved, coloring_graphs):
    expected, again = tiny_model.encode(coloring_graphs), tiny_model.reconstruct(coloring_graphs)
    torch.set_default_device("meta")  # stands for an accelerator: what is made there has no values
    try:
        loaded = load(saved)
        assert np.array_equal(loaded.encode(coloring_graphs), expected)
        assert loaded.reconstruct(coloring_graphs) == again
        assert loaded.decode(expected) == tiny_model.decode(expected)
        assert loaded.describe(expected).shape == (len(expected), loaded.description_dim)
    finally:
        torch.set_default_device(None)


def test_saved_files_follow_the_umask(tiny_model, tmp_path):
    before = os.umask(0o027)
    try:
        tiny_model.save_pretrained(tmp_path / "model")
    finally:
        os.umask(before)
    for name in (WEIGHTS, CONFIG):
        assert stat.S_IMODE((tmp_path / "model" / name).stat().st_mode) == 0o640, name


@pytest.mark.slow
@pytest.mark.parametrize("name", [WEIGHTS, CONFIG])
def test_every_flipped_bit_of_a_model_is_found_out(saved, name, rng):
    flip_bits([saved / name], 20, rng, lambda path: load(saved))
    load(saved)  # whole again


@pytest.mark.slow
def test_a_setting_changed_by_hand_is_taken_once_its_checksum_is_removed(saved):
    edit_config(saved, lambda values: values["config"]["featurizer"].update(noise_std=0.3))
    with pytest.raises(ValueError, match=r"not as it was saved.*remove its entry 'sha256'"):
        load(saved)
    edit_config(saved, lambda values: values.pop("sha256"))
    assert load(saved).config.featurizer.noise_std == 0.3


def test_sweeps_without_end_are_refused(saved):
    edit_config(saved, lambda values: values["config"]["matcher"].update(num_sweeps=10**9))
    with pytest.raises(SettingsError, match="num_sweeps and rounds must be at most"):
        load(saved)
