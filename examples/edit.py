"""
Making a graph larger
=====================

Make a graph larger by following the gradient of a predictor of its size: edit.png.
"""

from pathlib import Path

import numpy as np

import grale
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.plot.figures import interpolation_figure, save_figure
from grale.tasks.edit import edit
from grale.tasks.interpolate import follow
from grale.tasks.latent_predictor import fit_predictor
from grale.tasks.properties import named_property

model = grale.load("coloring-10")
graphs = generate_coloring(1_000, COLORING_VARIANTS["coloring10"], seed=7)
size = named_property("size")  # or "logP", "QED", ... for molecules
fitted = fit_predictor(model.encode(graphs), np.array([size(graph) for graph in graphs]))
start = min(graphs, key=size)
path = edit(model, start, fitted.predictor, epsilon=0.01, num_steps=80, true_property=size)
shown = path.records()  # where the size reached a new best value
frames = [step.graph for step in shown]
captions = [f"step {step.step}: size {step.true:.0f}" for step in shown]
save_figure(interpolation_figure(frames, follow(model, frames), captions), Path("edit.png"))
