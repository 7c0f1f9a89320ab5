"""What can be set: the fields of nested dataclasses with their type, default and meaning.

The meaning is the string written below a field.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints


class Setting(NamedTuple):
    """One thing that can be set."""

    name: str
    """Dotted path, as `--set` takes it."""
    kind: str
    default: str
    meaning: str


def list_settings(cls: type[Any], where: str = "") -> list[Setting]:
    """List all settings of a dataclass and of those nested in it, in the order of the source."""
    hints, meanings = get_type_hints(cls), _meanings(cls)
    found: list[Setting] = []
    for field in fields(cls):
        hint, name = hints[field.name], f"{where}{field.name}"
        if isinstance(hint, type) and is_dataclass(hint):
            found += list_settings(hint, f"{name}.")
            continue
        default = field.default
        if field.default_factory is not MISSING:
            default = field.default_factory()
        shown = "required" if default is MISSING else _shown(default)
        found.append(Setting(name, _kind(hint), shown, meanings.get(field.name, "")))
    return found


def _meanings(cls: type[Any]) -> dict[str, str]:
    """The string below each field of the class body."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in zip(body.body, body.body[1:]):
        if not (isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            found[field.target.id] = " ".join(str(below.value.value).split())
    return found


def _kind(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return " | ".join(get_args(hint))
    inner = [arg for arg in get_args(hint) if arg is not type(None)]
    if inner and type(None) in get_args(hint):
        return " | ".join([*map(_kind, inner), "null"])
    if get_origin(hint) in (tuple, list):
        return f"list of {_kind(inner[0])}"
    return str(getattr(hint, "__name__", hint))


def _shown(value: Any) -> str:
    """The value as YAML writes it."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(list(value)) if isinstance(value, tuple) else str(value)
