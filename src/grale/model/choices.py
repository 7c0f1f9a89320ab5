"""Which part each setting can select: all variation points of the model.

A new backbone, pooling, decoder stack or matcher is one file and one line here: settings allow the
names of these tables, and `parts.py` imports the part that is selected.
"""

from __future__ import annotations

BACKBONES = {
    "evoformer": "grale.model.backbone.EvoformerBackbone",
    "gin": "grale.model.ablations.gin.GinBackbone",
}
POOLINGS = {
    "attention": (
        "grale.model.pooling.AttentionPooling",
        "grale.model.pooling.AttentionUnpooling",
    ),
    "transport": (
        "grale.model.beyond.transport_pooling.TransportPooling",
        "grale.model.beyond.transport_pooling.TransportUnpooling",
    ),
}
"""Of each, the way into the latent and the way out of it."""
DECODER_STACKS = {
    "evoformer": "grale.model.decoder.EvoformerStack",
    "transformer": "grale.model.ablations.transformer_decoder.TransformerStack",
}
MATCHERS = {
    "sinkhorn": "grale.model.matcher.SinkhornMatcher",
    "softsort": "grale.model.ablations.softsort.SoftSortMatcher",
}
