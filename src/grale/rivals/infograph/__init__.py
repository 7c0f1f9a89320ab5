"""InfoGraph of Sun et al. (2020)."""
