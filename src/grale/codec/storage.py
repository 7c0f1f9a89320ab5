"""A model on disk: `model.safetensors` and `config.json`, never pickle."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_model
from torch import Tensor, nn

from grale.codec.hub import check_options, download, is_hub_id, not_found
from grale.codec.outline import check_fits, with_present_names
from grale.files import read_json, sha256_of, whole, write_whole
from grale.graphs.space import GraphSpace
from grale.settings.build import SettingsError, build

WEIGHTS, CONFIG = "model.safetensors", "config.json"
SHA256 = "sha256"  # entry of the config: checksums of the settings and of the weights
MAX_REASON = 300  # characters: a bad value may fill the file


def save(model: Any, folder: Path) -> None:
    """Write the weights and the config of a model."""
    with whole(folder / WEIGHTS) as partial:
        save_model(model, str(partial))
    values = {
        "architecture": model.architecture,
        "space": dataclasses.asdict(model.space),
        "config": dataclasses.asdict(model.config),
    }
    values = json.loads(json.dumps(values))  # as they will be read: lists instead of tuples
    values[SHA256] = {"settings": digest_of(values), "weights": sha256_of(folder / WEIGHTS)}
    write_whole(folder / CONFIG, json.dumps(values, indent=2) + "\n")


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
    unknown = values.keys() - {"architecture", "space", "config", SHA256}
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
    model.folder = folder
    return model


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


def fingerprint(model: nn.Module) -> str:
    """Checksum of all weights: equal exactly when the weights are."""
    return _fingerprint_of(model.state_dict())


def stored_fingerprint(kind: type[Any], folder: Path) -> str:
    """Fingerprint of the model of that kind in a folder, whatever became of it in memory."""
    return _fingerprint_of(with_present_names(load_file(folder / WEIGHTS), kind.former_names))


def _fingerprint_of(weights: Mapping[str, Tensor]) -> str:
    digest = sha256()
    for name, weight in sorted(weights.items()):
        digest.update(name.encode())
        digest.update(weight.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


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
