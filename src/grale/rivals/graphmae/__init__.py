"""GraphMAE of Hou et al. (2022)."""
