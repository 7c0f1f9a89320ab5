"""The documentation site: `make docs` builds it into docs/_build/html.

`make docs-check` (the tag "check") writes every page and follows every link between them, but runs
no example, and leaves out what takes long and only readers need: sidebars and pages of source.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import fastapi  # noqa: F401  # before autodoc sets TYPE_CHECKING, which breaks pydantic
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, NumpyDocstring
from sphinx.transforms.post_transforms import SphinxPostTransform

import grale

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))  # for the functions that the gallery names
NAME_OF_CODE = re.compile(r"grale(\.\w+)+")
SECTIONS = Config(napoleon_use_rtype=False)
WEIGHTS = DOCS.parent / "src" / "grale" / "weights"
CARD = re.compile(r"\]\((?:\.\./)*src/grale/weights/([\w@-]+)/README\.md\)")
OF_SCIKIT_LEARN = re.compile(r"set_\w+_request")  # methods that it adds to its estimators
EQUATION = re.compile(r"^ {4,}\S")

project = "grale"
author = "The grale developers"
copyright = "the grale developers, MIT licence"  # noqa: A001
version = release = grale.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.apidoc",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
]
exclude_patterns = [
    "_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.json", "**/sg_execution_times.rst",
]  # fmt: skip
nitpicky = False
default_role = "code"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "cache"  # a notebook runs when its cells have changed
nb_execution_timeout = 900  # seconds per cell, on a machine that does other work
nb_execution_raise_on_error = True
nb_output_stderr = "remove"  # warnings name folders of the machine that builds the site

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "ignore-module-all": True}
autodoc_mock_imports = ["ray", "wandb"]
apidoc_modules = [
    {
        "path": "../src/grale",
        "destination": "api/modules",
        "exclude_patterns": ["**/cli/__main__.py"],
        "separate_modules": True,
        "module_first": True,
        "max_depth": 2,
    }
]

html_theme = "pydata_sphinx_theme"
html_title = "grale"
html_show_sphinx = False
html_theme_options = {
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "tango",
}
html_sidebars = {"index": []}


def pictures_written(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Take over the pictures that an example has written into its folder; pages are removed."""
    from sphinx_gallery.scrapers import figure_rst

    folder = Path(block_vars["src_file"]).parent
    found = []
    for picture in sorted(folder.glob("*.png")):
        target = Path(next(block_vars["image_path_iterator"]))
        shutil.move(picture, target)
        found.append(str(target))
    for page in folder.glob("*.html"):
        page.unlink()
    return figure_rst(found, gallery_conf["src_dir"])


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": ("conf.pictures_written",),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "abort_on_example_error": True,
    "remove_config_comments": True,
}

if "tags" in globals() and tags.has("check"):  # noqa: F821  # Sphinx defines it, the gallery does not
    extensions.remove("sphinx.ext.viewcode")
    html_theme, html_theme_options = "basic", {}
    nb_execution_mode = "off"
    sphinx_gallery_conf["plot_gallery"] = False


class LinkNamesOfCode(SphinxPostTransform):
    """`grale.model.loss.reconstruction_loss` in any page leads to its documentation."""

    default_priority = 400

    def run(self, **options: Any) -> None:
        """Wrap each literal that is the name of a documented object in a link."""
        known = self.env.domains["py"].data["objects"]
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext()
            if not NAME_OF_CODE.fullmatch(name) or name not in known:
                continue
            if isinstance(literal.parent, nodes.reference):
                continue
            place = known[name]
            uri = self.app.builder.get_relative_uri(self.env.docname, place.docname)
            link = nodes.reference("", "", literal.deepcopy(), refuri=f"{uri}#{place.node_id}")
            literal.replace_self(link)


def show_equations(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Docstrings hold equations as indented lines: show them as they stand."""
    shown: list[str] = []
    in_section = in_equation = False
    for place, line in enumerate(lines):
        if place + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[place + 1].strip()):
            in_section = True  # of numpydoc, whose indented lines have a meaning of their own
        is_equation = bool(EQUATION.match(line)) and not in_section
        before = next((text for text in reversed(shown) if text.strip()), "")
        if is_equation and not in_equation and not before.startswith((" ", ">>>", "..", ":")):
            shown += ["", "::", ""]
        if in_equation and line.strip() and not is_equation:
            shown.append("")
        if line.strip():
            in_equation = is_equation
        shown.append(line if is_equation else line.replace("|", r"\|"))
    sections = str(NumpyDocstring(shown, SECTIONS, app, what, name, obj, options))
    lines[:] = shown if what in ("attribute", "data", "property") else sections.splitlines()


def skip_added(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out methods whose docstrings link to scikit-learn's own pages."""
    return True if OF_SCIKIT_LEARN.fullmatch(name) else None


def copy_cards(app: Sphinx) -> None:
    """Make a page of each model's card."""
    (DOCS / "cards").mkdir(exist_ok=True)
    for card in WEIGHTS.glob("*/README.md"):
        text = card.read_text(encoding="utf-8").replace("../../../../docs/", "../")
        target = DOCS / "cards" / f"{card.parent.name}.md"
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def link_cards(app: Sphinx, docname: str, source: list[str]) -> None:
    """Links to a card next to its weights lead to its page."""
    up = "../" * docname.count("/")
    source[0] = CARD.sub(rf"]({up}cards/\1.md)", source[0])


def setup(app: Sphinx) -> None:
    """Register what is defined above."""
    app.connect("builder-inited", copy_cards)
    app.connect("source-read", link_cards)
    app.add_post_transform(LinkNamesOfCode)
    app.connect("autodoc-process-docstring", show_equations, priority=100)
    app.connect("autodoc-skip-member", skip_added)
