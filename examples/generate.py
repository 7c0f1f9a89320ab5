"""
New molecules
=============

Draw latents from the prior of `molecules`, decode them, and draw the valid ones: new.png.
"""

from pathlib import Path

import grale
from grale.metrics.generation import why_invalid
from grale.plot.figures import save_figure
from grale.plot.gallery import GalleryRow, gallery_figure
from grale.plot.look import look_of

model = grale.load("molecules")
drawn = model.sample(12, conditions={"size": 20}, seed=1)
valid = [graph for graph in drawn if why_invalid(graph, model.space) is None]
logp = grale.named_property("logP")
rows = [
    GalleryRow("", part, [f"logP {logp(graph):.1f}" for graph in part])
    for part in (valid[start : start + 6] for start in range(0, len(valid), 6))
]
save_figure(gallery_figure(rows, look_of(model.space)), Path("new.png"))
