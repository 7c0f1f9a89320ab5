"""Training: optimiser, schedule, loop, checkpoints, evaluation."""
