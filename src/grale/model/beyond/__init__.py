"""What is not in the paper: pooling by transport, descriptions, costs for matching in rounds."""
