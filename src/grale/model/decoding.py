"""Rows of latents to graphs and to molecules.

Departures: the paper takes the most likely graph; molecules may go on to the next likeliest, and
a search may find the graph that embeds into the latent (decisions/009).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from grale.graphs.graph import Graph
from grale.graphs.molecule import MoleculeError, is_molecular
from grale.model.candidates import likeliest_graphs
from grale.model.decoder import GraphLogits
from grale.model.inference import check_batch_size, check_latents, quietly
from grale.model.search import check_search, verified_graphs

if TYPE_CHECKING:
    from grale.model.graph_autoencoder import GraphAutoencoder


@quietly
def decode(
    model: GraphAutoencoder, latents: NDArray[Any], batch_size: int, search: int
) -> list[Graph]:
    """Decode each row; see `GraphAutoencoder.decode`."""
    check_search(search)
    graphs: list[Graph] = []
    for rows, logits in _logits(model, latents, batch_size):
        likeliest = logits.most_likely(model.space.directed).to_graphs()
        verified = verified_graphs(model, rows, logits, search, batch_size)
        graphs += [first if found is None else found for found, first in zip(verified, likeliest)]
    return graphs


@quietly
def decode_smiles(
    model: GraphAutoencoder,
    latents: NDArray[Any],
    batch_size: int,
    candidates: int,
    tries: int,
    search: int,
) -> list[list[str]]:
    """Decode each row to its best molecules; see `GraphAutoencoder.decode_smiles`."""
    if not is_molecular(model.space):
        raise TypeError("this model's labels are not atoms and bonds; use decode")
    if candidates < 1 or tries < 1:
        raise ValueError(f"candidates={candidates} and tries={tries} must be at least 1")
    check_search(search)
    found: list[list[str]] = []
    for rows, logits in _logits(model, latents, batch_size):
        for row, first in enumerate(verified_graphs(model, rows, logits, search, batch_size)):
            best: dict[str, None] = {}
            likeliest = islice(likeliest_graphs(logits, row, directed=False), tries * candidates)
            for graph in chain([] if first is None else [first], likeliest):
                with suppress(MoleculeError):
                    best[graph.to_smiles()] = None
                if len(best) == candidates:
                    break
            found.append(list(best))
    return found


def _logits(
    model: GraphAutoencoder, latents: NDArray[Any], batch_size: int
) -> Iterator[tuple[Float[Tensor, "B Z"], GraphLogits]]:
    """Decode the rows, a batch at a time, after checking all of them."""
    check_batch_size(batch_size)
    values = check_latents(latents, model.latent_dim)
    for start in range(0, len(values), batch_size):
        rows = torch.tensor(values[start : start + batch_size]).to(next(model.parameters()))
        yield rows, model.logits_of(rows)
