"""Print the lowest version of each dependency that pyproject.toml allows, as constraints of pip.

    python .ci/lowest.py > lowest.txt

Tools and the site's builder are left out: no user runs them. torch stays at
the version of constraints.txt: older builds in the registry bring gigabytes of CUDA packages.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = {"tools", "docs", "wandb", "umap"}  # extras


def lowest() -> dict[str, str]:
    """Names and lowest versions of what the package and its tests need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [v for name, v in project["optional-dependencies"].items() if name not in LEFT_OUT]
    wanted = [*project["dependencies"], *sum(extras, [])]
    versions = {}
    for requirement in wanted:
        name, sign, version = re.split(r"(>=)", re.sub(r"\[.*?\]", "", requirement) + ">=")[:3]
        if sign and version:
            versions[name] = version
    pinned = re.search(r"^torch==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert pinned is not None, "constraints.txt pins torch"
    return versions | {"torch": pinned[1]}


if __name__ == "__main__":
    for name, version in lowest().items():
        print(f"{name}=={version}")  # noqa: T201
