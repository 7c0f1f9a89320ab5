"""FGWBary without templates (Brogat-Motte et al. 2022, "input-output kernel").

    l(x)  = (K + n eta I)^-1 k_x                kernel ridge over the training inputs
    G_hat = argmin_G sum_s l_s(x) FGW(G, G_s)   over the training graphs of largest weight

The kernel is Gaussian on the pixels of images, its width the median distance, and Tanimoto on
fingerprints. Nothing is trained by gradients. The largest weights are kept; a
barycentre of negative ones has no minimum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.inputs.space import InputSpace
from grale.rivals.fgwbary.barycentre import barycentre
from grale.rivals.fgwbary.config import FgwbaryConfig
from grale.rivals.fgwbary.model import attributed, logits_of_graphs

Rows = NDArray[np.uint8]
SAMPLED = 500  # inputs whose distances give the width of the Gaussian


class KernelBarycentre:
    """Kernel ridge from inputs to weights of the training graphs."""

    def __init__(
        self,
        inputs: InputSpace,
        space: GraphSpace,
        config: FgwbaryConfig,
        rows: Rows,
        graphs: Sequence[Graph],
    ) -> None:
        if len(rows) != len(graphs) or len(rows) < 2:
            raise ValueError(f"{len(rows)} inputs and {len(graphs)} graphs; give two or more pairs")
        self.space, self.config = space, config
        self.is_image = inputs.is_image
        self.rows = _numbers(rows, inputs)
        self.width = _median_distance(self.rows[:SAMPLED]) if self.is_image else 0.0
        self.graphs = attributed(GraphBatch.from_graphs(graphs), space.num_node_labels)
        self.inputs = inputs
        gram = self.kernel(self.rows) + len(rows) * config.ridge * np.eye(len(rows))
        self.factor = cho_factor(gram)

    def kernel(self, others: NDArray[np.float64]) -> NDArray[np.float64]:
        """Entry (s, x): training input s and another input x."""
        if not self.is_image:
            return tanimoto(self.rows, others)
        return np.exp(-squared_distances(self.rows, others) / (2 * self.width**2))

    def weights_of(self, rows: Rows) -> NDArray[np.float64]:
        """Weights of the training graphs, one row per input."""
        return np.asarray(cho_solve(self.factor, self.kernel(_numbers(rows, self.inputs)))).T

    def predict(self, rows: Rows, sizes: Sequence[int]) -> list[Graph]:
        """Barycentres of the given sizes."""
        found = []
        for weights, size in zip(self.weights_of(rows), sizes):
            best = np.argsort(-weights)[: self.config.num_neighbours]
            best = best[weights[best] > 0] if (weights[best] > 0).any() else best[:1]
            others = [self.graphs[place] for place in best]
            shares = torch.from_numpy(weights[best].clip(min=1e-9)).float()
            config = self.config
            made = barycentre(size, others, shares, config.structure, config.num_rounds)
            found.append(made.graph)
        logits = logits_of_graphs(found, self.space)
        return logits.most_likely(False, torch.as_tensor(list(sizes))).to_graphs()


def squared_distances(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Squared Euclidean distances of all pairs."""
    lengths = (first**2).sum(1)[:, None] + (second**2).sum(1)
    return np.asarray((lengths - 2 * first @ second.T).clip(min=0))


def tanimoto(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shared over joint bits of all pairs; counts by min over max would need more memory.

    >>> tanimoto(np.array([[1.0, 1.0, 0.0]]), np.array([[1.0, 0.0, 0.0]])).tolist()
    [[0.5]]
    """
    shared = first @ second.T
    joint = first.sum(1)[:, None] + second.sum(1) - shared
    return np.asarray(shared / joint.clip(min=1))


def _numbers(rows: Rows, inputs: InputSpace) -> NDArray[np.float64]:
    return rows / 255.0 if inputs.is_image else (rows > 0).astype(np.float64)


def _median_distance(rows: NDArray[np.float64]) -> float:
    distances = np.sqrt(squared_distances(rows, rows))
    return float(np.median(distances[np.triu_indices(len(rows), 1)])) or 1.0
