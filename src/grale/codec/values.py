"""Continuous features in the units of a model, and back (decisions/014).

    value = VALUE_SCALE (feature - mean) / deviation

Values are the last channels of the continuous parts of F and C, after diffused labels and encoded
paths, so they have their place in the L2 terms of the paper's loss. The scale is their weight
there: diffused labels help learning, but features are wanted for themselves.
"""

from __future__ import annotations

from dataclasses import replace

from jaxtyping import Float
from torch import Tensor

from grale.codec.logits import GraphLogits
from grale.graphs.attributes import Features
from grale.graphs.batch import GraphBatch
from grale.graphs.space import GraphSpace

VALUE_SCALE = 5.0


def node_values(graphs: GraphBatch, space: GraphSpace) -> Float[Tensor, "B N f"] | None:
    """Features of nodes in the units of the model; zero on padding."""
    known = space.attributes and space.attributes.node_features
    if not known:
        return None
    if graphs.node_features is None:
        raise ValueError(f"the graphs have no node features, but {len(known)} are expected")
    return _standard(graphs.node_features, known) * graphs.node_mask[..., None]


def edge_values(graphs: GraphBatch, space: GraphSpace) -> Float[Tensor, "B N N g"] | None:
    """Features of edges in the units of the model; zero where there is no edge."""
    known = space.attributes and space.attributes.edge_features
    if not known:
        return None
    if graphs.edge_features is None:  # a batch of graphs without edges
        return graphs.node_mask.new_zeros((*graphs.edge_labels.shape, len(known))).float()
    return _standard(graphs.edge_features, known) * graphs.adjacency[..., None]


def with_values(found: GraphBatch, logits: GraphLogits, space: GraphSpace) -> GraphBatch:
    """Decoded graphs with their continuous features, in the units of the data."""
    known = space.attributes
    if known is None or (known.node_features is None and known.edge_features is None):
        return found
    on_nodes, on_edges = found.node_features, found.edge_features
    if known.node_features is not None:
        values = _in_units(logits.node_feature, known.node_features)
        on_nodes = values * found.node_mask[..., None]
    if known.edge_features is not None:
        values = _in_units(logits.edge_feature, known.edge_features)
        on_edges = values * found.adjacency[..., None]
    return replace(found, node_features=on_nodes, edge_features=on_edges)


def _standard(features: Tensor, known: Features) -> Tensor:
    mean, deviation = _spread(features, known)
    return (features - mean) / deviation * VALUE_SCALE


def _in_units(values: Tensor, known: Features) -> Tensor:
    values = values[..., values.shape[-1] - len(known) :]
    mean, deviation = _spread(values, known)
    return values / VALUE_SCALE * deviation + mean


def _spread(like: Tensor, known: Features) -> tuple[Tensor, Tensor]:
    return like.new_tensor(known.means), like.new_tensor(known.deviations)
