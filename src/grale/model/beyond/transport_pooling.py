"""Pooling by transport: nodes and edges are moved to the slots, then encoded (decisions/012).

    T      = matcher(X, S)                      S: a learned key for each slot
    F'_j   = Q_j + Linear(sum_i T_ij X_i)       Q: a learned embedding of each slot
    C'_jl  = sum_ik T_ij C_ik T_kl
    Z_j    = Linear(EvoformerEncoder(F', C')_j)

After the move, each node knows its slot and those of its neighbours, so that token j can say which
slots are joined to slot j. The loss uses the same T: a node is compared with the slot it is pooled
into. As in the paper, T is Sinkhorn's plan in training and an exact assignment at test time, when
no token is a mixture of nodes.

Departures: the paper pools edges by cross-attention, and matches after decoding.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from grale.graphs.batch import GraphBatch
from grale.model.backbone import evoformer_dims
from grale.model.config import ModelConfig
from grale.model.matcher import Matcher, hard_plan
from grale.model.pooling import Pooled
from grale.model.slot_plan import PlanOfPooling
from grale.nn.evoformer import EvoformerReadout
from grale.transport.partial_fgw import move_edges


class TransportPooling(nn.Module):
    """A plan from nodes to slots, then an Evoformer in the order of the slots."""

    adam_weights: ClassVar = ("queries", "keys")
    growing_weights: ClassVar = ("queries", "keys")
    token_weights: ClassVar = ("narrow",)

    def __init__(self, config: ModelConfig, max_nodes: int, pair_dim: int) -> None:
        super().__init__()
        if config.num_tokens != max_nodes:
            raise ValueError(
                f"pooling=transport has one token per slot, but num_tokens={config.num_tokens} and "
                f"graphs have up to {max_nodes} nodes; set model.num_tokens to {max_nodes}"
            )
        self.queries = nn.Parameter(torch.randn(config.num_tokens, config.node_dim))
        self.keys = nn.Parameter(torch.randn(config.num_tokens, config.node_dim))
        self.carry = nn.Linear(config.node_dim, config.node_dim)
        self.layers = EvoformerReadout(evoformer_dims(config), config.layers_of_encoder)
        self.narrow = nn.Linear(config.node_dim, config.token_dim)

    def forward(
        self,
        nodes: Float[Tensor, "B N d_n"],
        pairs: Float[Tensor, "B n n d_p"],
        graphs: GraphBatch,
        matcher: Matcher,
    ) -> Pooled:
        """Move nodes and pairs to the slots that the matcher assigns."""
        keys = self.keys.expand(nodes.shape[0], -1, -1)
        result = matcher(nodes, keys) if self.training else hard_plan(matcher, nodes, keys)
        plan = result.log_plan.exp()
        slots = self.queries + self.carry(plan.transpose(1, 2) @ nodes)
        real = plan[:, : pairs.shape[1]] * graphs.node_mask[..., None]
        tokens = self.layers(slots, move_edges(real.to(pairs), pairs))
        return Pooled(self.narrow(tokens), PlanOfPooling(result))


class TransportUnpooling(nn.Module):
    """Tokens are widened; a slot starts from its own token."""

    is_matched: ClassVar = False
    token_weights: ClassVar = ("to_width.weight",)

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        width = self.token_width(config)
        self.to_width = nn.Linear(config.token_dim, width)
        self.to_slot = nn.Linear(width, config.node_dim)

    @staticmethod
    def token_width(config: ModelConfig) -> int:
        """Width of the tokens in the decoder's layers."""
        return config.node_dim

    def widen(self, latent: Float[Tensor, "B K D"]) -> Float[Tensor, "B K d_t"]:
        """Tokens at the width of the nodes."""
        return self.to_width(latent)

    def first_slots(
        self, queries: Float[Tensor, "N d_n"], tokens: Float[Tensor, "B K d_t"]
    ) -> Float[Tensor, "B N d_n"]:
        """F_Q plus the token of each slot."""
        return queries + self.to_slot(tokens)
