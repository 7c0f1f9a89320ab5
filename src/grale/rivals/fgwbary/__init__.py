"""FGWBary: a graph as a barycentre of others (Brogat-Motte et al. 2022)."""
