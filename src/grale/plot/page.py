"""One self-contained HTML page with text, figures and tables.

Figures are embedded as PNG, so the page has no links and can be mailed or archived.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from matplotlib.figure import Figure

from grale.files import write_whole
from grale.plot.figures import rendered

WIDE = 700  # pixels; on a phone a wider figure scrolls sideways instead of shrinking away
STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --muted: #59636e; --line: #d1d9e0;
  --page: #ffffff; --band: #f6f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8eb; --muted: #9aa4af; --line: #3a424c; --page: #14181d; --band: #1d232a; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 64rem; padding: 1.5rem 1rem 4rem; background: var(--page);
  color: var(--text); font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0.5rem 0 1.5rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 0.5rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
p { max-width: 44rem; margin: 0.6rem 0; }
figure, .table { margin: 1rem 0; overflow-x: auto; }
figure { background: #ffffff; border: 1px solid var(--line); border-radius: 0.5rem;
  padding: 0.5rem; }
img { display: block; height: auto; max-width: 100%; margin: 0 auto; }
img.wide { max-width: max(100%, 34rem); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.35rem 0.9rem 0.35rem 0.5rem; text-align: left;
  border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--muted); font-weight: 600; }
tbody tr:nth-child(even) { background: var(--band); }
"""


@dataclass(frozen=True)
class Section:
    """One part of a page, shown in this order: heading, text, figure, table."""

    heading: str
    text: str
    """Plain text; a blank line starts a paragraph."""
    figure: Figure | None = None
    table: Sequence[Sequence[object]] | None = None
    """Rows of cells of any type, the first row is the header."""
    alt: str | None = None
    """What the figure shows, for readers who cannot see it; by default the heading."""

    def __post_init__(self) -> None:
        if self.table is None:
            return
        widths = {len(row) for row in self.table}
        if len(widths) != 1 or 0 in widths:
            raise ValueError(
                f"table of section {self.heading!r} must have a header and rows of equal length, "
                f"got lengths {[len(row) for row in self.table]}"
            )


def write_page(path: str | os.PathLike[str], title: str, sections: Sequence[Section]) -> Path:
    """Write the page and return its path; folders are made as needed."""
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        "</head>",
        "<body>",
        f"<h1>{escape(title)}</h1>",
        *(_section(section) for section in sections),
        "</body>",
        "</html>",
    ]
    return write_whole(path, ("\n".join(parts) + "\n").encode())


def _section(section: Section) -> str:
    parts = [f"<section>\n<h2>{escape(section.heading)}</h2>"]
    paragraphs = (paragraph.strip() for paragraph in section.text.split("\n\n"))
    parts += [f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs if paragraph]
    if section.figure is not None:
        parts.append(_image(section.figure, section.alt or section.heading))
    if section.table is not None:
        parts.append(_table(section.table))
    return "\n".join([*parts, "</section>"])


def _image(figure: Figure, alt: str) -> str:
    data = base64.b64encode(rendered(figure, "png")).decode()
    width, height = (round(96 * inches) for inches in figure.get_size_inches())
    kind = "wide" if width > WIDE else "narrow"
    return (
        f'<figure><img class="{kind}" src="data:image/png;base64,{data}" alt="{escape(alt)}" '
        f'width="{width}" height="{height}"></figure>'
    )


def _table(rows: Sequence[Sequence[object]]) -> str:
    header = "".join(f'<th scope="col">{escape(str(cell))}</th>' for cell in rows[0])
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows[1:]
    )
    return (
        f'<div class="table"><table>\n<thead><tr>{header}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )
