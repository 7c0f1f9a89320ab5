"""The Dockerfile copies files that exist and starts the server with options that it has."""

from __future__ import annotations

import json
import re
from pathlib import Path

from cli.invoking import invoke

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_what_is_copied_exists() -> None:
    copied = [line.split()[1:-1] for line in DOCKERFILE.splitlines() if line.startswith("COPY ")]
    assert sum(copied, []) != []
    for name in sum(copied, []):
        assert (ROOT / name).exists()


def test_the_server_is_started_with_options_that_it_has() -> None:
    found = re.search(r"^ENTRYPOINT (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert found is not None
    program, verb, *options = json.loads(found[1])
    assert (program, verb) == ("grale", "serve")
    text = invoke("serve", "--help")
    for option in options:
        assert not option.startswith("--") or option in text
