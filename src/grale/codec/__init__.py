"""What every autoencoder of graphs does: lists in, lists out, for GRALE and rivals alike."""
