"""VGAE of Kipf and Welling (2016)."""
