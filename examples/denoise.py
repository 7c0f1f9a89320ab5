"""
Repairing wrong colours
=======================

Recolour nodes at random and let the model repair them: denoise.png.
"""

from pathlib import Path

import grale
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.experiments.figures.denoising import curve_of
from grale.plot.figures import save_figure
from grale.tasks.denoise import denoise_curve, noise_of

model = grale.load("coloring-10")
graphs = generate_coloring(300, COLORING_VARIANTS["coloring10"], seed=7)
points = denoise_curve(model, graphs, levels=[0.0, 0.1, 0.2, 0.4])
save_figure(curve_of(points, noise_of(model.space)), Path("denoise.png"))
