"""The parts of one model, made as its settings say; `choices.py` lists what can be selected."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from grale.graphs.space import GraphSpace
from grale.model.choices import BACKBONES, DECODER_STACKS, MATCHERS, POOLINGS
from grale.model.config import ModelConfig
from grale.model.decoder import Decoder
from grale.model.encoder import Encoder
from grale.model.featurizer import Featurizer
from grale.model.matcher import Matcher


class Parts(NamedTuple):
    """All parts of one model."""

    featurizer: Featurizer
    encoder: Encoder
    decoder: Decoder
    matcher: Matcher


def build_parts(space: GraphSpace, config: ModelConfig) -> Parts:
    """Make the parts that the settings select."""
    featurizer = Featurizer(space, config.featurizer)
    pooling_kind, unpooling_kind = map(part_at, POOLINGS[config.pooling])
    backbone = part_at(BACKBONES[config.encoder])(featurizer, config)
    pooling = pooling_kind(config, space.max_nodes, backbone.pair_dim)
    width = unpooling_kind.token_width(config)
    stack = part_at(DECODER_STACKS[config.decoder])(config, space.max_nodes, width)
    matcher_kind = part_at(MATCHERS[config.matcher.kind])
    matches_slots = unpooling_kind.is_matched and matcher_kind.reads_slots
    return Parts(
        featurizer,
        Encoder(space, config, backbone, pooling),
        Decoder(space, config, featurizer, unpooling_kind(config), stack, matches_slots),
        matcher_kind(config.node_dim, config.matcher),
    )


def part_at(path: str) -> Any:
    """The class at a dotted path."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
