"""`grale models`: the models that come with the package."""

from __future__ import annotations

import re
from pathlib import Path

LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\[])")


def models() -> None:
    """List the shipped models with their versions, their sizes and what they do."""
    from grale.catalog import shipped_versions
    from grale.cli.terminal import say, show
    from grale.codec.identity import SHORT
    from grale.codec.storage import WEIGHTS, read_config, read_identity
    from grale.model.config import ModelConfig

    rows = [["model", "fingerprint", "graphs of up to", "embedding", "MB"]]
    for model in shipped_versions():
        space, config = read_config(model.folder, "grale", ModelConfig)
        megabytes = (model.folder / WEIGHTS).stat().st_size / 1e6
        rows.append([
            f"{model.name}@{model.version}", read_identity(model.folder).fingerprint[:SHORT],
            f"{space.max_nodes} nodes", str(config.num_tokens * config.token_dim),
            f"{megabytes:.1f}",
        ])  # fmt: skip
    show("grale.load(NAME), or grale.load(NAME@VERSION)", rows)
    for model in shipped_versions():
        say(f"{model.name}@{model.version}: {first_sentence(model.folder / 'README.md')}")
    say("The whole card of a model is README.md in its folder.")


def first_sentence(card: Path) -> str:
    """First sentence of a card, on one line; links become their text."""
    _, paragraph, *_ = card.read_text(encoding="utf-8").split("\n\n")
    plain = LINK.sub(r"\1", " ".join(paragraph.split()))
    return SENTENCE_END.split(plain, maxsplit=1)[0]
