"""
The mean of many graphs
=======================

The mean of many graphs, decoded: barycenter.png.
"""

from pathlib import Path

import grale
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.plot.figures import interpolation_figure, save_figure
from grale.tasks.interpolate import barycenter

model = grale.load("coloring-10")
graphs = generate_coloring(500, COLORING_VARIANTS["coloring10"], seed=7)
everyone = barycenter(model, iter(graphs))  # a stream is read piece by piece
larger = barycenter(model, graphs, weights=[float(graph.num_nodes) ** 4 for graph in graphs])
captions = ["one", "another", "mean of 500", "mean, large ones weigh more"]
figure = interpolation_figure([*graphs[:2], everyone.graph, larger.graph], captions=captions)
save_figure(figure, Path("barycenter.png"))
