"""
Graphs in and out
=================

Turn graphs into vectors and back, and draw both: reconstructions.png.
"""

from pathlib import Path

import grale
from grale.codec.reconstruct import reconstruct
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.plot.figures import reconstruction_figure, save_figure

model = grale.load("coloring-10")
graphs = generate_coloring(6, COLORING_VARIANTS["coloring10"], seed=2026)
result = reconstruct(model, graphs)
exact = [grale.is_isomorphic(a, b) for a, b in zip(graphs, result.graphs)]
captions = ["exact" if same else "differs" for same in exact]
figure = reconstruction_figure(graphs, result.graphs, result.mappings, captions, exact)
save_figure(figure, Path("reconstructions.png"))
