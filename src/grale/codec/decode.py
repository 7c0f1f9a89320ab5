"""Rows of latents to graphs and to molecules.

Departures: the paper takes the most likely graph. Here, the next likeliest may replace an invalid
molecule, and a search may find the graph that embeds into the latent (decisions/009).
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

from grale.codec.candidates import likeliest_graphs
from grale.codec.intake import check_latents, decoded_at_once, named, quietly
from grale.codec.logits import GraphLogits
from grale.codec.options import CodecOptions
from grale.codec.search import verified_graphs
from grale.codec.values import with_values
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError, is_molecular

if TYPE_CHECKING:
    from grale.codec.graph_autoencoder import GraphAutoencoder


@quietly
def decode(model: GraphAutoencoder, latents: NDArray[Any], options: CodecOptions) -> list[Graph]:
    """Decode each row; see `GraphAutoencoder.decode`."""
    graphs: list[Graph] = []
    for rows, logits in _logits(model, latents, options.batch_size):
        found = logits.most_likely(model.space.directed)
        likeliest = with_values(found, logits, model.space).to_graphs()
        verified = verified_graphs(model, rows, logits, options)
        pairs = zip(verified, likeliest)
        graphs += [likely if checked is None else checked for checked, likely in pairs]
    return named(graphs, model.space)


@quietly
def decode_smiles(
    model: GraphAutoencoder, latents: NDArray[Any], options: CodecOptions
) -> list[list[str]]:
    """Decode each row to its best molecules; see `GraphAutoencoder.decode_smiles`."""
    if not is_molecular(model.space):
        raise TypeError("this model was not trained on molecules; use decode")
    found: list[list[str]] = []
    tries, candidates = options.molecule_tries * options.candidates, options.candidates
    for rows, logits in _logits(model, latents, options.batch_size):
        for row, first in enumerate(verified_graphs(model, rows, logits, options)):
            best: dict[str, None] = {}
            likeliest = islice(likeliest_graphs(logits, row, directed=False), tries)
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
    """Check all rows, then decode them batch by batch."""
    values = check_latents(latents, model.latent_dim)
    count = decoded_at_once(model, batch_size)
    for start in range(0, len(values), count):
        rows = torch.tensor(values[start : start + count]).to(next(model.parameters()))
        yield rows, model.logits_of(rows)
