"""Figures and tables of the paper, the demo and the benchmarks."""
