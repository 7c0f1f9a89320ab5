"""Training settings that experiments start from: those of a file, or smaller for a smoke run.

The rivals have the same depth, number of heads and length of the latent.
"""

from __future__ import annotations

from typing import Any, Literal

from grale.settings.files import merged, read_settings

Scale = Literal["smoke", "cpu", "paper"]
RECIPES = {
    ("coloring", "paper"): "coloring20",
    ("molecules", "paper"): "pubchem16",
    ("coloring", "cpu"): "coloring10",
    ("molecules", "cpu"): "pool16",
}


def recipe(data: Literal["coloring", "molecules"], scale: Scale) -> dict[str, Any]:
    """Settings to start from on a dataset at a scale."""
    return at_scale(RECIPES[data, "paper" if scale == "paper" else "cpu"], scale)


def at_scale(name: str, scale: Scale) -> dict[str, Any]:
    """Settings of a file; at the scale "smoke", reduced to a few seconds."""
    values = read_settings(name)
    return merged(values, read_settings("tiny")) if scale == "smoke" else values
