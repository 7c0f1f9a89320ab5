"""A file of molecules, three of which fail, and how tests embed it."""

from __future__ import annotations

from grale.tasks.embed import EmbedConfig, embed_file

ROWS = ["CCO", "", "c1ccccc1", "xyz", "C" * 11, "CC(=O)O", "CCN", "C", "CC#N", "OCC"]
FAILED = [1, 3, 4]


def embed(model, source, out, progress=None, **settings):
    config = EmbedConfig(**{"shard_rows": 3, "batch_size": 2} | settings)
    return embed_file(model, "tiny", source, out, config, progress)
