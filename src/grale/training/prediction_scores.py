"""How well graphs are predicted (paper: "Graph prediction"; Any2Graph, "Evaluation").

    at the true size     the n likeliest nodes, n told: size errors cost nothing (the paper's way)
    free                 the model decides how many nodes there are: size errors cost

Edges may be compared with or without their labels: Fingerprint2Graph has no bond types.
Distances are upper bounds, exactness is exact.
"""

from __future__ import annotations

from collections.abc import Callable

from grale.codec.graph_predictor import GraphPredictor
from grale.data.packed import PackedGraphs
from grale.data.pairs import without_edge_labels
from grale.graphs.graph import Graph
from grale.matching.local_search import reconstruction_distances
from grale.training.evaluation import Outcomes

BATCH = 256


def score_predictions(
    model: GraphPredictor,
    pairs: PackedGraphs,
    at_size: bool = False,
    edge_labels: bool | None = None,
    progress: Callable[[int], object] | None = None,
) -> Outcomes:
    """Predict the graphs of some inputs, and compare.

    Without `edge_labels`, edges are compared by their presence alone; None if the model cannot do
    better.
    """
    assert pairs.inputs is not None
    targets = pairs.graphs()
    sizes = [graph.num_nodes for graph in targets] if at_size else None
    found = model.predict(pairs.inputs, BATCH, sizes=sizes, progress=progress)
    predictions = [graph for graph in found if graph is not None]
    return compare(targets, predictions, model.predicts_edge_labels and edge_labels is not False)


def compare(targets: list[Graph], predictions: list[Graph], edge_labels: bool = True) -> Outcomes:
    """Edit distances of predictions, with or without the labels of edges."""
    if not edge_labels:
        targets, predictions = (without_edge_labels(each) for each in (targets, predictions))
    distances = reconstruction_distances(targets, predictions)
    return Outcomes(targets, predictions, distances)
