"""What one does with a trained model, one use per file."""
