"""Parts that the paper's ablations swap in: GIN encoder, SoftSort matcher, Transformer decoder."""
