"""Examples in docstrings are run.

Only modules that hold one are looked at: a search of all modules (`--doctest-modules`) would take
longer than the examples.
"""

import doctest
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src"
MODULES = [
    ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    for path in sorted(SOURCE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_say(name: str) -> None:
    module = import_module(name)
    lines = Path(str(module.__file__)).read_text(encoding="utf-8").splitlines()
    result = doctest.testmod(module)
    assert result.failed == 0
    assert result.attempted == sum(">>> " in line and "+SKIP" not in line for line in lines)


def test_a_wrong_example_fails(capsys: pytest.CaptureFixture[str]) -> None:
    module = ModuleType("wrong", ">>> 1 + 1\n3\n")
    assert doctest.testmod(module).failed == 1
    assert "Got:\n    2" in capsys.readouterr().out
