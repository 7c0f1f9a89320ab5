"""Turn graphs into vectors and back, and draw both: reconstructions.png."""

from pathlib import Path

import grale
from grale.data.coloring import COLORING_VARIANTS, generate_coloring
from grale.model.reconstruction import reconstruct
from grale.plot.figures import reconstruction_figure, save_figure

model = grale.load("coloring-10")
graphs = generate_coloring(6, COLORING_VARIANTS["coloring10"], seed=2026)
result = reconstruct(model, graphs, batch_size=6)
exact = [grale.is_isomorphic(a, b) for a, b in zip(graphs, result.graphs)]
captions = ["exact" if same else "differs" for same in exact]
figure = reconstruction_figure(graphs, result.graphs, result.mappings, captions, exact)
save_figure(figure, Path("reconstructions.png"))
