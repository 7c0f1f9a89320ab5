"""Code in README runs; the pages in docs/ point at things that exist, where they are defined."""

from __future__ import annotations

import csv
import json
import re
import runpy
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from inspect import isclass, isfunction
from pathlib import Path
from typing import Any

import pytest

import grale

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "grale"
PAPER_MAP, ARCHITECTURE = (
    (ROOT / "docs" / name).read_text() for name in ("paper-map.md", "architecture.md")
)
POINTERS, HOPS = (re.findall(r"`(grale\.[\w.]+)`", page) for page in (PAPER_MAP, ARCHITECTURE))
WITH_CODE = ("README.md", "docs/graph-learning.md")
PYTHON_BLOCKS = [
    block
    for name in WITH_CODE
    for block in re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)
]


def found_at(pointer: str) -> Any:
    """What a dotted name stands for, or an AttributeError; it must be defined where it points."""
    path, *names = pointer.split(".")
    found = import_module(path)
    for name in names:
        path = f"{path}.{name}"
        is_module = hasattr(found, "__path__") and find_spec(path) is not None
        found = import_module(path) if is_module else getattr(found, name)
    if (isclass(found) or isfunction(found)) and not pointer.startswith(f"{found.__module__}."):
        raise AttributeError(f"{pointer} is defined in {found.__module__}")
    return found


@pytest.mark.parametrize("pointer", sorted({*POINTERS, *HOPS}))
def test_the_name_in_the_docs_exists_where_it_points(pointer: str) -> None:
    found_at(pointer)


@pytest.mark.parametrize(
    "wrong",
    [
        "grale.tasks.embeds.embed_file",  # module
        "grale.tasks.embed.embed_files",  # function
        "grale.model.autoencoder.GRALE.forwards",  # method
        "grale.model.featurizer.path_encoding",  # imported there, defined in grale.nn.positions
        "grale.model.autoencoder.GRALE.encode",  # inherited
    ],
)
def test_a_wrong_name_would_be_found_out(wrong: str) -> None:
    with pytest.raises(AttributeError):
        found_at(wrong)


def test_a_method_and_a_function_named_like_its_module_are_found() -> None:
    assert found_at("grale.model.autoencoder.GRALE.forward").__name__ == "forward"
    assert found_at("grale.matching.solve.solve").__name__ == "solve"


def test_there_are_pointers_and_blocks_to_check() -> None:
    assert len(POINTERS) > 30
    assert len(HOPS) > 80
    assert len(PYTHON_BLOCKS) >= len(WITH_CODE)


@pytest.mark.parametrize("name", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_page_lists_the_layers_of_the_contract(name: str) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = settings["contracts"]
    blocks = re.findall(r"```\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)
    listed = [[line.split("  ")[0] for line in block.splitlines()] for block in blocks]
    assert contract["layers"] in listed
    assert contract["layers"][1:] not in listed


def test_every_folder_has_its_line_in_the_architecture() -> None:
    lines = set(re.findall(r"^\| `([\w/.]+)` \|", ARCHITECTURE, re.MULTILINE))
    files = (path for kind in ("*.py", "*.yaml") for path in PACKAGE.rglob(kind))
    folders = {path.parent.relative_to(PACKAGE).as_posix() for path in files} - {"."}
    singles = {path.name for path in PACKAGE.glob("*.py")} - {"__init__.py"}
    assert lines == {*folders, *singles, "weights"}


@pytest.mark.parametrize("number", range(len(PYTHON_BLOCKS)))
def test_the_block_of_the_page_runs(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "block.py").write_text(PYTHON_BLOCKS[number])
    runpy.run_path(str(tmp_path / "block.py"))


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_the_example_runs_and_draws(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(path.read_text().splitlines()) < 100
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert list(tmp_path.rglob("*.png"))


def documented(page: str) -> set[str]:
    """Public names and methods that the page of the API shows."""
    names = set(re.findall(r"auto(?:function|class):: grale\.(\w+)\n", page))
    members = re.findall(r":members: (.+)", page)
    return names | {name.strip() for line in members for name in line.split(",")}


def test_the_page_of_the_api_has_every_public_name() -> None:
    page = (ROOT / "docs" / "api" / "index.md").read_text()
    methods = {"match", "match_many", "sample", "save_pretrained", "encode", "decode"}
    wanted = {*grale.__all__, *methods} - {"__version__"}
    assert wanted <= documented(page)
    assert not wanted <= documented(page.replace("grale.probe\n", "")), "a gap would be found"
    assert all(hasattr(grale.GRALE, name) for name in methods)


def test_the_notebook_is_stored_without_output() -> None:
    cells = json.loads((ROOT / "docs" / "chemist.ipynb").read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_the_csv_of_the_notebook_has_what_its_text_says() -> None:
    with (ROOT / "docs" / "data" / "dipoles.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 300
    assert sum(row["Name"] != "" for row in rows) == 52
    assert any(row["Dipole (D)"] == "" for row in rows)
    assert any("." in row["Canonical SMILES"] for row in rows)


def test_decisions_named_in_the_code_exist() -> None:
    sources = "\n".join(p.read_text() for p in (ROOT / "src").rglob("*.py"))
    numbers = set(re.findall(r"decisions/(\d{3})", sources))
    written = {path.name[:3] for path in (ROOT / "docs" / "decisions").glob("*.md")}
    assert numbers
    assert numbers <= written
