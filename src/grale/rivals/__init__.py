"""The models that the paper compares GRALE with: same interface, same training loop."""
