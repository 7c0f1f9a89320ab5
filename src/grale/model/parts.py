"""Which part each setting selects: all variation points of the model.

A new backbone, pooling, decoder or matcher is one file and one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from grale.graphs.space import GraphSpace
from grale.model.ablations.gin import GinBackbone
from grale.model.ablations.softsort import SoftSortMatcher
from grale.model.ablations.transformer_decoder import TransformerStack
from grale.model.backbone import Backbone, EvoformerBackbone
from grale.model.beyond.transport_pooling import TransportPooling, TransportUnpooling
from grale.model.config import ModelConfig
from grale.model.decoder import Decoder, DecoderStack, EvoformerStack
from grale.model.encoder import Encoder
from grale.model.featurizer import Featurizer
from grale.model.matcher import Matcher, SinkhornMatcher
from grale.model.pooling import AttentionPooling, AttentionUnpooling, Pooling, Unpooling

BACKBONES: dict[str, Callable[[Featurizer, ModelConfig], Backbone]] = {
    "evoformer": EvoformerBackbone,
    "gin": GinBackbone,
}
POOLINGS: dict[str, tuple[Callable[[ModelConfig, int, int], Pooling], type[Unpooling]]] = {
    "attention": (AttentionPooling, AttentionUnpooling),
    "transport": (TransportPooling, TransportUnpooling),
}
DECODER_STACKS: dict[str, Callable[[ModelConfig, int, int], DecoderStack]] = {
    "evoformer": EvoformerStack,
    "transformer": TransformerStack,
}
MATCHERS: dict[str, type[Matcher]] = {
    "sinkhorn": SinkhornMatcher,
    "softsort": SoftSortMatcher,
}


class Parts(NamedTuple):
    """All parts of one model."""

    featurizer: Featurizer
    encoder: Encoder
    decoder: Decoder
    matcher: Matcher


def build_parts(space: GraphSpace, config: ModelConfig) -> Parts:
    """Make the parts that the settings select."""
    featurizer = Featurizer(space, config.featurizer)
    pooling_kind, unpooling_kind = POOLINGS[config.pooling]
    if config.encoder != "evoformer" and (space.node_feature_dim or space.edge_feature_dim):
        raise ValueError(f"encoder={config.encoder} takes no continuous features; use evoformer")
    backbone = BACKBONES[config.encoder](featurizer, config)
    pooling = pooling_kind(config, space.max_nodes, backbone.pair_dim)
    width = unpooling_kind.token_width(config)
    stack = DECODER_STACKS[config.decoder](config, space.max_nodes, width)
    matcher_kind = MATCHERS[config.matcher.kind]
    matches_slots = unpooling_kind.is_matched and matcher_kind.reads_slots
    return Parts(
        featurizer,
        Encoder(space, config, backbone, pooling),
        Decoder(space, config, featurizer, unpooling_kind(config), stack, matches_slots),
        matcher_kind(config.node_dim, config.matcher),
    )
