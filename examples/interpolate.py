"""
From one graph to another
=========================

Walk on the straight line between two vectors, decode each step, and draw: interpolation.png.
"""

from pathlib import Path

import grale
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.plot.figures import interpolation_figure, save_figure
from grale.tasks.interpolate import interpolate

model = grale.load("coloring-10")
first, second = generate_coloring(2, COLORING_VARIANTS["coloring10"], seed=7)
path = interpolate(model, first, second, steps=7)
captions = [f"t = {t:.2f}" for t in path.positions]
figure = interpolation_figure(path.graphs, path.mappings, captions)
save_figure(figure, Path("interpolation.png"))
