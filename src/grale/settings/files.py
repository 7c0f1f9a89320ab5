"""Settings from YAML files, and `key=value` overrides from the command line.

A file holds only what differs from the defaults, or from the file that it `extends`. Files that
ship with the package can be given by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml

from grale.settings.build import SettingsError, build

Settings = TypeVar("Settings")
SHIPPED = Path(__file__).resolve().parent / "configs"
EXTENDS = "extends"
LARGEST_FILE = 1_000_000  # bytes; settings are a page long
DEEPEST = 20  # levels of nesting, and of files that extend each other


def shipped_settings() -> list[str]:
    """Names of the files of settings that come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def load_settings(cls: type[Settings], name: str | Path, overrides: Sequence[str] = ()) -> Settings:
    """Read a file of settings by its path or its name, apply overrides, and check."""
    return build(cls, override(read_settings(name), overrides))


def read_settings(name: str | Path) -> dict[str, Any]:
    """Values of a file and of all files it extends, unchecked."""
    return _read(_find(name), [])


def _find(name: str | Path, beside: Path | None = None) -> Path:
    """Path of a file of settings: an existing file, or the shipped one of that name."""
    path = Path(name) if beside is None else beside / name
    shipped = SHIPPED / f"{name}.yaml"
    for candidate in (path, path.with_name(f"{path.name}.yaml"), shipped):
        if candidate.is_file() and candidate.suffix in (".yaml", ".yml"):
            return candidate
    known = ", ".join(shipped_settings())
    raise SettingsError(f"no settings file at {path}, and none of that name ships: {known}")


def _read(path: Path, before: list[Path]) -> dict[str, Any]:
    if path in before or len(before) > DEEPEST:
        chain = " extends ".join(str(file) for file in [*before, path])
        raise SettingsError(f"settings files extend each other in a loop or too deep: {chain}")
    if path.stat().st_size > LARGEST_FILE:
        raise SettingsError(f"{path} is larger than {LARGEST_FILE} bytes; it cannot be settings")
    try:
        values = _parsed(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid YAML: {error}") from error
    values = {} if values is None else values
    if not isinstance(values, dict):
        raise SettingsError(f"{path} must hold a mapping of settings, got {type(values).__name__}")
    for key in _keys(values):
        if not isinstance(key, str):
            raise SettingsError(f"{path}: setting names must be text, got {key!r}")
    extended = values.pop(EXTENDS, None)
    if extended is None:
        return values
    if not isinstance(extended, str):
        raise SettingsError(f"{path}: {EXTENDS} must name one file, got {extended!r}")
    return merged(_read(_find(extended, path.parent), [*before, path]), values)


def _keys(values: Any) -> Iterator[Any]:
    """All keys, at any depth."""
    if isinstance(values, dict):
        yield from values
        values = list(values.values())
    if isinstance(values, list):
        for value in values:
            yield from _keys(value)


def _parsed(text: str) -> Any:
    """Read YAML that is not too deep and repeats nothing by reference, or raise a YAMLError."""
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise yaml.YAMLError(f"nested more than {DEEPEST} levels deep")
        if isinstance(event, yaml.AliasEvent):  # a few lines of them may stand for gigabytes
            raise yaml.YAMLError(f"*{event.anchor}: references are not supported; write it out")
    return yaml.safe_load(text)


def merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Apply changes to values, group by group.

    >>> merged({"model": {"norm": "post", "num_layers": 5}}, {"model": {"norm": "pre"}})
    {'model': {'norm': 'pre', 'num_layers': 5}}
    """
    result = dict(values)
    for key, change in changes.items():
        both = isinstance(change, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], change) if both else change
    return result


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
            place[last] = _parsed(text)
        except yaml.YAMLError as error:
            raise SettingsError(f"override {item!r} is not valid YAML: {error}") from error
    return result
