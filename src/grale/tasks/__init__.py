"""Uses of a trained model, one per file."""
