"""Files that are complete or not there, and outputs that only one run writes at a time.

`whole` is the one way this package writes a file: under a unique temporary name, renamed when all
is written. `locked` keeps a second run away from an output; the system releases the lock when its
holder ends, however it ends. `read_json` reads files that others may have written.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

PARTIAL = ".part"
TEMPORARY = re.compile(rf"\.(.+)\.[0-9a-f]{{32}}{re.escape(PARTIAL)}", re.DOTALL)
"""Names that :func:`whole` gives to files that are being written."""
MAX_JSON_BYTES = 5_000_000
MAX_JSON_DEPTH = 32  # far below what Python can follow
MAX_DATA_BYTES = 1_000_000_000  # of a file that is read as a whole, unpacked


class BusyError(OSError):
    """Another run is writing this output."""


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary name to write to; it becomes `path` unless something goes wrong.

    Folders are made as needed. Two writers of one path never share a temporary name: the last one
    to finish wins, and readers see one complete file or the other.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}{PARTIAL}")
    try:
        partial.touch()
        mode = partial.stat().st_mode  # by the umask; some libraries write files of their own mode
        yield partial
        partial.chmod(mode)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def unfinished(folder: Path) -> dict[Path, str]:
    """Temporary files of :func:`whole` in a folder, of runs at work and of killed ones.

    Each comes with the name it would have got.
    """
    if not folder.is_dir():
        return {}
    found = {path: TEMPORARY.fullmatch(path.name) for path in folder.iterdir()}
    return {path: match[1] for path, match in found.items() if match}


def write_whole(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write `content` so that readers see the old file or the new one."""
    with whole(path) as partial:
        partial.write_bytes(content.encode() if isinstance(content, str) else content)
    return Path(path)


def read_json(path: Path, max_bytes: int = MAX_JSON_BYTES) -> Any:
    """Values of a JSON file of limited size and depth, or a ValueError that names the file."""
    with path.open("rb") as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise ValueError(f"{path} has more than {max_bytes} bytes, too many for this JSON")
    if not content.strip():
        raise ValueError(f"{path} is empty; expected JSON")
    return parse_json(content, path)


def parse_json(content: bytes | str, name: object) -> Any:
    """Values of JSON of limited depth, or a ValueError that names what it is."""
    too_deep = f"{name} is nested more than {MAX_JSON_DEPTH} levels deep"
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        values = json.loads(text)
    except RecursionError:
        raise ValueError(too_deep) from None
    except ValueError as error:  # not UTF-8, not JSON, or a number of thousands of digits
        raise ValueError(f"{name} is not JSON: {error}") from error
    if _is_deeper(values, MAX_JSON_DEPTH):
        raise ValueError(too_deep)
    return values


def _is_deeper(values: Any, most: int) -> bool:
    """Whether lists and objects are nested more than `most` levels deep."""
    level = [values]
    for _ in range(most + 1):
        nested = (each for each in level if isinstance(each, list | dict))
        level = [v for each in nested for v in (each.values() if isinstance(each, dict) else each)]
    return bool(level)


def sha256_of(path: Path) -> str:
    """Checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def to_disk(path: Path) -> None:
    """Wait until a file or folder is on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(out: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other runs away from the output `out`, or raise BusyError and name the process.

    The lock is a file next to the output. It holds the number of the process and is removed at the
    end. A file that a kill leaves behind locks nothing, since the lock ends with the process. What
    killed runs have left of this output under temporary names is removed: nobody else writes it.
    """
    out = Path(os.path.abspath(out))
    new = [folder for folder in out.parents if not folder.exists()]  # the innermost first
    path = out.with_name(f".{out.name}.lock")
    file = _acquire(path, out)
    try:
        for left, name in unfinished(out.parent).items():
            if name == out.name:
                left.unlink(missing_ok=True)
        yield
    finally:
        path.unlink(missing_ok=True)  # before the lock ends, so that others see it is gone
        file.close()
        with suppress(OSError):  # a run that wrote nothing leaves no folders behind, either
            for folder in new:
                folder.rmdir()


def _acquire(path: Path, out: Path) -> IO[Any]:
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("a+", encoding="ascii")
        except FileNotFoundError:  # a run that failed has just removed the folder it had made
            continue
        try:
            _lock(file)
            if _is_still(file, path):
                file.truncate(0)
                file.write(f"{os.getpid()}\n")
                file.flush()
                return file
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            file.close()
            raise BusyError(
                f"{out} is being written by another run (process {holder}); wait until it has "
                "finished, or choose another output"
            ) from None
        file.close()


def _is_still(file: IO[Any], path: Path) -> bool:
    """Whether the locked file is still the one under its name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _lock(file: IO[Any]) -> None:
    """Lock an open file, or raise BlockingIOError."""
    try:
        import fcntl
    except ImportError:  # Windows, which also cannot remove a file that others have open
        import msvcrt

        try:  # mypy knows these names on Windows only
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError as error:
            raise BlockingIOError from error
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
