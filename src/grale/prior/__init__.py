"""A prior over the tokens of a frozen autoencoder: it knows tokens, not graphs (decisions/015)."""
