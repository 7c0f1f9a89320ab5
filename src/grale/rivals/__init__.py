"""What the paper compares GRALE with: the same interface, trained by the same engine."""
