"""A model has a fingerprint of its settings and weights, and keeps its name until it changes."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import pytest
import torch

from grale.catalog import load, load_any, shipped_versions
from grale.codec.identity import Identity, check_same_model, differences, identity_of, provenance
from grale.codec.storage import CONFIG, stamp
from grale.model.autoencoder import GRALE
from grale.rivals.graphvae.config import GraphVaeConfig
from grale.rivals.graphvae.model import GraphVAE

FINGERPRINTS = {
    "coloring@1": "255ebf87eccb",
    "coloring@2": "7eba43c981d1",
    "coloring-10@1": "afd1cacd7d16",
    "molecules@1": "a7cfdee4a300",
    "molecules@2": "ce0cf7e4b7a4",
    "molecules-attention@1": "f2e29c6ecc7b",
}
"""Shipped weights never change within a version: others need a new version and a new line here."""

PRIORS = {"molecules@2": "fd1fc6f67907"}
"""A prior may be trained further; new files of `grale generate` name it by this checksum."""


@pytest.mark.slow
def test_shipped_weights_are_those_of_their_version() -> None:
    for model in shipped_versions():
        name = f"{model.name}@{model.version}"
        loaded = load_any(model.folder)
        assert loaded.fingerprint.startswith(FINGERPRINTS[name]), name
        assert loaded.version == model.version
        origin = loaded.__dict__["origin"]
        assert origin.contents == loaded.fingerprint, "what is stored is what is computed"
    assert len(shipped_versions()) == len(FINGERPRINTS)


def test_shipped_priors_are_those_that_are_listed() -> None:
    files = {
        f"{each.name}@{each.version}": each.folder / "prior.json" for each in shipped_versions()
    }
    found = {name: json.loads(file.read_text()) for name, file in files.items() if file.is_file()}
    assert set(found) == set(PRIORS)
    for name, settings in found.items():
        assert settings["sha256"]["weights"].startswith(PRIORS[name]), name


@pytest.mark.slow
def test_every_change_of_weights_or_settings_changes_the_fingerprint(
    tiny_model, space, tiny_config
) -> None:
    before = tiny_model.fingerprint
    torch.manual_seed(0)
    assert GRALE(space, tiny_config).fingerprint == before  # the same again
    other_space = replace(space, max_nodes=space.max_nodes + 1)
    config = replace(tiny_config, featurizer=replace(tiny_config.featurizer, noise_std=0.3))
    for changed in ((space, config), (other_space, tiny_config)):
        torch.manual_seed(0)
        assert GRALE(*changed).fingerprint != before
    with torch.no_grad():
        next(tiny_model.parameters()).view(-1)[0] += 1e-3
    assert tiny_model.fingerprint != before


def test_a_new_setting_with_a_default_changes_no_fingerprint() -> None:
    @dataclass(frozen=True)
    class Old:
        width: int = 4
        depth: int = 2

    @dataclass(frozen=True)
    class New:
        width: int = 4
        depth: int = 2
        gate: bool = False

    assert differences(Old(depth=3)) == differences(New(depth=3)) == {"depth": 3}
    assert differences(New(depth=3, gate=True)) == {"depth": 3, "gate": True}


@pytest.mark.slow
def test_a_saved_model_keeps_its_fingerprint_and_a_changed_one_loses_its_version(
    tiny_model, tmp_path
) -> None:
    tiny_model.save_pretrained(tmp_path)
    stamp(GRALE, tmp_path, "mine", "7")
    loaded = load(tmp_path)
    assert identity_of(loaded) == Identity("mine", "7", tiny_model.fingerprint)
    loaded.save_pretrained(tmp_path / "copy")
    assert load(tmp_path / "copy").version == "7"
    with torch.no_grad():
        next(loaded.parameters()).add_(1.0)
    assert loaded.version is None
    loaded.save_pretrained(tmp_path / "tuned")
    assert load(tmp_path / "tuned").version is None
    assert "version" not in json.loads((tmp_path / "tuned" / CONFIG).read_text())
    with pytest.raises(ValueError, match="is mine@7 already"):
        stamp(GRALE, tmp_path, "mine", "8")


@pytest.mark.slow
def test_a_model_saved_by_an_older_version_has_a_computed_fingerprint(tiny_model, tmp_path) -> None:
    tiny_model.save_pretrained(tmp_path)
    values = json.loads((tmp_path / CONFIG).read_text())
    for name in ("fingerprint", "sha256"):
        del values[name]
    (tmp_path / CONFIG).write_text(json.dumps(values))
    assert load(tmp_path).fingerprint == tiny_model.fingerprint
    values["fingerprint"] = "0" * 64  # without checksums, nobody vouches for it
    (tmp_path / CONFIG).write_text(json.dumps(values))
    assert load(tmp_path).fingerprint == tiny_model.fingerprint


def test_vectors_of_another_model_are_refused_with_both_names(tiny_model) -> None:
    check_same_model(tiny_model, identity_of(tiny_model), "z.parquet")
    check_same_model(tiny_model, None, "z.parquet")  # nobody knows
    other = Identity("molecules", "1", "ab" * 32)
    with pytest.raises(ValueError, match=r"z\.parquet holds vectors of molecules@1 \(abab") as told:
        check_same_model(tiny_model, other, "z.parquet")
    assert tiny_model.fingerprint[:12] in str(told.value)


def test_provenance_says_model_version_weights_package_and_reading(tiny_model) -> None:
    found = provenance(tiny_model, "runs/mine", "latent")
    assert found["model"] == "runs/mine"
    assert found["fingerprint"] == tiny_model.fingerprint
    assert found["reading"] == "latent"
    assert found.keys() == {"model", "version", "fingerprint", "grale", "reading"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["grale", "rival"])
def test_the_card_of_a_saved_model_leaves_nothing_open(tiny_model, space, tmp_path, kind) -> None:
    rival = GraphVAE(space, GraphVaeConfig(encoder_dim=8, decoder_dims=(16,)))
    model = tiny_model if kind == "grale" else rival
    model.save_pretrained(tmp_path)
    card = (tmp_path / "README.md").read_text()
    assert "More Information Needed" not in card
    with torch.no_grad():
        next(model.parameters()).add_(1.0)
    model.save_pretrained(tmp_path)  # the card is about the weights beside it
    card = (tmp_path / "README.md").read_text()
    for text in (model.fingerprint, model.architecture, f"at most {space.max_nodes} nodes"):
        assert text in card
