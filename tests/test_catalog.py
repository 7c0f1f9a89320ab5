import numpy as np
import pytest
import torch

import grale
from grale import catalog
from grale.catalog import device_called, load, load_any, shipped_models
from grale.codec import storage
from grale.codec.storage import stamp
from grale.rivals.graphvae.config import GraphVaeConfig
from grale.rivals.graphvae.model import GraphVAE


@pytest.fixture
def shelf(tiny_model, tmp_path, monkeypatch):
    """A package with two shipped models, and a folder that is none."""
    tiny_model.save_pretrained(tmp_path / "coloring")
    tiny_model.save_pretrained(tmp_path / "molecules")
    (tmp_path / "notes").mkdir()
    monkeypatch.setattr(catalog, "SHIPPED", tmp_path)
    return tmp_path


@pytest.mark.slow
def test_shipped_models_are_the_folders_with_a_config(shelf, monkeypatch):
    assert shipped_models() == ["coloring", "molecules"]
    monkeypatch.setattr(catalog, "SHIPPED", shelf / "absent")
    assert shipped_models() == []


@pytest.mark.slow
def test_a_shipped_model_is_loaded_by_name(shelf, tiny_model, coloring_graphs):
    loaded = grale.load("coloring")
    assert np.array_equal(loaded.encode(coloring_graphs), tiny_model.encode(coloring_graphs))
    assert not loaded.training


@pytest.mark.slow
@pytest.mark.parametrize("as_text", [True, False])
def test_a_directory_is_loaded_by_its_path(tiny_model, tmp_path, coloring_graphs, as_text):
    tiny_model.save_pretrained(tmp_path / "mine")
    path = str(tmp_path / "mine") if as_text else tmp_path / "mine"
    loaded = load(path)
    assert np.array_equal(loaded.encode(coloring_graphs), tiny_model.encode(coloring_graphs))


@pytest.mark.slow
def test_a_relative_directory_is_loaded(tiny_model, tmp_path, monkeypatch, coloring_graphs):
    tiny_model.save_pretrained(tmp_path / "runs" / "mine")
    monkeypatch.chdir(tmp_path)
    for name in ("runs/mine", "./runs/mine"):
        assert load(name).space == tiny_model.space


def test_an_unknown_name_is_refused_with_the_known_ones(shelf):
    with pytest.raises(FileNotFoundError, match=r"'colouring'.*are coloring, molecules"):
        load("colouring")


@pytest.mark.slow
def test_a_mistyped_path_is_refused_without_asking_the_hub(shelf, tmp_path, monkeypatch):
    def fail(*args, **options):
        raise AssertionError("the hub was asked")

    monkeypatch.setattr(storage, "download", fail)
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("./runs/mine", str(tmp_path / "absent"), "a/b/c", "runs/typo", "~/mine"):
        for by in (load, load_any, grale.GRALE.from_pretrained):
            with pytest.raises(FileNotFoundError, match="no such folder, and no model of that"):
                by(name)
    with pytest.raises(AssertionError, match="the hub was asked"):
        load("someone/some-model")


def test_a_directory_without_config_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no config\.json"):
        load(tmp_path)


def test_a_rival_is_loaded_by_load_any_and_refused_by_load(space, tmp_path):
    GraphVAE(space, GraphVaeConfig(encoder_dim=8, decoder_dims=(16,))).save_pretrained(tmp_path)
    assert isinstance(load_any(tmp_path), GraphVAE)
    with pytest.raises(ValueError, match="is a graphvae, not a GRALE; use grale.catalog.load_any"):
        load(tmp_path)
    with pytest.raises(ValueError, match="holds a model of kind graphvae, not grale"):
        grale.GRALE.from_pretrained(tmp_path)


def test_an_unknown_architecture_is_named(tiny_model, tmp_path):
    tiny_model.save_pretrained(tmp_path)
    file = tmp_path / "config.json"
    file.write_text(file.read_text().replace('"grale"', '"later"'))
    with pytest.raises(ValueError, match="is a 'later'; known are grale, pigvae, graphvae"):
        load_any(tmp_path)


@pytest.mark.slow
def test_a_version_is_loaded_by_its_name(shelf, tiny_model):
    for folder, version in (("coloring", "2"), ("coloring@1", "1")):
        tiny_model.save_pretrained(shelf / folder)
        stamp(grale.GRALE, shelf / folder, "coloring", version)
    assert grale.load("coloring").version == "2"  # the newest
    assert grale.load("coloring@2").version == "2"
    assert grale.load("coloring@1").version == "1"
    assert shipped_models() == ["coloring", "molecules"]
    with pytest.raises(FileNotFoundError, match=r"no coloring@3; .* are coloring@2, coloring@1"):
        grale.load("coloring@3")


@pytest.mark.slow
def test_a_device_is_found_by_its_name_or_refused(shelf, coloring_graphs, monkeypatch):
    for name in ("cpu", "auto"):
        assert len(grale.load("coloring", device=name).encode(coloring_graphs[:1])) == 1
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **options: None)
    assert device_called("auto") == torch.device("cpu")
    for by in (load, load_any):
        with pytest.raises(ValueError, match="'cuda' is not on this machine; there is cpu only"):
            by("coloring", device="cuda")
        with pytest.raises(ValueError, match="device='gpu'; expected 'auto', 'cpu' or 'cuda'"):
            by("coloring", device="gpu")
    there = torch.device("cuda")
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **options: there)
    assert device_called("auto") == device_called("cuda") == there
    assert device_called("cpu") == torch.device("cpu")
