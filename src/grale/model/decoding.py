"""Rows of latents to graphs and to molecules.

Departures: the paper takes the most likely graph; molecules may go on to the next likeliest.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from grale.graphs.graph import Graph
from grale.graphs.molecule import MoleculeError, is_molecular
from grale.model.candidates import likeliest_graphs
from grale.model.decoder import GraphLogits
from grale.model.inference import check_batch_size, quietly

if TYPE_CHECKING:
    from grale.model.graph_autoencoder import GraphAutoencoder


@quietly
def decode(model: GraphAutoencoder, latents: NDArray[Any], batch_size: int) -> list[Graph]:
    """Decode each row; see `GraphAutoencoder.decode`."""
    graphs: list[Graph] = []
    for logits in _logits(model, latents, batch_size):
        graphs += logits.most_likely(model.space.directed).to_graphs()
    return graphs


@quietly
def decode_smiles(
    model: GraphAutoencoder, latents: NDArray[Any], batch_size: int, candidates: int, tries: int
) -> list[list[str]]:
    """Decode each row to its best molecules; see `GraphAutoencoder.decode_smiles`."""
    if not is_molecular(model.space):
        raise TypeError("this model's labels are not atoms and bonds; use decode")
    if candidates < 1 or tries < 1:
        raise ValueError(f"candidates={candidates} and tries={tries} must be at least 1")
    found: list[list[str]] = []
    for logits in _logits(model, latents, batch_size):
        for row in range(len(logits.node_mask)):
            best: dict[str, None] = {}
            for graph in islice(likeliest_graphs(logits, row, directed=False), tries):
                with suppress(MoleculeError):
                    best[graph.to_smiles()] = None
                if len(best) == candidates:
                    break
            found.append(list(best))
    return found


def _logits(
    model: GraphAutoencoder, latents: NDArray[Any], batch_size: int
) -> Iterator[GraphLogits]:
    """Decode the rows, a batch at a time, after checking all of them."""
    check_batch_size(batch_size)
    values = np.asarray(latents, dtype=np.float32)
    if values.ndim != 2 or values.shape[1] != model.latent_dim:
        raise ValueError(f"expected latents of shape (n, {model.latent_dim}), got {values.shape}")
    broken = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(broken):
        raise ValueError(f"row {broken[0]} of the latents is not finite; leave such rows out")
    for start in range(0, len(values), batch_size):
        rows = torch.tensor(values[start : start + batch_size])
        yield model.logits_of(rows.to(next(model.parameters())))
