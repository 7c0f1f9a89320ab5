from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser

import pytest

from grale.plot.curves import curve_figure
from grale.plot.page import Section, write_page

HOSTILE = "<script>alert(\"x\") & 'y'</script>"


@pytest.fixture
def figure():
    return curve_figure([1, 2], {"a": [1, 2]}, "x", "y")


def tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
    found: list[tuple[str, dict[str, str | None]]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, dict(attributes)))
    parser.feed(html)
    return found


@pytest.mark.slow
def test_all_text_is_escaped(tmp_path, figure):
    section = Section(HOSTILE, HOSTILE, figure, [[HOSTILE], [HOSTILE]])
    html = write_page(tmp_path / "page.html", HOSTILE, [section]).read_text()
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 7  # title, h1, h2, p, alt, th, td
    assert [attributes["alt"] for tag, attributes in tags(html) if tag == "img"] == [HOSTILE]


@pytest.mark.slow
def test_the_page_refers_to_nothing_outside(tmp_path, figure):
    html = write_page(tmp_path / "page.html", "t", [Section("h", "x", figure)]).read_text()
    assert not re.search(r"https?:|//[a-z]|@import|url\(", re.sub(r"base64,[^\"]*", "", html))
    assert "http:" not in html
    assert "https:" not in html
    assert not {tag for tag, _ in tags(html)} & {"script", "link", "iframe", "a"}


def test_a_page_names_the_models_behind_it(tmp_path):
    made_with = {
        "model": "m",
        "version": "1",
        "fingerprint": "f" * 64,
        "grale": "2",
        "reading": "both",
    }
    section = Section("h", "x")
    html = write_page(tmp_path / "a.html", "t", [section], "intro", [made_with]).read_text()
    assert "Made with m@1 (ffffffffffff), both, grale 2." in html
    ((_, meta),) = [one for one in tags(html) if one[1].get("name") == "grale"]
    assert json.loads(str(meta["content"])) == [made_with]
    nameless = write_page(tmp_path / "b.html", "t", [section], "intro").read_text()
    assert "Made with" not in nameless
    assert not [one for one in tags(nameless) if one[1].get("name") == "grale"]


@pytest.mark.slow
def test_figures_are_embedded_as_png_with_alt_text(tmp_path, figure):
    sections = [Section("h", "x", figure, alt="a rising line"), Section("none", "x")]
    html = write_page(tmp_path / "page.html", "t", sections).read_text()
    ((_, image),) = [found for found in tags(html) if found[0] == "img"]
    assert (image["alt"], image["class"]) == ("a rising line", "narrow")
    assert base64.b64decode(image["src"].split(",")[1]).startswith(b"\x89PNG")


def test_a_table_has_a_header_and_a_row_for_each_row(tmp_path):
    section = Section("h", "x", table=[["model", "accuracy"], ["ours", 0.9], ["theirs", None]])
    names = [tag for tag, _ in tags(write_page(tmp_path / "p.html", "t", [section]).read_text())]
    assert (names.count("th"), names.count("td"), names.count("tr")) == (2, 4, 3)


def test_blank_lines_separate_paragraphs(tmp_path):
    path = write_page(tmp_path / "new" / "p.html", "t", [Section("h", "one\nline\n\n\n\ntwo")])
    assert path.read_text().count("<p>") == 2
    assert [file.name for file in path.parent.iterdir()] == ["p.html"]


def test_the_page_fits_a_phone_and_both_colour_schemes(tmp_path):
    html = write_page(tmp_path / "p.html", "t", []).read_text()
    assert 'name="viewport"' in html
    assert "prefers-color-scheme: dark" in html


@pytest.mark.parametrize("table", [[], [[]], [["a", "b"], ["c"]]])
def test_a_ragged_or_empty_table_is_refused(table):
    with pytest.raises(ValueError, match="'h' must have a header and rows of equal length"):
        Section("h", "x", table=table)
