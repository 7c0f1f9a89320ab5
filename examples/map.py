"""
A map of graphs
===============

A map of molecules by logP, as a picture and as a page to point at: map.png, map.html.
"""

from pathlib import Path

import grale
from grale.data.molecules.library import library_graphs
from grale.experiments.figures.map import dataset_map, map_picture, write_map
from grale.plot.figures import save_figure

model = grale.load("molecules")
found = dataset_map(model, library_graphs(300), ["logP", "size"])
save_figure(map_picture(found).figure, Path("map.png"))
write_map(model, found, Path("map.html"), "A virtual library")
