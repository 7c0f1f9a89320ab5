"""One self-contained HTML page with text, commands, figures and tables.

Figures are embedded as PNG, so the page can be mailed or archived; it links to nothing but files
that a section names, which lie next to it.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from grale.codec.identity import told
from grale.files import write_whole
from grale.plot.figures import rendered

_FILE_NAME = re.compile(r"[\w-][\w.-]*")
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
pre { max-width: 100%; overflow-x: auto; margin: 0.8rem 0; padding: 0.55rem 0.8rem;
  background: var(--band); border: 1px solid var(--line); border-radius: 0.4rem; }
code { font: 0.88rem/1.5 ui-monospace, "Liberation Mono", monospace; }
pre code::before { content: "$ "; color: var(--muted); }
.intro { color: var(--muted); }
h1 + .intro { margin-top: -1rem; }
a.button { display: inline-block; padding: 0.4rem 0.9rem; border-radius: 0.4rem; color: #ffffff;
  background: #0b62b8; text-decoration: none; font-weight: 600; }
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
    """One part of a page, shown in this order: heading, text, command, figure, link, table."""

    heading: str
    text: str
    """Plain text; a blank line starts a paragraph."""
    figure: Figure | None = None
    table: Sequence[Sequence[object]] | None = None
    """Rows of cells of any type, the first row is the header."""
    alt: str | None = None
    """What the figure shows, for readers who cannot see it; by default the heading."""
    command: str = ""
    """What to type to get such a picture."""
    link: tuple[str, str] | None = None
    """Name of a file next to the page, and what to call it."""

    def __post_init__(self) -> None:
        if self.link is not None and not _FILE_NAME.fullmatch(self.link[0]):
            raise ValueError(f"link {self.link[0]!r} is not the name of a file next to the page")
        if self.table is None:
            return
        widths = {len(row) for row in self.table}
        if len(widths) != 1 or 0 in widths:
            raise ValueError(
                f"table of section {self.heading!r} must have a header and rows of equal length, "
                f"got lengths {[len(row) for row in self.table]}"
            )


def write_page(
    path: str | os.PathLike[str],
    title: str,
    sections: Sequence[Section],
    intro: str = "",
    made_with: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write the page and return its path; folders are made as needed. `intro` is plain text.

    `made_with` is what `grale.codec.identity.provenance` says of each model behind the page: its
    heading names them, and its head holds all of it as JSON.
    """
    models = f"Made with {'; '.join(map(told, made_with))}." if made_with else ""
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title>",
        *([_meta(made_with)] if made_with else []),
        f"<style>{STYLE}</style>",
        "</head>",
        "<body>",
        f"<h1>{escape(title)}</h1>",
        *(f'<p class="intro">{escape(text)}</p>' for text in (intro, models) if text),
        *(_section(section) for section in sections),
        "</body>",
        "</html>",
    ]
    return write_whole(path, ("\n".join(parts) + "\n").encode())


def _meta(made_with: Sequence[Mapping[str, Any]]) -> str:
    return f'<meta name="grale" content="{escape(json.dumps([dict(one) for one in made_with]))}">'


def _section(section: Section) -> str:
    parts = [f"<section>\n<h2>{escape(section.heading)}</h2>"]
    paragraphs = (paragraph.strip() for paragraph in section.text.split("\n\n"))
    parts += [f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs if paragraph]
    if section.command:
        parts.append(f"<pre><code>{escape(section.command)}</code></pre>")
    if section.figure is not None:
        parts.append(_image(section.figure, section.alt or section.heading))
    if section.link is not None:
        name, text = section.link
        parts.append(f'<p><a class="button" href="{escape(name)}">{escape(text)}</a></p>')
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
