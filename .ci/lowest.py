"""Print the lowest version of each dependency that pyproject.toml allows, as constraints of pip.

    python .ci/lowest.py > lowest.txt

Tools that only check the source (ruff, mypy, ...) are left out: no user runs them. torch stays at
the version of constraints.txt: older builds in the registry bring gigabytes of CUDA packages.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKERS = {"ruff", "mypy", "types-PyYAML", "import-linter", "codespell", "wandb", "umap-learn"}
CHECKERS |= {"schemathesis", "playwright"}  # they check the server from outside


def lowest() -> dict[str, str]:
    """Names and lowest versions of what the package and its tests need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *sum(project["optional-dependencies"].values(), [])]
    versions = {}
    for requirement in wanted:
        name, sign, version = re.split(r"(>=)", re.sub(r"\[.*?\]", "", requirement) + ">=")[:3]
        if sign and version and name not in CHECKERS:
            versions[name] = version
    pinned = re.search(r"^torch==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert pinned is not None, "constraints.txt pins torch"
    return versions | {"torch": pinned[1]}


if __name__ == "__main__":
    for name, version in lowest().items():
        print(f"{name}=={version}")  # noqa: T201
