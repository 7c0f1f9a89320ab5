"""The page of `grale map`, one file, in a real browser."""

from __future__ import annotations

import numpy as np
import pytest

from grale.graphs.graph import Graph
from grale.plot.colouring import Colouring
from grale.plot.map_page import write_map_page

pytestmark = pytest.mark.slow
WINDOW = {"width": 1280, "height": 900}
GAPS = """() => {
  draw();
  const box = over.getBoundingClientRect(), picture = dots.getBoundingClientRect();
  const across = (i) => (xs[i] * drawn.scale + drawn.left + marginX) / dots.width * picture.width
    + picture.left - box.left - (xs[i] * scale + left) / ratio;
  const down = (i) => (ys[i] * drawn.scale + drawn.upper + marginY) / dots.height * picture.height
    + picture.top - box.top - (ys[i] * scale + upper) / ratio;
  const gaps = [0, 1, 2].flatMap((i) => [Math.abs(across(i)), Math.abs(down(i))]);
  return [Math.max(...gaps), drawn.left === left && drawn.scale === scale];
}"""


def test_a_selection_is_saved_with_its_ids_and_exact_values(browser, tmp_path) -> None:
    points, graphs = np.array([[0.0, 0.0], [1.0, 0.4], [0.3, 1.0]]), [Graph([0])] * 3
    colourings = [
        Colouring("y", np.array([12345.67, 1.0, np.nan])),
        Colouring("kind", ["a", "b", "a"]),
    ]
    made_with = {"model": "m", "version": None, "fingerprint": "f", "grale": "1", "reading": "both"}
    options = {"ids": ["x, 1", "z", "x 2"], "names": ["CC", "C", "CO"], "made_with": made_with}
    path = write_map_page(tmp_path / "map.html", "dots", points, colourings, graphs, **options)
    page = browser.new_page(viewport=WINDOW)
    page.goto(path.as_uri())
    page.get_by_label("Search id or name").fill("x")
    page.get_by_text("2 found").wait_for()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save csv").click()
    saved.value.save_as(tmp_path / "selection.csv")
    lines = (tmp_path / "selection.csv").read_text().splitlines()
    assert lines == [
        "id,name,y,kind," + ",".join(f"made_with_{key}" for key in made_with),
        '"x, 1",CC,12345.67,a,m,,f,1,both',
        "x 2,CO,,a,m,,f,1,both",
    ]
    page.close()


def test_a_rare_kind_is_saved_and_shown_as_itself(browser, tmp_path) -> None:
    kinds = ["a", "a", *(f"kind {number}" for number in range(30))]
    points = np.column_stack([np.arange(32), np.arange(32)])
    path = write_map_page(
        tmp_path / "map.html", "dots", points, [Colouring("kind", kinds)], [Graph([0])] * 32
    )
    page = browser.new_page(viewport=WINDOW)
    page.goto(path.as_uri())
    saved = page.evaluate("() => { selected = new Uint8Array(count).fill(1); return csv(); }")
    assert [line.split(",")[2] for line in saved.splitlines()] == ["kind", *kinds]
    page.evaluate("show(31)")
    assert page.locator("#values").inner_text().split("\t") == ["kind", "kind 29"]
    assert "other" in page.locator("#kinds").inner_text()
    page.close()


def test_a_picture_of_many_dots_that_slides_shows_each_dot_in_its_place(browser, tmp_path) -> None:
    points, graphs = np.array([[0.0, 0.0], [1.0, 0.4], [0.3, 1.0]]), [Graph([0])] * 3
    path = write_map_page(
        tmp_path / "map.html", "dots", points, [Colouring("x", points[:, 0])], graphs
    )
    path.write_text(path.read_text().replace("MANY = 20000", "MANY = 2"))
    page = browser.new_page(viewport=WINDOW)
    page.goto(path.as_uri())
    moves = {  # and whether the picture is drawn anew
        "": True,
        "left += 60; upper -= 40; move();": False,
        "zoom(1.1, 300, 200);": False,
        "left += width; move();": True,
        "zoom(3, 300, 200);": True,
    }
    for script, is_drawn in moves.items():
        gap, is_new = page.evaluate(f"() => {{ {script} return ({GAPS})(); }}")  # before it rests
        assert gap < 0.5  # of a pixel
        assert is_new == is_drawn
    page.evaluate("left -= 50; move();")
    page.wait_for_function("draw() || drawn.left === left")  # when it rests, it is drawn anew
    page.evaluate("dots.style.transform = 'translate(9px, 0)'; draw = () => {};")
    assert page.evaluate(GAPS)[0] > 8  # a picture in the wrong place would be found out
    page.close()
