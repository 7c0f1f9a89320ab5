"""Drawings of graphs: layouts, single pictures, rows of pictures, pages."""

from grale.extras import need

need("matplotlib", "drawing")
