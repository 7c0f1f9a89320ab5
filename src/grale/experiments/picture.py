"""A picture with its caption, as files (paper: figures of "Qualitative properties of GRALE")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from grale.experiments.table import write_json
from grale.files import write_whole
from grale.plot.figures import save_figure


class Picture(NamedTuple):
    """One figure."""

    name: str
    """Name of its files."""
    title: str
    figure: Figure
    caption: str
    """What it shows, in plain text."""
    details: str = ""
    """The numbers behind it, for the caption file."""
    made_with: Mapping[str, Any] | None = None
    """Model, version and fingerprint of what is shown, for the JSON file; or `models` by name."""
    command: str = ""
    """What to type to get such a picture."""
    link: tuple[str, str] | None = None
    """Name of a file next to the picture that shows more, and what to call it."""

    def write(self, folder: Path) -> list[Path]:
        """Write NAME.png, NAME.svg, NAME.txt (the caption) and NAME.json into the folder."""
        drawn = [
            save_figure(self.figure, folder / f"{self.name}.{kind}") for kind in ("png", "svg")
        ]
        text = f"{self.title}\n\n{self.caption}\n"
        text += f"\n{self.details}\n" if self.details else ""
        data = {
            "title": self.title,
            "caption": self.caption,
            "details": self.details.splitlines(),
            "made_with": self.made_with,
        }
        return [
            *drawn,
            write_whole(folder / f"{self.name}.txt", text.encode()),
            write_json(folder / f"{self.name}.json", data),
        ]


@dataclass(frozen=True, kw_only=True)
class PictureConfig:
    """What a picture is made from."""

    data: str | None = None
    """Dataset: a generator's name, a folder, or "library"; None for one that suits the model."""
    count: int = 2_000
    """Graphs to measure on, or to train a predictor on."""
    seed: int = 0
    also: tuple[str, ...] = ()
    """Further models to compare with."""


Progress = Callable[[int], object] | None
