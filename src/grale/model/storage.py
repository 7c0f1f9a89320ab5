"""A model on disk: `model.safetensors` and `config.json`, never pickle.

Departures: not in the paper.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_model, save_model
from torch import nn

from grale.graphs.space import GraphSpace
from grale.model.config import ModelConfig
from grale.settings.build import build

WEIGHTS, CONFIG = "model.safetensors", "config.json"
_HUB_OPTIONS = ("revision", "cache_dir", "force_download", "local_files_only", "token")


def save(model: Any, folder: Path) -> None:
    """Write weights and config of a GRALE model."""
    folder.mkdir(parents=True, exist_ok=True)
    values = {"space": dataclasses.asdict(model.space), "config": dataclasses.asdict(model.config)}
    (folder / CONFIG).write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    save_model(model, str(folder / WEIGHTS))


def read_config(folder: Path) -> tuple[GraphSpace, ModelConfig]:
    """Read the space and shape of the model in `folder`."""
    values = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    if not {"space", "config"} <= values.keys():
        raise ValueError(f"{folder / CONFIG} is not a grale model: needs 'space' and 'config'")
    return build(GraphSpace, values["space"]), build(ModelConfig, values["config"])


def load_weights(model: nn.Module, folder: Path) -> Any:
    """Fill the model with the weights in `folder`; every weight must be there."""
    try:
        load_model(model, str(folder / WEIGHTS), strict=True)
    except SafetensorError as error:
        raise ValueError(f"{folder / WEIGHTS} is damaged: {error}") from error
    return model.eval()


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
