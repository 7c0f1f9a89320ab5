"""PIGVAE, the permutation-invariant variational autoencoder of Winter et al. (2021)."""
