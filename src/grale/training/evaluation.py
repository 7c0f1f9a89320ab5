"""How well a model reconstructs graphs (paper: appendix "Graph reconstruction metrics").

The edit distance is an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.options import CodecOptions
from grale.codec.reconstruct import RoundTrip, reconstruct
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError
from grale.matching.local_search import reconstruction_distances
from grale.metrics.features import node_feature_errors
from grale.metrics.intervals import Mean, Share
from grale.metrics.reconstruction import ReconstructionReport, reconstruction_report

Key = TypeVar("Key", int, str)


class Outcomes(NamedTuple):
    """The reconstruction of each graph and its errors."""

    graphs: Sequence[Graph]
    predictions: Sequence[Graph]
    distances: Sequence[int]
    """Edit distance (an upper bound); 0 exactly where the graph is reconstructed."""
    feature_errors: Sequence[float] = ()
    """Of each graph the mean error of its nodes' features over their deviations, if it has any."""

    def report(self) -> ReconstructionReport:
        """Averages over all graphs."""
        return reconstruction_report(self.graphs, self.predictions, self.distances)

    def exact(self) -> Share:
        """Share that is reconstructed exactly."""
        return Share(self.distances.count(0), len(self.distances))

    def mean_distance(self) -> Mean:
        """Mean edit distance (an upper bound)."""
        return Mean.of(self.distances)

    def valid(self) -> Share:
        """Share of predictions that are valid molecules."""
        return Share(sum(_is_molecule(graph) for graph in self.predictions), len(self.predictions))

    def inexact(self) -> list[Graph]:
        """Graphs that are not reconstructed exactly, in order."""
        return [graph for graph, distance in zip(self.graphs, self.distances) if distance]

    def with_second_try(self, other: Outcomes) -> Outcomes:
        """Replace the outcomes of `inexact` graphs by those of another reconstruction."""
        again = iter(zip(other.predictions, other.distances))
        first = zip(self.predictions, self.distances)
        chosen = [next(again) if distance else (graph, distance) for graph, distance in first]
        return Outcomes(self.graphs, [graph for graph, _ in chosen], [cost for _, cost in chosen])

    def grouped(self, keys: Sequence[Key]) -> dict[Key, Outcomes]:
        """Outcomes of the graphs with each key; keys in sorted order."""
        if len(keys) != len(self.graphs):
            raise ValueError(f"{len(self.graphs)} graphs but {len(keys)} keys; give one each")
        found: dict[Key, Outcomes] = {}
        for key in sorted(set(keys)):
            rows = [row for row, other in enumerate(keys) if other == key]
            found[key] = Outcomes(
                [self.graphs[row] for row in rows],
                [self.predictions[row] for row in rows],
                [self.distances[row] for row in rows],
            )
        return found


def reconstruct_all(
    model: GraphAutoencoder,
    graphs: Sequence[Graph],
    options: CodecOptions | None = None,
    at_size: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Outcomes:
    """Reconstruct the graphs; the learned mapping starts the search for the edit distance.

    With `at_size`, the model is given each graph's number of nodes, so that size errors cost
    nothing. The paper's numbers are measured in this way.
    """
    options = options or CodecOptions()
    predictions: list[Graph] = []
    distances: list[int] = []
    errors: list[float] = []
    for start in range(0, len(graphs), options.batch_size):
        chunk = list(graphs[start : start + options.batch_size])
        result = reconstruct(model, chunk, options, at_size)
        predictions += result.graphs
        distances += reconstruction_distances(chunk, result.graphs, result.mappings)
        errors += _feature_errors(chunk, result)
        if progress is not None:
            progress(len(chunk))
    return Outcomes(graphs, predictions, distances, errors)


def _feature_errors(graphs: Sequence[Graph], result: RoundTrip) -> list[float]:
    """Mean error of the features of each graph; NaN if no node has a partner."""
    if any(graph.node_features is None or graph.attributes is None for graph in graphs):
        return []
    triples = zip(graphs, result.graphs, result.mappings)
    found = (node_feature_errors(graph, again, places) for graph, again, places in triples)
    return [float(errors.mean()) if errors.size else float("nan") for errors in found]


def evaluate(
    model: GraphAutoencoder,
    graphs: Sequence[Graph],
    options: CodecOptions | None = None,
    at_size: bool = False,
    progress: Callable[[int], object] | None = None,
) -> ReconstructionReport:
    """Reconstruct the graphs and average; arguments as in `reconstruct_all`."""
    return reconstruct_all(model, graphs, options, at_size, progress).report()


def _is_molecule(graph: Graph) -> bool:
    try:
        graph.to_mol()
    except MoleculeError:
        return False
    return True
