"""SimGRACE of Xia et al. (2022)."""
