"""Settings from YAML files, and `key=value` overrides from the command line.

Departures: not in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml

from grale.settings.build import SettingsError, build

Settings = TypeVar("Settings")


def load_settings(cls: type[Settings], path: Path, overrides: Sequence[str] = ()) -> Settings:
    """Read a YAML file that holds differences from the defaults, apply overrides, and check."""
    if not path.is_file():
        raise SettingsError(f"no settings file at {path}")
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise SettingsError(f"{path} is not valid YAML: {error}") from error
    values = {} if values is None else values
    if not isinstance(values, dict):
        raise SettingsError(f"{path} must hold a mapping of settings, got {type(values).__name__}")
    return build(cls, override(values, overrides))


def override(values: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Apply dotted `key=value` overrides; values are read as YAML.

    >>> override({"model": {"norm": "post"}}, ["model.norm=pre", "seed=3"])
    {'model': {'norm': 'pre'}, 'seed': 3}
    """
    result: dict[str, Any] = {
        k: override(v, []) if isinstance(v, dict) else v for k, v in values.items()
    }
    for item in overrides:
        key, sign, text = item.partition("=")
        if not sign or not key:
            raise SettingsError(f"override {item!r} must look like key=value")
        *parents, last = key.split(".")
        place = result
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise SettingsError(f"override {item!r}: {parent!r} is not a group of settings")
        try:
            place[last] = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise SettingsError(f"override {item!r} is not valid YAML: {error}") from error
    return result
