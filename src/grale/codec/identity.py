"""Which model made a vector: its name, its version, and a checksum of its settings and weights.

A model that was loaded keeps what its `config.json` says, as long as nobody changes its weights. A
model that was trained, changed or built by hand has a fingerprint of its own and no version.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from hashlib import sha256
from importlib import metadata
from typing import Any, NamedTuple

import torch
from torch import nn

UNNAMED = "a model without a name"
SHORT = 12  # digits of a fingerprint that are shown


class Identity(NamedTuple):
    """What tells a model from others."""

    name: str | None
    version: str | None
    """Weights under one name and version never change."""
    fingerprint: str
    """Checksum of settings and weights, 64 digits."""

    def called(self, name: str | None = None) -> str:
        """Name, version and the first digits of the fingerprint.

        >>> Identity("molecules", "1", "0123456789abcdef").called()
        'molecules@1 (0123456789ab)'
        >>> Identity(None, None, "0123456789abcdef").called("runs/mine")
        'runs/mine (0123456789ab)'
        """
        known = self.name or name or UNNAMED
        version = f"@{self.version}" if self.version else ""
        return f"{known}{version} ({self.fingerprint[:SHORT]})"


class Origin(NamedTuple):
    """What a model was when it was loaded."""

    identity: Identity
    contents: str
    """Fingerprint as this version of the package computes it."""


def identity_of(model: nn.Module) -> Identity:
    """Identity that the model was loaded with, or a new one if it has changed since."""
    contents = fingerprint(model)
    origin = model.__dict__.get("origin")
    if origin is not None and origin.contents == contents:
        known: Identity = origin.identity
        return known
    return Identity(None, None, contents)


def fingerprint(model: Any) -> str:
    """Checksum of settings and weights: equal exactly when both are.

    Settings that have their default value are left out, so that a new setting with a default does
    not change the fingerprints of older models.
    """
    settings = {
        "architecture": model.architecture,
        "space": differences(model.space),
        "config": differences(model.config),
    }
    return checksum_of_weights(model, json.dumps(settings, sort_keys=True))


def checksum_of_weights(part: nn.Module, settings: str = "") -> str:
    """Checksum of the names, types, shapes and values of all weights, and of a text before them."""
    digest = sha256(settings.encode())
    for name, weight in sorted(part.state_dict().items()):
        digest.update(f"{name} {weight.dtype} {tuple(weight.shape)}".encode())
        flat = weight.detach().cpu().contiguous().reshape(-1)
        digest.update(flat.view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def differences(settings: Any) -> Any:
    """Settings that differ from the defaults of their class; other values stay as they are."""
    if not dataclasses.is_dataclass(settings):
        return settings
    found = {}
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if value != _default(field):
            found[field.name] = differences(value)
    return found


def _default(field: dataclasses.Field[Any]) -> Any:
    """Default of a field; a field without one differs from it, whatever its value is."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def provenance(model: nn.Module, name: str, reading: str) -> dict[str, str | None]:
    """What an output says about the model it was made with, under the name it was asked for.

    `reading` is "latent" (vectors that decode), "description" (vectors to compare), "both",
    "matching", or "prior" (graphs that were drawn).
    """
    known = identity_of(model)
    return {
        "model": known.name or name,
        "version": known.version,
        "fingerprint": known.fingerprint,
        "grale": metadata.version("grale"),
        "reading": reading,
    }


def told(made_with: Mapping[str, Any]) -> str:
    """What :func:`provenance` has found, in a few words for a heading.

    >>> made_by = {"model": "m", "version": "1", "fingerprint": "0" * 64}
    >>> told(made_by | {"grale": "2", "reading": "both"})
    'm@1 (000000000000), both, grale 2'
    """
    made_by = identity_in(dict(made_with))
    called = made_by.called() if made_by else str(made_with["model"])
    return f"{called}, {made_with['reading']}, grale {made_with['grale']}"


def identity_in(values: Any) -> Identity | None:
    """Identity in what :func:`provenance` has written; None if there is none."""
    if not isinstance(values, dict) or not isinstance(values.get("fingerprint"), str):
        return None
    name, version = (values.get(key) for key in ("model", "version"))
    return Identity(
        str(name) if name else None, str(version) if version else None, values["fingerprint"]
    )


def is_same(theirs: str, ours: str) -> bool:
    """Compare fingerprints; the first digits, as `grale models` prints them, are enough.

    >>> is_same("0123456789ab", "0123456789abcdef"), is_same("0123", "0123456789abcdef")
    (True, False)
    """
    return len(theirs) >= SHORT and ours.startswith(theirs)


def check_same_model(model: nn.Module, made_by: Identity | None, where: str) -> None:
    """Raise, naming both models, if vectors were made by another one; unknown ones pass."""
    if made_by is None:
        return
    ours = identity_of(model)
    if made_by.fingerprint != ours.fingerprint:
        raise ValueError(
            f"{where} holds vectors of {made_by.called()}, but the model is {ours.called()}; "
            "use the model that made them, or embed again"
        )
