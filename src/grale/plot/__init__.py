"""Drawings of graphs: layouts, single pictures, rows of pictures, pages."""
