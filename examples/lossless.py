"""
Vectors that are moved until they decode
========================================

Find vectors that decode to graphs unlike those of training, in a few gradient steps.
"""

import logging
from pathlib import Path

import numpy as np

import grale
from grale.codec.options import CodecOptions
from grale.codec.reconstruct import reconstruct
from grale.data.sources import stream_held_out
from grale.plot.figures import reconstruction_figure, save_figure

logging.basicConfig(level=logging.INFO, format="%(message)s")
model = grale.load("coloring")
rng = np.random.default_rng(0)
graphs = []
for graph in list(
    stream_held_out("coloring20", 24, "test")
):  # planar maps, to which we add two edges
    matrix = graph.label_matrix()
    for _ in range(2):
        a, b = rng.choice(graph.num_nodes, 2, replace=False)
        matrix[a, b] = matrix[b, a] = 1
    graphs.append(grale.Graph.from_label_matrix(graph.node_labels, matrix))

for steps in (0, 16, 128):
    vectors = model.encode(graphs, refine=steps)
    exact = [grale.is_isomorphic(a, b) for a, b in zip(graphs, model.decode(vectors))]
    logging.info(f"{steps:3} steps at most: {sum(exact)} of {len(graphs)} graphs come back exactly")

guess = model.decode(model.encode(graphs))
missed = [graph for graph, again in zip(graphs, guess) if not grale.is_isomorphic(graph, again)][:2]
shown = [*missed, *missed]
found = [reconstruct(model, missed, CodecOptions(refine_steps=steps)) for steps in (0, 128)]
again, mappings = ([*found[0][k], *found[1][k]] for k in (0, 1))
exact = [grale.is_isomorphic(a, b) for a, b in zip(shown, again)]
captions = ["the encoder's vector"] * len(missed) + ["refined"] * len(missed)
figure = reconstruction_figure(shown, again, mappings, captions, exact)
save_figure(figure, Path("lossless.png"))
