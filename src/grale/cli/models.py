"""`grale models`: the models that come with the package."""

from __future__ import annotations

import textwrap
from pathlib import Path


def models() -> None:
    """List the shipped models with their sizes and what they hold."""
    from grale.catalog import SHIPPED, shipped_models
    from grale.cli.terminal import show
    from grale.codec.storage import WEIGHTS, read_config
    from grale.model.config import ModelConfig

    rows = [["name", "graphs of up to", "embedding", "MB", "what it does"]]
    for name in shipped_models():
        space, config = read_config(SHIPPED / name, "grale", ModelConfig)
        megabytes = (SHIPPED / name / WEIGHTS).stat().st_size / 1e6
        rows.append([
            name, f"{space.max_nodes} nodes", str(config.num_tokens * config.token_dim),
            f"{megabytes:.1f}", _first_words(SHIPPED / name / "README.md"),
        ])  # fmt: skip
    show("grale.load(NAME); the card is README.md in its folder", rows)


def _first_words(card: Path) -> str:
    """Beginning of a card's first paragraph."""
    _, paragraph, *_ = card.read_text(encoding="utf-8").split("\n\n")
    return textwrap.shorten(paragraph, 44, placeholder=" ...")
