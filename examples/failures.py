"""
The worst reconstructions
=========================

The worst reconstructions, with the symmetries of their nodes: failures.png.
"""

from pathlib import Path

import grale
from grale.data.molecules.library import library_graphs
from grale.experiments.figures.failures import orbit_texts
from grale.plot.figures import reconstruction_figure, save_figure
from grale.plot.molecule_look import MoleculeLook
from grale.tasks.failures import worst_reconstructions

model = grale.load("molecules-attention")
found = worst_reconstructions(model, library_graphs(300), count=5)
figure = reconstruction_figure(
    [failure.graph for failure in found],
    [failure.reconstruction for failure in found],
    [failure.mapping for failure in found],
    [f"{failure.edit_distance} edits" for failure in found],
    look=MoleculeLook(orbit_texts),
)
save_figure(figure, Path("failures.png"))
