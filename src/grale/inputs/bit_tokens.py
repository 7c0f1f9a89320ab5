"""A fingerprint as tokens: the set of its places (Any2Graph, "Fingerprint2Graph").

    tokens = start, then one per place that is set, in ascending order
    token  = embedding of the place + encoding of its rank (+ embedding of its count)

Departures: sets of any size, not of at most 100 places; counts are an option.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor, nn

from grale.inputs.config import ReaderConfig
from grale.inputs.space import InputSpace
from grale.nn.positions import path_encoding

MOST_COUNTS = 16  # told apart; larger ones look like this one
MOST_RANKS = 512  # of the table of encodings; later ranks share the last row


class BitTokens(nn.Module):
    """Bytes of a fingerprint -> tokens and which of them are real."""

    adam_weights: ClassVar = ("places", "counts", "start")
    ranks: Float[Tensor, "R d"]

    def __init__(self, space: InputSpace, config: ReaderConfig) -> None:
        super().__init__()
        self.places = nn.Embedding(space.size, config.dim)
        self.counts = nn.Embedding(MOST_COUNTS + 1, config.dim) if space.kind == "counts" else None
        self.start = nn.Parameter(torch.randn(config.dim))
        table = path_encoding(MOST_RANKS, config.dim)[:MOST_RANKS]
        self.register_buffer("ranks", table, persistent=False)

    def forward(
        self, inputs: UInt8[Tensor, "B w"], turns: Int[Tensor, " B"] | None = None
    ) -> tuple[Float[Tensor, "B M d"], Bool[Tensor, "B M"]]:
        """Tokens padded to the largest set of the batch, and True where they are real."""
        places, is_real = set_places(inputs)
        tokens = self.places(places)
        if self.counts is not None:
            counts = inputs.gather(1, places).long().clamp(max=MOST_COUNTS)
            tokens = tokens + self.counts(counts)
        rank = torch.arange(places.shape[1], device=places.device).clamp(max=len(self.ranks) - 1)
        tokens = (tokens + self.ranks[rank]) * is_real[..., None]
        start = self.start.expand(len(inputs), 1, -1)
        return torch.cat([start, tokens], dim=1), torch.nn.functional.pad(is_real, (1, 0), value=1)


def set_places(
    inputs: UInt8[Tensor, "B w"],
) -> tuple[Int[Tensor, "B M"], Bool[Tensor, "B M"]]:
    """Places above zero of each row, ascending and padded by 0; True where there is one.

    >>> places, is_real = set_places(torch.tensor([[0, 2, 0, 1], [0, 0, 9, 0]], dtype=torch.uint8))
    >>> places.tolist(), is_real.tolist()
    ([[1, 3], [2, 0]], [[True, True], [True, False]])
    """
    row, place = inputs.nonzero(as_tuple=True)
    counts = torch.bincount(row, minlength=len(inputs))
    width = int(counts.max()) if len(counts) else 0
    rank = torch.arange(len(row), device=row.device) - (counts.cumsum(0) - counts)[row]
    places = torch.zeros(len(inputs), width, dtype=torch.long, device=row.device)
    places[row, rank] = place
    is_real = torch.arange(width, device=row.device) < counts[:, None]
    return places, is_real
