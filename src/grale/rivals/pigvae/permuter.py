"""Permuter of PIGVAE: node states -> ranks (Winter et al. 2021, "Permuter").

    s_i  = Linear(m_ii + 0.05 noise_i)
    P_ir = SoftSort(s)_ri                        node x rank; columns sum to one

Departures: padded scores are so far below the others that real nodes and padding share no mass (in
the original they are 1 below, so that padding changes P). At inference, the noise follows a node's
canonical position (decisions/003), and P is replaced by its Hungarian projection, which for
SoftSort is the order of the scores. The original takes the largest entry of each row, which is the
same unless scores tie.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import one_hot

from grale.graphs.batch import GraphBatch
from grale.graphs.canonical import by_canonical_position
from grale.graphs.space import GraphSpace
from grale.nn.attention import full_precision
from grale.rivals.pigvae.config import PigvaeConfig
from grale.transport.softsort import soft_sort

PADDING_GAP = 1000.0  # in temperatures: exp(-1000) is zero even in float64


class Permuter(nn.Module):
    """Orders the nodes of a graph by a learned score."""

    adam_weights: ClassVar = ("score",)

    noise_table: Float[Tensor, "N d"]

    def __init__(self, space: GraphSpace, config: PigvaeConfig) -> None:
        super().__init__()
        self.score = nn.Linear(config.message_dim, 1)
        self.noise_std, self.temperature = config.noise_std, config.temperature
        generator = torch.Generator().manual_seed(config.noise_seed)
        table = torch.randn(space.max_nodes, config.message_dim, generator=generator)
        self.register_buffer("noise_table", table, persistent=False)

    def forward(
        self,
        nodes: Float[Tensor, "B N d"],
        node_mask: Bool[Tensor, "B N"],
        noise: Float[Tensor, "B N d"],
    ) -> Float[Tensor, "B N N"]:
        """Soft permutation; row i holds the ranks of node i. Padding comes last, in order."""
        scores = self._scores(nodes, node_mask, noise)
        soft = soft_sort(scores, self.temperature).transpose(1, 2)
        last = one_hot(_padding_last(node_mask), node_mask.shape[1]).to(soft.dtype)
        return torch.where(node_mask[..., None], soft, last)

    def hard(self, nodes: Float[Tensor, "B N d"], graphs: GraphBatch) -> Int[Tensor, "B N"]:
        """permutation[i] is the rank of node i; padding comes last, in order."""
        scores = self._scores(nodes, graphs.node_mask, self._canonical_noise(graphs))
        return scores.argsort(dim=1, descending=True, stable=True).argsort(dim=1)

    def _scores(
        self,
        nodes: Float[Tensor, "B N d"],
        node_mask: Bool[Tensor, "B N"],
        noise: Float[Tensor, "B N d"],
    ) -> Float[Tensor, "B N"]:
        scores = full_precision(self.score(nodes + self.noise_std * noise)[..., 0])
        lowest = scores.detach().masked_fill(~node_mask, torch.inf).amin(dim=1, keepdim=True)
        return torch.where(node_mask, scores, lowest - 1 - PADDING_GAP * self.temperature)

    def _canonical_noise(self, graphs: GraphBatch) -> Float[Tensor, "B N d"]:
        if self.noise_std == 0:
            return self.noise_table.new_zeros(*graphs.node_mask.shape, self.noise_table.shape[1])
        return by_canonical_position(self.noise_table, graphs)


def _padding_last(node_mask: Bool[Tensor, "B N"]) -> Int[Tensor, "B N"]:
    """Position of each column after padding is moved behind the real nodes."""
    return (~node_mask).long().argsort(dim=1, stable=True).argsort(dim=1)
