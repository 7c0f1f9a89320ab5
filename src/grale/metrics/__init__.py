"""How close a predicted graph is to its target: edit distance and isomorphism accuracy."""
