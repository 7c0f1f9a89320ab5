"""What the paper puts in place of a part: GIN encoder, SoftSort matcher, Transformer decoder."""
