"""The core encodes and decodes without the extras, and what needs one names it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from grale.extras import EXTRAS, is_installed, need

ROOT = Path(__file__).resolve().parents[1]
WITHOUT = """
import sys
for name in {libraries}:
    sys.modules[name] = None  # as if it was not installed
"""
CORE = """
import numpy as np
import grale
model = grale.load("coloring-10")
ring = grale.Graph([0, 1, 0, 1, 2], [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])
vectors = model.encode([ring])
assert model.decode(vectors)[0].num_nodes > 0
np.save(sys.argv[1], np.concatenate([vectors, model.describe([ring])], axis=1))
"""


def run(code: str, *arguments: str, without: list[str]) -> subprocess.CompletedProcess:
    text = WITHOUT.format(libraries=without) + code
    return subprocess.run([sys.executable, "-c", text, *arguments], capture_output=True, text=True)


@pytest.mark.slow
def test_the_core_gives_the_same_vectors_without_extras(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numpy as np

    done = run(CORE, str(tmp_path / "core.npy"), without=sorted(EXTRAS))
    assert done.returncode == 0, done.stderr
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "all.npy")])
    exec(CORE, {"sys": sys})  # with all libraries, as in this process
    core, everything = (np.load(tmp_path / name) for name in ("core.npy", "all.npy"))
    np.testing.assert_allclose(core, everything, atol=2e-5)


@pytest.mark.parametrize(
    ("module", "library"),
    [
        ("grale.plot.page", "matplotlib"),
        ("grale.training.fabric", "lightning"),
        ("grale.compiled", "numba"),
        ("grale.tasks.heads", "sklearn"),
        ("grale.embed_frame", "pyarrow"),
    ],
)
def test_what_needs_an_extra_names_it(module: str, library: str) -> None:
    place, _, name = module.rpartition(".")
    done = run(f"from {place} import {name}", without=[library])
    assert done.returncode == 1
    assert f"pip install 'grale[{EXTRAS[library]}]'" in done.stderr.splitlines()[-1]


def test_a_library_that_is_there_is_not_asked_for() -> None:
    need("matplotlib", "drawing")
    assert is_installed("numpy")
    assert not is_installed("a_library_that_nobody_wrote")


def test_every_extra_is_one_of_the_package_and_not_of_the_core() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    core = " ".join(project["dependencies"])
    for library, extra in EXTRAS.items():
        name = "scikit-learn" if library == "sklearn" else library
        assert any(name in line for line in project["optional-dependencies"][extra])
        assert name not in core
    assert project["optional-dependencies"]["tests"][0].startswith("grale[all,onnx")
