"""Download a file so that a broken connection or a killed run costs nothing already fetched.

Departures: not in the paper.
"""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

BLOCK = 1 << 20


def download(url: str, path: Path, progress: Callable[[int], object] | None = None) -> Path:
    """Fetch `url` to `path` unless it is there; go on from `path.partial` if that is.

    `progress` is told of every block's bytes.
    """
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    done = partial.stat().st_size if partial.is_file() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        with urllib.request.urlopen(request) as response:
            goes_on = response.status == 206
            with partial.open("ab" if goes_on else "wb") as file:
                expected = _length(response)
                received = 0
                while block := response.read(BLOCK):
                    file.write(block)
                    received += len(block)
                    if progress is not None:
                        progress(len(block))
    except urllib.error.HTTPError as error:
        if error.code != 416 or not done:  # 416: nothing is left to fetch
            raise OSError(f"cannot download {url}: {error}") from error
        expected, received = None, 0
    except urllib.error.URLError as error:
        raise OSError(f"cannot download {url}: {error.reason}") from error
    if expected is not None and received != expected:
        raise OSError(f"{url} broke off after {received} of {expected} bytes; start again to go on")
    os.replace(partial, path)
    return path


def _length(response: object) -> int | None:
    length = getattr(response, "headers", {}).get("Content-Length")
    return None if length is None else int(length)
