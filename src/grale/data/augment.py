"""Changed copies of training graphs, against overfitting on small sets; not in the paper.

An autoencoder has to give back graphs it has not seen. A few hundred graphs do not show it enough
of them, so a share of the graphs of a pool gets other labels and other edges. The changed graph is
both the input and the target: the model learns to write down more graphs than it was given, and
nothing is asked of it that it cannot know.

    labels   a label is drawn again: as often as it occurs, or all labels equally, half and half
    edges    half of those that change are moved at one end, a quarter is removed, and a quarter
             gets a moved copy next to it
    features are drawn again with the labels, as they occur; an edge keeps its own

Departures: not in the paper (decisions/014).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grale.data.packed import PackedGraphs


@dataclass(frozen=True, kw_only=True)
class AugmentConfig:
    """How training graphs are changed."""

    share: float = 0.0
    """Share of the graphs that are changed, drawn anew in every pass."""
    label_noise: float = 0.15
    """Share of the labels of such a graph that are drawn again."""
    edge_noise: float = 0.15
    """Share of the edges of such a graph that are moved, removed or copied."""

    def __post_init__(self) -> None:
        for name in ("share", "label_noise", "edge_noise"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} must be in [0, 1], got {getattr(self, name)}")


def augmented(pool: PackedGraphs, config: AugmentConfig, rng: np.random.Generator) -> PackedGraphs:
    """Change a share of the graphs; sizes and order stay as they are.

    Properties of a changed graph are no longer known.
    """
    sizes = pool.num_nodes
    is_changed = rng.random(len(pool)) < config.share
    node_owner = np.repeat(np.arange(len(pool)), sizes)
    edge_owner = np.repeat(np.arange(len(pool)), np.diff(pool.edge_offsets))
    nodes = _relabelled(pool.node_labels, is_changed[node_owner], config.label_noise, rng)
    labels = _relabelled(pool.edge_labels, is_changed[edge_owner], config.label_noise, rng)
    noise = np.where(is_changed[edge_owner], np.float64(config.edge_noise), 0.0)
    owner, pairs, rows = _moved(edge_owner, pool.edges, sizes, noise, rng)
    keep = _valid_edges(owner, pairs, int(sizes.max()), pool.directed)
    counts = np.bincount(owner[keep], minlength=len(pool))
    return PackedGraphs(
        pool.node_offsets,
        nodes,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        pairs[keep],
        labels[rows[keep]],
        pool.directed,
        None
        if pool.properties is None
        else np.where(is_changed[:, None], np.float32(np.nan), pool.properties),
        _drawn_again(pool.node_features, is_changed[node_owner], config.label_noise, rng),
        None if pool.edge_features is None else pool.edge_features[rows[keep]],
    )


def _drawn_again(
    features: NDArray[np.float32] | None,
    may_change: NDArray[np.bool_],
    noise: float,
    rng: np.random.Generator,
) -> NDArray[np.float32] | None:
    if features is None:
        return None
    others = features[rng.integers(len(features), size=len(features))]
    changes = may_change & (rng.random(len(features)) < noise)
    return np.where(changes[:, None], others, features)


def _relabelled(
    labels: NDArray[np.integer],
    may_change: NDArray[np.bool_],
    noise: float,
    rng: np.random.Generator,
) -> NDArray[np.integer]:
    if len(labels) == 0:
        return labels
    often = labels[rng.integers(len(labels), size=len(labels))]
    evenly = rng.choice(np.unique(labels), size=len(labels))
    drawn = np.where(rng.random(len(labels)) < 0.5, often, evenly)
    changes = may_change & (rng.random(len(labels)) < noise)
    return np.where(changes, drawn, labels)


def _moved(
    owner: NDArray[np.int64],
    pairs: NDArray[np.integer],
    sizes: NDArray[np.int64],
    noise: NDArray[np.float64],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.integer], NDArray[np.int64]]:
    """Graph, ends and former row of each edge after moves, removals and copies.

    Some may be loops or come twice.
    """
    fate = rng.random(len(owner)) / np.maximum(noise, 1e-12)
    side = rng.integers(2, size=len(owner))
    elsewhere = pairs.copy()
    elsewhere[np.arange(len(owner)), side] = rng.random(len(owner)) * sizes[owner]
    is_moved, is_removed, is_copied = fate < 0.5, (fate >= 0.5) & (fate < 0.75), fate < 1
    is_copied &= fate >= 0.75
    stays = np.where(is_moved[:, None], elsewhere, pairs)[~is_removed]
    rows = np.concatenate([np.flatnonzero(~is_removed), np.flatnonzero(is_copied)])
    return owner[rows], np.concatenate([stays, elsewhere[is_copied]]), rows


def _valid_edges(
    owner: NDArray[np.int64], pairs: NDArray[np.integer], width: int, directed: bool
) -> NDArray[np.int64]:
    """Rows of the edges to keep, in the order of graphs: no loops, none twice.

    The ends of undirected edges are put in order, in place.
    """
    if not directed:
        pairs.sort(axis=1)
    keys = (owner * width + pairs[:, 0]) * width + pairs[:, 1]
    _, first = np.unique(keys, return_index=True)
    return np.asarray(first[pairs[first, 0] != pairs[first, 1]], dtype=np.int64)
