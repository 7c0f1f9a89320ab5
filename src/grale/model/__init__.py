"""GRALE itself: featurizer, encoder, decoder, matcher, loss. Read autoencoder.py first."""
