"""How close a predicted graph is to its target: isomorphism, edits of a mapping, intervals."""
