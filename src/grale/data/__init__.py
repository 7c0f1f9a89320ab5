"""Where graphs come from: generated, downloaded or read from disk."""
