"""Maps and pages: one dot per graph, nothing linked, nothing that could end the script early."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib

import numpy as np
import pytest

from grale.graphs.graph import Graph
from grale.plot.colouring import Colouring, ends_of, kinds_of
from grale.plot.map_page import SCRIPTS, write_map_page
from grale.plot.maps import map_figure
from grale.plot.molecule_look import MoleculeLook

POINTS = np.array([[0.0, 0], [1, 2], [3, 1]])
GRAPHS = [Graph.from_smiles(text) for text in ("CCO", "c1ccccc1", "C#N")]


def test_the_map_has_a_dot_per_graph_and_grey_ones_without_value() -> None:
    figure = map_figure(POINTS, [1.0, np.nan, 3.0], "size", ("x", "y"))
    axes = figure.axes[0]
    unknown, known = axes.collections
    assert (len(unknown.get_offsets()), len(known.get_offsets())) == (1, 2)
    assert figure.axes[1].get_ylabel() == "size"
    assert [label.get_text() for label in figure.axes[1].get_yticklabels()] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("points", "values", "message"),
    [
        (POINTS, [1.0], "one value each"),
        (POINTS[:, :1], [1.0, 2, 3], "one value each"),
        (POINTS, [np.nan] * 3, "no graph has a value"),
    ],
)
def test_a_map_that_cannot_be_drawn_says_why(points, values, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        map_figure(points, values, "size", ("x", "y"))


SIZE = Colouring("size", [1, 2, np.nan])


def data_of(text: str) -> dict:
    return json.loads(re.search(r"const data = (.*);\n", text)[1])


def drawings_of(data: dict) -> list[bytes]:
    """Bytes of each drawing, as the script of the page finds them."""
    found = []
    for chunk in data["drawings"]:
        content = zlib.decompress(base64.b64decode(chunk))
        (table,) = struct.unpack_from("<I", content)
        places = struct.unpack_from(f"<{table // 4}I", content)
        found += [content[start:end] for start, end in zip(places, places[1:])]
    return found


def letters_of(drawing: bytes) -> str:
    """Letters of a drawing, read shape by shape: so every byte must be where it belongs."""
    at, letters = 8, ""
    while at < len(drawing):
        kind = drawing[at]
        at += 2 + {0: 8, 1: 8, 2: 6, 3: 6, 4: 6}[kind]
        if kind >= 3:
            letters += drawing[at + 1 : at + 1 + drawing[at]].decode()
            at += 1 + drawing[at]
    return letters


def test_the_page_holds_every_graph_and_links_to_nothing(tmp_path) -> None:
    names = ["ethanol", "benzene", "x"]
    path = write_map_page(
        tmp_path / "map.html", "A & B", POINTS, [SIZE], GRAPHS, names=names, look=MoleculeLook()
    )
    text = path.read_text()
    assert "A &amp; B" in text
    assert not re.search(r"(src|href)=|@import|url\(|https?://(?!www\.w3\.org/2000/svg)", text)
    data = data_of(text)
    assert (data["count"], data["names"], data["ids"]) == (3, names, ["0", "1", "2"])
    assert [sorted(letters_of(drawing)) for drawing in drawings_of(data)] == [["H", "O"], [], ["N"]]
    places = np.frombuffer(base64.b64decode(data["points"]), "<u2").reshape(-1, 2)
    assert places.tolist() == [[0, 0], [21845, 43690], [65535, 21845]]


def test_the_page_says_which_model_placed_its_dots(tmp_path) -> None:
    made_with = {
        "model": "<m>", "version": None, "fingerprint": "f" * 64, "grale": "2",
        "reading": "description",
    }  # fmt: skip
    path = tmp_path / "map.html"
    text = write_map_page(path, "t", POINTS, [SIZE], GRAPHS, made_with=made_with).read_text()
    assert "Made with &lt;m&gt; (ffffffffffff), description, grale 2." in text
    assert data_of(text)["made_with"] == made_with
    text = write_map_page(path, "t", POINTS, [SIZE], GRAPHS).read_text()
    assert "Made with" not in text
    assert data_of(text)["made_with"] == {}


def test_rare_kinds_keep_their_values(tmp_path) -> None:
    for count, rare in ((30, {str(place): f"k{place}" for place in range(30)}), (3, {})):
        points = np.column_stack([np.arange(count), np.zeros(count)])
        kinds = Colouring("kind", ["often"] * count + [f"k{place}" for place in range(count)])
        points = np.concatenate([points, points + 1])
        path = write_map_page(
            tmp_path / "map.html", "t", points, [kinds], [GRAPHS[0]] * (2 * count)
        )
        (column,) = data_of(path.read_text())["colourings"]
        shared = len(column["kinds"]) - 1 if rare else None
        codes = base64.b64decode(column["values"])
        expected = {str(k): kinds.values[k] for k, code in enumerate(codes) if code == shared}
        assert column["rare"] == expected
        assert len(expected) > 10 or not rare


def test_text_of_users_cannot_become_markup(tmp_path) -> None:
    hostile = "</script><img src=x onerror=alert(1)> & ${x} $data"
    path = write_map_page(
        tmp_path / "map.html", hostile, POINTS, [Colouring(hostile, [hostile, "a", "b"])], GRAPHS,
        ids=[hostile] * 3, names=[hostile] * 3, note=hostile, look=MoleculeLook(),
    )  # fmt: skip
    text = path.read_text()
    assert text.count("</script>") == 1
    assert "<img" not in text
    data = data_of(text)
    assert data["ids"] == data["names"] == [hostile] * 3
    assert data["colourings"][0]["name"] == hostile
    assert hostile in [kind for kind, _ in data["colourings"][0]["kinds"]]


def test_the_scripts_write_text_as_text_only() -> None:
    for script in SCRIPTS:
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|\$",
            script.read_text(),
        )


def test_a_page_that_cannot_be_made_says_why(tmp_path) -> None:
    path = tmp_path / "x.html"
    with pytest.raises(ValueError, match="points need 3 graphs, ids and names"):
        write_map_page(path, "t", POINTS, [SIZE], GRAPHS[:2])
    with pytest.raises(ValueError, match="points need 3 graphs, ids and names"):
        write_map_page(path, "t", POINTS, [SIZE], GRAPHS, ids=["a"])
    with pytest.raises(ValueError, match="at least one column"):
        write_map_page(path, "t", POINTS, [], GRAPHS)
    with pytest.raises(ValueError, match="need 3 values of kind"):
        write_map_page(path, "t", POINTS, [Colouring("kind", ["a", "b"])], GRAPHS)
    assert not path.exists()


def test_graphs_of_a_page_are_discs_and_lines(tmp_path) -> None:
    graphs = [Graph([0, 1, 2], [(0, 1), (1, 2)])] * 3
    path = write_map_page(tmp_path / "map.html", "t", POINTS, [SIZE], graphs)
    (drawing, *_) = drawings_of(data_of(path.read_text()))
    kinds = [drawing[8], drawing[18], drawing[28], drawing[36], drawing[44]]
    assert kinds == [0, 0, 2, 2, 2]


def test_a_few_outliers_do_not_take_all_colours() -> None:
    many = np.concatenate([np.linspace(0, 1, 1_000), [1e6]])
    assert ends_of(many)[1] < 1
    assert ends_of(np.array([0.0, 1.0, 1e6])) == (0.0, 1e6)
    assert ends_of(np.array([np.nan])) == (0.0, 1.0)


def test_rare_kinds_share_a_colour() -> None:
    codes, kinds = kinds_of([f"kind {k}" for k in range(30)] + ["often"] * 5)
    assert (kinds[0][0], kinds[-1][0], len(kinds)) == ("often", "other", 12)
    assert codes[-1] == 0
    assert codes.max() == 11
    assert kinds_of(["a", "", "a"])[1][1][0] == "unknown"


def test_texts_colour_a_picture_with_a_legend() -> None:
    figure = map_figure(POINTS, ["a", "b", "a"], "kind", ("x", "y"))
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert texts == ["a", "b"]
    with pytest.raises(ValueError, match="one value each"):
        map_figure(POINTS, ["a"], "kind", ("x", "y"))
