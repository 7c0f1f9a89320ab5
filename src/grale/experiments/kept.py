"""Results that took long are kept in files, so that a second run only adds what is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from grale.files import write_whole


def kept(file: Path, compute: Callable[[], Any]) -> Any:
    """What the JSON file holds; computed and written first if it is not there."""
    if not file.is_file():
        write_whole(file, (json.dumps(compute(), indent=2) + "\n").encode())
    return json.loads(file.read_text())
