"""One file per table of the paper."""
