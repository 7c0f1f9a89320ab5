"""Download a file; after a broken connection or a kill, continue where it stopped."""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from grale.files import locked, write_whole

BLOCK = 1 << 20
TIMEOUT = 60.0  # seconds without a byte


def download(url: str, path: Path, progress: Callable[[int], object] | None = None) -> Path:
    """Download `url` to `path` unless that exists; continue from `path.partial` if there is one.

    If the file on the server has changed since (`path.partial.mark` tells), the download starts
    again. `progress` is called with the number of bytes of each block. While another run downloads
    to `path`, a BusyError is raised.
    """
    if path.is_file():
        return path
    with locked(path):
        return path if path.is_file() else _download(url, path, progress)


def _download(url: str, path: Path, progress: Callable[[int], object] | None) -> Path:
    partial = path.with_name(path.name + ".partial")
    mark_file = partial.with_name(partial.name + ".mark")
    done = partial.stat().st_size if partial.is_file() else 0
    mark = mark_file.read_text(encoding="utf-8") if done and mark_file.is_file() else ""
    try:
        with urllib.request.urlopen(_request(url, done, mark), timeout=TIMEOUT) as response:
            goes_on = response.status == 206
            if goes_on and mark and _mark(response) not in (mark, ""):
                partial.unlink()  # a server that ignores If-Range
                return _download(url, path, progress)
            expected = _length(response)
            with partial.open("ab" if goes_on else "wb") as file:
                if not goes_on:  # only now, so that an old part never has a new mark
                    write_whole(mark_file, _mark(response))
                received = _copy(response, file, progress)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not done:  # 416: nothing is left to download
            raise OSError(f"cannot download {url}: {error}") from error
        expected, received = None, 0
    except urllib.error.URLError as error:
        raise OSError(f"cannot download {url}: {error.reason}") from error
    if expected is not None and received != expected:
        raise OSError(
            f"{url} broke off after {received} of {expected} bytes; run again to continue"
        )
    os.replace(partial, path)
    mark_file.unlink(missing_ok=True)
    return path


def _request(url: str, done: int, mark: str) -> urllib.request.Request:
    headers = {"Range": f"bytes={done}-"} if done else {}
    return urllib.request.Request(url, headers=headers | ({"If-Range": mark} if mark else {}))


def _copy(response: Any, file: IO[bytes], progress: Callable[[int], object] | None) -> int:
    received = 0
    while block := response.read(BLOCK):
        file.write(block)
        received += len(block)
        if progress is not None:
            progress(len(block))
    return received


def _mark(response: object) -> str:
    """Mark of the present version of a file on a server; "" if the server gives none."""
    headers = getattr(response, "headers", {})
    tag = headers.get("ETag") or ""
    return tag if tag and not tag.startswith("W/") else headers.get("Last-Modified") or ""


def _length(response: object) -> int | None:
    length = getattr(response, "headers", {}).get("Content-Length")
    return None if length is None else int(length)
