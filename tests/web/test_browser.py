"""The page in a real browser: Debian's Chromium without a window, at two widths."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import torch

from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from grale.plot.changes import CHANGED
from serving import page_of

pytestmark = pytest.mark.slow
WIDTHS = (1280, 420)
HOSTILE = "<img src=x onerror=alert(1)>"
PATIENCE = 300_000  # milliseconds; this is about what is shown, not how soon
ALL_IN_SIGHT = "drawing.getBoundingClientRect().bottom <= innerHeight"  # nothing to scroll
INKED = """() => {
  const seen = new Uint32Array(paper.getImageData(0, 0, dots.width, dots.height).data.buffer);
  return dots.width > 1 && seen.some((pixel) => pixel !== seen[0]);
}"""


@pytest.fixture(scope="module")
def address(molecule_model) -> Iterator[str]:
    with page_of(molecule_model) as found:
        yield found


@pytest.fixture
def opened(browser, address) -> Iterator[Any]:
    """A function that opens a view at a width; the page must not complain or ask others."""
    pages, complaints = [], []

    def open_view(view: str, width: int = WIDTHS[0], at: str = address) -> Any:
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: _note_foreign(request.url, at, complaints))
        pages.append(page)
        page.goto(f"{at}/#{view}")
        page.wait_for_selector("main .card")
        return page

    yield open_view
    for page in pages:
        page.close()
    assert complaints == []


def _answer(body: Any, route: Any) -> None:
    route.fulfill(json=body)


def _note_foreign(url: str, at: str, complaints: list[str]) -> None:
    if not url.startswith((f"{at}/", "data:", "blob:")):
        complaints.append(f"asked {url}")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_pasted_molecule_shows_vector_reconstruction_and_neighbours(opened, width: int) -> None:
    page = opened("look", width)
    page.get_by_label("Molecule as SMILES").fill("CCCCO")
    page.wait_for_selector(".input img.picture[alt='CCCCO']")
    page.wait_for_selector("canvas.strip")
    page.wait_for_selector(".badge")
    page.wait_for_selector(".tile .picture")
    assert "16 numbers" in page.locator(".card:has(canvas.strip)").inner_text()
    assert page.locator(".tile").count() == 8
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_text_of_users_is_never_markup(opened) -> None:
    page = opened("look")
    page.get_by_label("Molecule as SMILES").fill(HOSTILE)
    page.locator(".input .notice", has_text=HOSTILE).wait_for()  # not the first one
    assert page.locator("img[src=x]").count() == 0


def test_what_is_shown_of_a_molecule_goes_when_the_next_one_is_refused(opened) -> None:
    page = opened("look")
    page.get_by_label("Molecule as SMILES").fill("CCCCO")
    page.wait_for_selector(".badge")
    page.get_by_label("Molecule as SMILES").fill("C" * 40)
    page.wait_for_selector(".input .notice")
    page.wait_for_selector(".badge", state="detached")
    assert not page.locator(".input img.picture").is_visible()


def test_a_molecule_is_drawn_in_the_editor(opened) -> None:
    page = opened("look")
    page.get_by_label("Molecule as SMILES").fill("")
    page.get_by_role("button", name="Draw").click()
    page.wait_for_selector("#editor-canvas > *")
    board = page.locator("#editor-canvas").bounding_box()
    page.wait_for_timeout(500)
    page.mouse.click(board["x"] + board["width"] / 2, board["y"] + board["height"] / 2)
    page.get_by_role("button", name="Use it").click()
    page.wait_for_selector(".input img.picture[alt='CC']")  # one click draws one bond
    assert page.get_by_label("Molecule as SMILES").input_value() == "CC"


@pytest.mark.parametrize("width", WIDTHS)
def test_two_molecules_are_matched_with_their_edits(opened, width: int) -> None:
    page = opened("match", width)
    page.get_by_label("First as SMILES").fill("CCO")
    page.get_by_label("Second as SMILES").fill("CCN")
    page.get_by_role("button", name="Match them").click()
    page.wait_for_selector("ul.edits li")
    assert page.locator("ul.edits li").all_inner_texts() == ["change atom 2: O → N"]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_slider_walks_between_two_molecules(opened) -> None:
    page = opened("between")
    page.get_by_label("From as SMILES").fill("CCO")
    page.get_by_label("To as SMILES").fill("CCCN")
    page.get_by_role("button", name="Walk").click()
    page.wait_for_selector(".film .tile")
    assert page.locator(".film .tile").count() == 11
    page.get_by_label("position between the two").fill("10")
    assert page.locator("figcaption").first.inner_text().startswith("100 %")
    page.set_viewport_size({"width": WIDTHS[1], "height": 900})
    page.get_by_label("position between the two").fill("5")
    film, tile = page.locator(".film"), page.locator(".film .tile[aria-current='true']")
    row, chosen = film.bounding_box(), tile.bounding_box()
    assert row["x"] <= chosen["x"]  # the chosen picture is in sight
    assert chosen["x"] + chosen["width"] <= row["x"] + row["width"]


def test_changing_marks_the_start_and_says_when_nothing_is_better(opened) -> None:
    def point(smiles: str, value: float) -> dict[str, Any]:
        return {"smiles": smiles, "graph": None, "value": value, "similarity": 0.5}

    page = opened("change")
    for values, badges, is_said in (
        ((2.0, 1.0), ["start"], True),
        ((1.0, 2.0), ["start", "best"], False),
    ):
        row = {"status": "ok", "reason": None, "left_out": 0, "r2": 0.9,
               "points": [point(*one) for one in zip(("CCO", "CCC"), values)]}  # fmt: skip
        page.unroute("**/edit")
        page.route("**/edit", partial(_answer, {"rows": [row]}))
        page.get_by_role("button", name="Change it").click()
        page.locator(".tile .badge").nth(len(badges) - 1).wait_for()
        assert page.locator(".tile .badge").all_inner_texts() == badges
        text = page.locator(".card").last.inner_text()
        assert ("Nothing on the way has a higher logP" in text) == is_said
        start, changed = page.locator(".tile img").all()
        assert CHANGED.strip("#") in changed.get_attribute("src").lower()  # oxygen became carbon
        assert CHANGED.strip("#") not in start.get_attribute("src").lower()
    page.set_viewport_size({"width": WIDTHS[1], "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_page_of_the_api_explains_each_field(browser, address) -> None:
    page = browser.new_page(viewport={"width": WIDTHS[1], "height": 900})
    page.goto(f"{address}/docs")
    text = page.locator(".card", has_text="POST /describe").first.inner_text()
    assert "give these or graphs" in text
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


def test_a_file_becomes_a_map_and_its_bad_rows_are_listed(opened) -> None:
    page = opened("map")
    rows = ["smiles", "CCO", "CCN", "CCC", "CCCC", HOSTILE]
    file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": "\n".join(rows).encode()}
    page.locator("input[type=file]").set_input_files(files=[file])
    page.wait_for_selector("iframe")
    page.frame_locator("iframe").locator("h1").wait_for()
    assert "mine.csv" in page.frame_locator("iframe").locator("h1").inner_text()
    assert "4 of 5 rows" in page.locator(".card").first.inner_text()
    page.get_by_text("Rows not taken: 1").click()
    assert HOSTILE in page.locator("table").inner_text()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_map_of_a_file_is_coloured_by_a_column_of_it(opened, width: int) -> None:
    page = opened("map", width)
    rows = ["smiles,pIC50,series", "CCO,5.5,a", "CCN,7,b", "CCC,,a", "CCCC,6.1,b"]
    file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": "\n".join(rows).encode()}
    page.locator("input[type=file]").set_input_files(files=[file])
    page.frame_locator("iframe").locator("h1", has_text="coloured by logP").wait_for()
    for column, said in (("pIC50", "5.5"), ("series", "b")):
        page.get_by_label("Coloured by").select_option(column)
        page.get_by_role("button", name="Draw the map").click()
        inside = page.frame_locator("iframe")
        inside.locator("h1", has_text=f"coloured by {column}").wait_for()
        assert said in inside.locator("#legend").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.get_by_label("Set").select_option("built-in")  # which has no such columns
    assert "pIC50" not in page.get_by_label("Coloured by").inner_text()


def test_a_map_is_drawn_at_each_size_of_the_window_with_the_graph_of_a_dot_in_sight(opened) -> None:
    page = opened("map")
    rows = ["smiles", *("C" * length + end for length in range(1, 9) for end in ("", "O", "N"))]
    file = {"name": "mine.csv", "mimeType": "text/csv", "buffer": "\n".join(rows).encode()}
    page.locator("input[type=file]").set_input_files(files=[file])
    inside = page.frame_locator("iframe")
    inside.locator("#legend").wait_for()
    page.wait_for_selector("main .busy", state="detached")
    for width in (WIDTHS[0], WIDTHS[1], WIDTHS[0], WIDTHS[1]):
        page.set_viewport_size({"width": width, "height": 900})
        page.frames[-1].wait_for_function(INKED)
        assert page.frames[-1].evaluate("dots.width / ratio < innerWidth")
    page.frames[-1].wait_for_function(ALL_IN_SIGHT)
    page.frames[-1].evaluate("dots.width = dots.width")  # which clears it
    assert not page.frames[-1].evaluate(INKED)  # an empty map would be found out


def test_a_graph_is_drawn_by_clicks(opened, browser, tiny_config) -> None:
    torch.manual_seed(0)
    model = GRALE(GraphSpace(max_nodes=10, num_node_labels=4), tiny_config).eval()
    with page_of(model) as at:
        page = opened("look", 1280, at)
        page.get_by_role("button", name="Clear").click()
        board = page.locator(".graph-board").bounding_box()
        for share in (0.3, 0.7):
            page.mouse.click(board["x"] + share * board["width"], board["y"] + 80)
        for node in (0, 1):
            page.locator(f"circle[data-node='{node}']").click()
        assert "2 of 10 nodes, 1 edges" in page.locator(".input").inner_text()
        page.wait_for_selector(".badge")


@pytest.mark.parametrize("width", WIDTHS)
def test_new_molecules_are_drawn_and_the_tabs_fit(opened, generative, width: int) -> None:
    with page_of(generative) as at:
        page = opened("draw", width, at)
        tab = page.get_by_role("tab", name="Draw").bounding_box()
        assert tab["x"] + tab["width"] <= width, "the last tab is not cut off"
        page.locator("input[type=number]").fill("4")
        page.get_by_role("button", name="Draw", exact=True).click()
        page.wait_for_selector(".tile")
        assert page.locator(".tile").count() == 4
        assert "of 4 are valid" in page.locator(".card").last.inner_text()
        page.get_by_label("Wanted").fill("colour=3")
        page.get_by_role("button", name="Draw", exact=True).click()
        assert "colour" in page.locator(".notice").inner_text()
        page.locator("input[type=number]").fill(
            "65"
        )  # the browser refuses, the server is not asked
        page.get_by_label("Wanted").fill("")
        page.get_by_role("button", name="Draw", exact=True).click()
        assert "colour" in page.locator(".notice").inner_text()


def test_a_valid_new_molecule_is_looked_at_by_a_click_and_others_say_why_not(
    opened, generative
) -> None:
    rows = [
        {"status": "ok", "reason": None, "smiles": "CCO", "graph": None, "meets": True},
        {
            "status": "invalid",
            "reason": "in 2 pieces",
            "smiles": None,
            "graph": "C.C",
            "meets": False,
        },
    ]
    with page_of(generative) as at:
        page = opened("draw", at=at)
        page.route("**/sample", lambda route: route.fulfill(json={"rows": rows}))
        page.get_by_role("button", name="Draw", exact=True).click()
        page.wait_for_selector(".tile")
        assert "in 2 pieces" in page.locator(".tile").last.inner_text()
        assert page.locator("button.tile").count() == 1
        page.locator("button.tile").click()
        page.wait_for_selector(".input img.picture[alt='CCO']")
