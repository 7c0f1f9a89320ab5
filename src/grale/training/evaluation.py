"""How well a model gives graphs back (paper: appendix "Graph reconstruction metrics").

Departures: none; the edit distance is an upper bound and is named so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grale.graphs.graph import Graph
from grale.metrics.local_search import ReconstructionReport, reconstruction_report
from grale.model import inference
from grale.model.autoencoder import GRALE


def evaluate(
    model: GRALE,
    graphs: Sequence[Graph],
    batch_size: int = 256,
    at_size: bool = False,
    progress: Callable[[int], object] | None = None,
) -> ReconstructionReport:
    """Reconstruct the graphs and score them; the learned mapping starts the edit search.

    With `at_size` the model is told each graph's number of nodes, so that size errors cost
    nothing: the measure behind the paper's numbers, printed beside the full one.
    """
    outputs: list[Graph] = []
    mappings = []
    for start in range(0, len(graphs), batch_size):
        chunk = list(graphs[start : start + batch_size])
        result = inference.reconstruct(model, chunk, batch_size, at_size)
        outputs += result.graphs
        mappings += result.mappings
        if progress is not None:
            progress(len(chunk))
    return reconstruction_report(graphs, outputs, mappings)
