"""`grale models`: the models that come with the package."""

from __future__ import annotations


def models() -> None:
    """List the shipped models with their sizes and what they hold."""
    from grale.catalog import SHIPPED, shipped_models
    from grale.cli.terminal import console, table
    from grale.model.config import ModelConfig
    from grale.model.storage import WEIGHTS, read_config

    rows = [["name", "graphs of up to", "embedding", "MB"]]
    for name in shipped_models():
        space, config = read_config(SHIPPED / name, "grale", ModelConfig)
        megabytes = (SHIPPED / name / WEIGHTS).stat().st_size / 1e6
        rows.append([
            name, f"{space.max_nodes} nodes", str(config.num_tokens * config.token_dim),
            f"{megabytes:.1f}",
        ])  # fmt: skip
    console.print(table("grale.load(NAME); the card is README.md in its folder", rows))
