"""Vectors that give their graphs back: what the encoder's guess misses, a few steps find."""

import logging

import grale
from grale.data.sources import held_out_graphs

logging.basicConfig(level=logging.INFO, format="%(message)s")
model = grale.load("coloring")
graphs = held_out_graphs("coloring20", 24, "test")
for steps in (0, 16, 128):
    vectors = model.encode(graphs, refine=steps)
    exact = sum(grale.is_isomorphic(a, b) for a, b in zip(graphs, model.decode(vectors)))
    logging.info(f"{steps:3} steps at most: {exact} of {len(graphs)} graphs come back exactly")
