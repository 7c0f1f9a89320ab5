"""
Which node plays which
======================

Match the nodes of two graphs, list the edits between them, and draw both: match.png.
"""

import logging
from pathlib import Path

import grale
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.plot.figures import reconstruction_figure, save_figure

logging.basicConfig(level=logging.INFO, format="%(message)s")
model = grale.load("coloring-10")
first, second = generate_coloring(2, COLORING_VARIANTS["coloring10"], seed=11)
match = model.match(first, second)
logging.info("at most %d edits:", match.edit_distance)
for edit in match.edits:
    logging.info("  %s", edit)
figure = reconstruction_figure(
    [first], [second], [match.mapping], [f"at most {match.edit_distance} edits"]
)
save_figure(figure, Path("match.png"))
