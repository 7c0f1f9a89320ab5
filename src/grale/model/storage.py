"""A model on disk: `model.safetensors` and `config.json`, never pickle.

Departures: not in the paper.
"""

from __future__ import annotations

import dataclasses
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_model, save_model
from torch import nn

from grale.graphs.space import GraphSpace
from grale.settings.build import build

WEIGHTS, CONFIG = "model.safetensors", "config.json"
_HUB_OPTIONS = ("revision", "cache_dir", "force_download", "local_files_only", "token")


def save(model: Any, folder: Path) -> None:
    """Write weights and config of a model."""
    folder.mkdir(parents=True, exist_ok=True)
    values = {
        "architecture": model.architecture,
        "space": dataclasses.asdict(model.space),
        "config": dataclasses.asdict(model.config),
    }
    (folder / CONFIG).write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    save_model(model, str(folder / WEIGHTS))


def read_config(folder: Path, architecture: str, kind: type[Any]) -> tuple[GraphSpace, Any]:
    """Read the space and the settings, a `kind`, of the model of that architecture in `folder`."""
    values = _read_values(folder)
    found = values.get("architecture", "grale")
    if found != architecture:
        raise ValueError(f"{folder} holds a model of kind {found}, not {architecture}")
    return build(GraphSpace, values["space"]), build(kind, values["config"])


def read_architecture(folder: Path) -> str:
    """Which architecture the model in `folder` has; files older than the others are GRALE's."""
    return str(_read_values(folder).get("architecture", "grale"))


def _read_values(folder: Path) -> dict[str, Any]:
    values = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    if not isinstance(values, dict) or not {"space", "config"} <= values.keys():
        raise ValueError(f"{folder / CONFIG} is not a grale model: needs 'space' and 'config'")
    return values


def load_weights(model: nn.Module, folder: Path) -> Any:
    """Fill the model with the weights in `folder`; every weight must be there."""
    try:
        load_model(model, str(folder / WEIGHTS), strict=True)
    except SafetensorError as error:
        raise ValueError(f"{folder / WEIGHTS} is damaged: {error}") from error
    return model.eval()


def fingerprint(model: nn.Module) -> str:
    """Checksum of all weights: the same just when the weights are."""
    digest = sha256()
    for name, weight in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(weight.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def find(model_id: str, **options: Any) -> Path:
    """Return the local directory of a model: the path itself, or a snapshot of a hub id."""
    path = Path(model_id)
    if (path / CONFIG).is_file():
        return path
    if path.exists() or model_id.startswith((".", "/", "~")):
        raise FileNotFoundError(f"{path} holds no {CONFIG}; it is not a saved grale model")
    from huggingface_hub import snapshot_download

    known = {name: options[name] for name in _HUB_OPTIONS if options.get(name) is not None}
    return Path(snapshot_download(model_id, allow_patterns=[WEIGHTS, CONFIG], **known))
