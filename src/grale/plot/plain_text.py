"""Text in figures that may come from users: shown letter for letter, never as markup.

matplotlib reads `$...$` as mathematics, and leaves names that start with "_" out of a legend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.text import Text


def plain(*texts: Text) -> None:
    """Show these texts as they are."""
    for text in texts:
        text.set_parse_math(False)


def plain_legend(axes: Axes, artists: Sequence[Artist], **options: Any) -> Legend:
    """Legend of artists under their labels, whatever these begin with or hold."""
    legend = axes.legend(artists, ["name"] * len(artists), **options)
    for text, artist in zip(legend.get_texts(), artists):
        text.set_text(str(artist.get_label()))
    plain(*legend.get_texts(), legend.get_title())
    return legend
