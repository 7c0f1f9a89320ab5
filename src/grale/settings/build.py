"""Fill nested frozen dataclasses from plain mappings, strictly.

An unknown key is an error that names the nearest known one; a value of the wrong type is an
error that names the key, the value and what was expected.
"""

from __future__ import annotations

import difflib
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

Settings = TypeVar("Settings")


class SettingsError(ValueError):
    """A setting that does not exist, is missing, or has the wrong type."""


def build(cls: type[Settings], values: Any, where: str = "") -> Settings:
    """Make a `cls` from a mapping; `where` is the dotted path so far, for messages."""
    if not isinstance(values, Mapping):
        raise SettingsError(
            f"{where.rstrip('.') or cls.__name__} must be a mapping, got {values!r}"
        )
    hints = get_type_hints(cls)
    known = {f.name: f for f in fields(cls)}  # type: ignore[arg-type]  # a dataclass
    for key in values:
        if key not in known:
            raise SettingsError(_unknown(f"{where}{key}", key, known))
    for name, f in known.items():
        if name not in values and f.default is MISSING and f.default_factory is MISSING:
            raise SettingsError(f"{where}{name} is missing and has no default")
    converted = {k: _convert(hints[k], v, f"{where}{k}") for k, v in values.items()}
    try:
        return cls(**converted)
    except SettingsError:
        raise
    except ValueError as error:
        raise SettingsError(f"{where}{error}") from error


def _unknown(path: str, key: object, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else f"; known keys: {', '.join(sorted(known))}"
    return f"unknown setting {path!r}{hint}"


def _convert(hint: Any, value: Any, path: str) -> Any:
    if isinstance(hint, type) and is_dataclass(hint):
        return build(hint, value, f"{path}.")
    origin = get_origin(hint)
    if origin is Literal:
        if value not in get_args(hint):
            raise SettingsError(f"{path}={value!r}; expected one of {list(get_args(hint))}")
        return value
    if origin in (Union, types.UnionType):
        if value is None and type(None) in get_args(hint):
            return None
        inner = [arg for arg in get_args(hint) if arg is not type(None)]
        return _convert(inner[0], value, path)
    if origin in (tuple, list):
        if not isinstance(value, list | tuple):
            raise SettingsError(f"{path}={value!r}; expected a list")
        item = get_args(hint)[0]
        return origin(_convert(item, entry, f"{path}[{i}]") for i, entry in enumerate(value))
    return _convert_scalar(hint, value, path)


def _convert_scalar(hint: Any, value: Any, path: str) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if hint is float and (is_number or isinstance(value, str)):
        try:
            return float(value)  # YAML reads 1e-3 as text
        except ValueError:
            pass
    if hint is int and is_number and isinstance(value, int):
        return value
    if hint in (bool, str) and isinstance(value, hint):
        return value
    raise SettingsError(f"{path}={value!r}; expected {getattr(hint, '__name__', hint)}")
