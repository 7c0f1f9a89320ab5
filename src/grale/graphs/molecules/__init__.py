"""Molecules as graphs and back: reading, charges, hydrogens, salts, descriptors."""
