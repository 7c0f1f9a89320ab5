"""A model on disk: `model.safetensors` and `config.json`, never pickle."""

from __future__ import annotations

import dataclasses
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_model

from grale.codec.hub import check_options, download, is_hub_id, not_found
from grale.codec.identity import Identity, Origin, fingerprint, identity_of
from grale.codec.outline import check_fits, with_present_names
from grale.files import read_json, sha256_of, whole, write_whole
from grale.graphs.space import GraphSpace
from grale.settings.build import SettingsError, build

WEIGHTS, CONFIG = "model.safetensors", "config.json"
SHA256 = "sha256"  # entry of the config: checksums of the settings and of the weights
IDENTITY = ("name", "version", "fingerprint")  # entries of the config: see `Identity`
MAX_REASON = 300  # characters: a bad value may fill the file


def save(model: Any, folder: Path) -> None:
    """Write the weights and the config of a model."""
    with whole(folder / WEIGHTS) as partial:
        save_model(model, str(partial))
    values = {
        "architecture": model.architecture,
        **{name: value for name, value in identity_of(model)._asdict().items() if value},
        "space": model.space.as_data(),
        "config": dataclasses.asdict(model.config),
    }
    _write_config(folder, values)


def _write_config(folder: Path, values: dict[str, Any]) -> None:
    """Write the config with checksums of itself and of the weights beside it."""
    values = json.loads(json.dumps(values))  # as they will be read: lists instead of tuples
    values[SHA256] = {"settings": digest_of(values), "weights": sha256_of(folder / WEIGHTS)}
    write_whole(folder / CONFIG, json.dumps(values, indent=2) + "\n")


def stamp(kind: type[Any], folder: Path, name: str, version: str) -> None:
    """Give the model in a folder a name and a version; its weights and settings stay as they are.

    Weights under a name never change within a version: a stamped model cannot be stamped again.
    """
    values, model = _read_values(folder), load(kind, folder)
    if values.get("version"):
        known = f"{values.get('name')}@{values['version']}"
        raise ValueError(f"{folder} is {known} already; save other weights to stamp them")
    values |= Identity(name, version, model.fingerprint)._asdict()
    values.pop(SHA256, None)
    first = {key: values[key] for key in ("architecture", *IDENTITY) if key in values}
    _write_config(folder, first | values)


def read_config(folder: Path, architecture: str, kind: type[Any]) -> tuple[GraphSpace, Any]:
    """Read the space and the settings, a `kind`, of the model of that architecture in `folder`."""
    values = _read_values(folder)
    found = values.get("architecture", "grale")
    if found != architecture:
        raise ValueError(f"{folder} holds a model of kind {str(found)[:100]}, not {architecture}")
    try:
        return build(GraphSpace, values["space"]), build(kind, values["config"])
    except (SettingsError, OverflowError) as error:
        raise SettingsError(f"{folder / CONFIG}: {str(error)[:MAX_REASON]}") from error


def read_architecture(folder: Path) -> str:
    """Architecture of the model in `folder`; old files do not say, and are GRALE's."""
    return str(_read_values(folder).get("architecture", "grale"))[:100]


def _read_values(folder: Path) -> dict[str, Any]:
    values = read_json(folder / CONFIG)
    if not isinstance(values, dict) or not {"space", "config"} <= values.keys():
        raise ValueError(f"{folder / CONFIG} is not a grale model: needs 'space' and 'config'")
    unknown = values.keys() - {"architecture", "space", "config", SHA256, *IDENTITY}
    if unknown:
        raise ValueError(f"{folder / CONFIG} has an unknown entry {min(unknown)[:100]!r}")
    return values


def load(kind: type[Any], folder: Path) -> Any:
    """Load a model from a folder, in float32 on the CPU, whatever torch's defaults are."""
    space, config = read_config(folder, kind.architecture, kind.config_class)
    check_fits(lambda: kind(space, config), folder / WEIGHTS, kind.former_names)
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        with torch.device("cpu"), torch.inference_mode(False):
            model = _with_weights(kind(space, config), folder / WEIGHTS)
    finally:
        torch.set_default_dtype(before)
    _check_digests(folder)
    contents = fingerprint(model)
    model.origin = Origin(_stored_identity(folder) or Identity(None, None, contents), contents)
    model.folder = folder
    return model


def _stored_identity(folder: Path) -> Identity | None:
    """What the config says about name, version and fingerprint; None if it may not be trusted.

    Older models say nothing. Without checksums, the config may have been changed by hand.
    """
    values = read_identity(folder)
    return values if values.fingerprint and SHA256 in _read_values(folder) else None


def read_identity(folder: Path) -> Identity:
    """Name, version and fingerprint in a config, unchecked; empty where it does not say."""
    values = _read_values(folder)
    name, version, known = (str(values.get(key) or "")[:100] for key in IDENTITY)
    return Identity(name or None, version or None, known)


def _check_digests(folder: Path) -> None:
    """Raise unless settings and weights are those that were saved; older models do not say."""
    values = _read_values(folder)
    known = values.pop(SHA256, None)
    if known is None:
        return
    if not isinstance(known, dict) or known.get("settings") != digest_of(values):
        raise ValueError(
            f"{folder / CONFIG} is not as it was saved: its checksum differs; "
            f"fetch it again, or remove its entry {SHA256!r} if you changed it yourself"
        )
    if known.get("weights") != sha256_of(folder / WEIGHTS):
        raise ValueError(f"{folder / WEIGHTS} is damaged: its checksum differs; fetch it again")


def digest_of(values: dict[str, Any]) -> str:
    """Checksum of settings, however they are laid out."""
    return sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _with_weights(model: Any, path: Path) -> Any:
    """Fill the model with the weights of a file; they must be finite."""
    weights = with_present_names(load_file(path), model.former_names)
    for name, weight in weights.items():
        if not bool(weight.isfinite().all()):
            raise ValueError(f"{path} cannot be used: the weight {name} is not finite")
    model.load_state_dict(weights, strict=True)
    return model.eval()


def find(model_id: str, **options: Any) -> Path:
    """Return the local directory of a model: the path itself, or a download from the hub."""
    check_options(options)
    path = Path(model_id)
    if (path / CONFIG).is_file():
        return path
    if path.exists():
        raise FileNotFoundError(f"{path} holds no {CONFIG}; it is not a saved grale model")
    if not is_hub_id(model_id):
        raise not_found(model_id)
    return download(model_id, (CONFIG, WEIGHTS), **options)
