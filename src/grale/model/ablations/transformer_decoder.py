"""A Transformer decoder in place of the Evoformer's (paper: "Ablation studies details").

    F_Q^{l+1}   = TransformerDecoder(F_Q^l, Z^L)
    (C_Q^L)_ij  = MLP(CONCAT[(F_Q^L)_i, (F_Q^L)_j])

The first layer of that MLP is applied to each of the two nodes and added up, which is the same.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from grale.model.backbone import Hidden
from grale.model.config import ModelConfig
from grale.nn.transformer import TransformerDecoder, TransformerDecoderLayer


class TransformerStack(nn.Module):
    """Slots read each other and the tokens; pairs of slots become edges at the end."""

    def __init__(self, config: ModelConfig, max_nodes: int, token_width: int) -> None:
        super().__init__()
        dim = config.node_dim
        layers = [
            TransformerDecoderLayer(
                dim, token_width, config.node_hidden_dim, config.num_heads, config.norm
            )
            for _ in range(config.num_layers)
        ]
        self.layers = TransformerDecoder(layers, dim, config.norm)
        self.pair_source = nn.Linear(dim, dim)
        self.pair_target = nn.Linear(dim, dim, bias=False)
        self.pair_output = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(dim, config.edge_dim))

    def forward(self, slots: Float[Tensor, "B N d_n"], tokens: Float[Tensor, "B K d_t"]) -> Hidden:
        """Hidden representation (F_Q^L, C_Q^L) of the decoded graph."""
        nodes = self.layers(slots, tokens)
        pairs = self.pair_source(nodes)[:, :, None] + self.pair_target(nodes)[:, None]
        return Hidden(nodes, self.pair_output(pairs))
