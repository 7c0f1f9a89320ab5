"""Layers of PIGVAE: a state for every ordered pair of nodes (Winter et al. 2021, "Model").

    M^0_ij = Norm(Dropout(Linear[pair_ij, end_i, end_j]))
    M_ij  <- FFB(AB(M)_ij),  AB(M)_ij = MHA(q[M_ij], {k[M_ci]}, {v[M_ci]}),  c not in {i, j}

Message (i, j) reads the messages that come in at i; the diagonal (i, i) holds the state of node
i. Cost O(N^3). A message with nothing to read (too few nodes) reads zero.

Departures: a head has width d / H. Dropout is on the output of blocks, not on attention weights.
Pre-norm is an option besides the original's post-norm.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import linear

from grale.nn.attention import MASKED, attend, join_heads, split_heads
from grale.nn.feedforward import FeedForward
from grale.nn.recompute import RecomputingStack
from grale.nn.residual import Residual, final_norm
from grale.rivals.pigvae.config import PigvaeConfig


class Incoming(NamedTuple):
    """Which messages (c, i) the message (i, j) may read; the same for all layers."""

    bias: Float[Tensor, "R 1 N N"]
    """0 where it may, MASKED elsewhere; one row for each (graph, i), then j, then c."""
    exists: Float[Tensor, "B N N 1"]
    """1 where (i, j) has something to read."""


def incoming(node_mask: Bool[Tensor, "B N"], dtype: torch.dtype) -> Incoming:
    """Allow every real c that is neither i nor j."""
    others = ~torch.eye(node_mask.shape[1], dtype=torch.bool, device=node_mask.device)
    allowed = node_mask[:, None, None, :] & others[:, None, :] & others
    bias = torch.zeros(allowed.shape, dtype=dtype, device=allowed.device)
    bias = bias.masked_fill(~allowed, MASKED).flatten(0, 1)[:, None]
    return Incoming(bias, allowed.any(dim=3, keepdim=True).to(dtype))


class MessageAttention(nn.Module):
    """Message (i, j) attends to the messages (c, i)."""

    def __init__(self, dim: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(dim, dim, bias=False)
        self.key = nn.Linear(dim, dim, bias=False)
        self.value = nn.Linear(dim, dim, bias=False)
        self.combine = nn.Linear(dim, dim, bias=False)

    def forward(
        self, messages: Float[Tensor, "B N N d"], readable: Incoming
    ) -> Float[Tensor, "B N N d"]:
        """Ordinary attention for each (graph, i): queries over j, keys and values over c."""
        arriving = messages.transpose(1, 2).contiguous()
        queries, keys, values = (
            split_heads(part.flatten(0, 1), self.num_heads)
            for part in (self.query(messages), self.key(arriving), self.value(arriving))
        )
        read = join_heads(attend(queries, keys, values, readable.bias))
        return self.combine(read.view_as(messages) * readable.exists)


class DroppedOut(nn.Module):
    """Dropout on the output of a layer."""

    def __init__(self, layer: nn.Module, dropout: float) -> None:
        super().__init__()
        self.layer, self.dropout = layer, nn.Dropout(dropout)

    def forward(self, x: Tensor, *context: Incoming) -> Tensor:
        """Apply the layer, then drop."""
        return self.dropout(self.layer(x, *context))


class MessageLayer(nn.Module):
    """Attention, then a feed-forward layer, each in a residual block."""

    def __init__(self, config: PigvaeConfig) -> None:
        super().__init__()
        dim, dropout, norm = config.message_dim, config.dropout, config.norm
        attention = MessageAttention(dim, config.num_heads)
        feedforward = FeedForward(dim, config.feedforward_dim)
        self.attention = Residual(DroppedOut(attention, dropout), dim, norm)
        self.feedforward = Residual(DroppedOut(feedforward, dropout), dim, norm)

    def forward(
        self, messages: Float[Tensor, "B N N d"], readable: Incoming
    ) -> Float[Tensor, "B N N d"]:
        """Update the messages."""
        return self.feedforward(self.attention(messages, readable))


class MessageStack(RecomputingStack):
    """First messages from pairs and ends, then the layers; the same in encoder and decoder."""

    adam_weights: ClassVar = ("input",)

    def __init__(self, pair_dim: int, end_dim: int, config: PigvaeConfig) -> None:
        super().__init__()
        dim = config.message_dim
        self.sizes = [pair_dim, end_dim, end_dim]
        self.input = nn.Linear(sum(self.sizes), dim)
        self.dropout, self.input_norm = nn.Dropout(config.dropout), nn.LayerNorm(dim)
        self.layers = nn.ModuleList(MessageLayer(config) for _ in range(config.num_layers))
        self.norm = final_norm(dim, config.norm)

    def forward(
        self,
        pairs: Float[Tensor, "B #N #N p"],
        ends: Float[Tensor, "B N e"],
        node_mask: Bool[Tensor, "B N"],
    ) -> Float[Tensor, "B N N d"]:
        """Messages of the last layer; those from and to padding are never read."""
        messages = self.first_messages(pairs, ends)
        readable = incoming(node_mask, ends.dtype)
        for layer in self.layers:
            messages = self.run_layer(layer, messages, readable)
        return self.norm(messages)

    def first_messages(
        self, pairs: Float[Tensor, "B #N #N p"], ends: Float[Tensor, "B N e"]
    ) -> Float[Tensor, "B N N d"]:
        """M^0; the linear layer is applied to each part instead of to a concatenation."""
        pair, source, target = self.input.weight.split(self.sizes, dim=1)
        messages = linear(pairs, pair, self.input.bias)
        messages = messages + linear(ends, source)[:, :, None] + linear(ends, target)[:, None]
        return self.input_norm(self.dropout(messages))


def node_states(messages: Float[Tensor, "B N N d"]) -> Float[Tensor, "B N d"]:
    """Take the diagonal."""
    return messages.diagonal(dim1=1, dim2=2).transpose(1, 2)
