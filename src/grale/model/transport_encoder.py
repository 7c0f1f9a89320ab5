"""Pooling by transport: nodes and edges are carried to the slots, then encoded (decisions/012).

    (F, C) = EvoformerEncoder(F^1, C^1),        X_i = Linear(F_i)
    T      = matcher(X, S)                      S: a learned key for each slot
    F'_j   = Q_j + Linear(sum_i T_ij X_i)       Q: a learned embedding of each slot
    C'_jl  = sum_ik T_ij C_ik T_kl
    Z_j    = Linear(EvoformerEncoder(F', C')_j)

Nodes know from there on which slot they and their neighbours have, so that token j can say whom
slot j is joined to. The plan of the loss is the same T: what a node is pooled into is what it is
compared with. As in the paper, T is Sinkhorn's in training and an exact assignment at test time:
no token is then a mixture of nodes.

Departures: the paper pools edges by cross-attention, and matches after decoding.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from grale.model.config import ModelConfig
from grale.model.encoder import Encoded, Encoder, encoder_layers, evoformer_dims
from grale.model.featurizer import GraphInputs
from grale.nn.evoformer import EvoformerReadout


class TransportEncoder(Encoder):
    """An Evoformer in the order of the nodes, a plan, an Evoformer in the order of the slots."""

    def _add_pooling(self, config: ModelConfig, pair_dim: int) -> None:
        if config.num_tokens != self.space.max_nodes:
            raise ValueError(
                f"pooling=transport has one token per slot, but num_tokens={config.num_tokens} and "
                f"graphs have up to {self.space.max_nodes} nodes; set model.num_tokens to that"
            )
        self.keys = nn.Parameter(torch.randn(config.num_tokens, config.node_dim))
        self.carry = nn.Linear(config.node_dim, config.node_dim)
        self.pool = EvoformerReadout(evoformer_dims(config), encoder_layers(config))
        self.narrow = nn.Linear(config.node_dim, config.token_dim)

    def forward(self, inputs: GraphInputs, matcher: nn.Module | None = None) -> Encoded:
        """Encode featurized graphs; the matcher says which slot plays which node."""
        if matcher is None:
            raise ValueError("pooling=transport asks the matcher; call encoder(inputs, matcher)")
        hidden, edges = self.hidden(inputs)
        nodes = self._padded(self.node_output(hidden), inputs)
        find_plan = matcher if self.training else matcher.hard_plan
        result = find_plan(nodes, self.keys.expand(len(nodes), -1, -1))
        plan = result.log_plan.exp()
        slots = self.queries + self.carry(plan.transpose(1, 2) @ nodes)
        real = plan[:, : edges.shape[1]] * inputs.graphs.node_mask[..., None]
        tokens = self.pool(slots, carry_edges(edges, real))
        return Encoded(nodes, self.narrow(tokens), result)

    def recompute_activations(self, wanted: bool) -> None:
        """Recompute layers in the backward pass, or not."""
        self.evoformer.recomputes = self.pool.recomputes = wanted


def carry_edges(
    edges: Float[Tensor, "B n n d"], plan: Float[Tensor, "B n N"]
) -> Float[Tensor, "B N N d"]:
    """C'_jl = sum_ik T_ij C_ik T_kl: edges from the order of the nodes to that of the slots."""
    to_slot = torch.einsum("bikd,bkl->bild", edges, plan.to(edges))
    return torch.einsum("bij,bild->bjld", plan.to(edges), to_slot)
