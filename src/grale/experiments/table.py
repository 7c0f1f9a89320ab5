"""A table with its caption, as files: Markdown to read, JSON to compute with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from grale.files import write_whole


class Table(NamedTuple):
    """Rows of cells under a header."""

    name: str
    """Name of its files."""
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    values: dict[str, Any]
    """The same as numbers, for the JSON file."""
    made_with: Mapping[str, Any] | None = None
    """Model, version and fingerprint of what was measured; or `models` by name."""

    def markdown(self) -> str:
        """The table as Markdown, caption below."""
        lines = [f"## {self.title}", "", _line(self.header), _line(["---"] * len(self.header))]
        return "\n".join([*lines, *map(_line, self.rows), "", self.caption, ""])

    def write(self, folder: Path) -> list[Path]:
        """Write NAME.md and NAME.json into the folder."""
        return [
            write_whole(folder / f"{self.name}.md", self.markdown().encode()),
            write_json(folder / f"{self.name}.json", self.as_data()),
        ]

    def as_data(self) -> dict[str, Any]:
        """Everything for a JSON file: cells as printed, including the paper's, and numbers."""
        return {
            "title": self.title,
            "caption": self.caption,
            "header": list(self.header),
            "rows": [list(row) for row in self.rows],
            "values": self.values,
            "made_with": self.made_with,
        }


def write_json(path: Path, data: Any) -> Path:
    """Write data as a JSON file that people can read."""
    return write_whole(path, (json.dumps(data, indent=2) + "\n").encode())


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
