"""Functions compiled by numba, once, and kept in its cache beside checksums.

numba trusts what it finds in its cache. Here every file of the cache has a checksum in a file
beside it: what is damaged, or was written without one, is compiled again. Where there is no folder
to keep results in, functions are compiled in every process.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from grale.extras import need
from grale.files import sha256_of, write_whole

need("numba", "compiled code")

from numba import cfunc, njit  # noqa: E402
from numba.core import caching  # noqa: E402

logger = logging.getLogger(__name__)


class CheckedCacheFile(caching.IndexDataCacheFile):
    """Index and results of one function; a damaged file is treated as missing."""

    def _load_index(self) -> Any:
        return super()._load_index() if _is_whole(self._index_path) else {}

    def _save_index(self, overloads: Any) -> None:
        super()._save_index(overloads)
        _write_checksum(self._index_path)

    def _load_data(self, name: str) -> Any:
        if not _is_whole(self._data_path(name)):
            raise OSError(f"{name} is damaged")  # numba compiles again
        return super()._load_data(name)

    def _save_data(self, name: str, data: Any) -> None:
        super()._save_data(name, data)
        _write_checksum(self._data_path(name))


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.njit` with a cache that is checked."""
    return lambda function: _cached(njit, function, options)


def compiled_callback(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """`numba.cfunc` of a signature with a cache that is checked."""
    return lambda function: _cached(lambda **options: cfunc(signature, **options), function, {})


def _cached(
    compiler: Callable[..., Any], function: Callable[..., Any], options: dict[str, Any]
) -> Any:
    try:
        with _checked_files():
            return compiler(cache=True, **options)(function)
    except RuntimeError:  # there is no folder that the result could be kept in
        return compiler(**options)(function)


@contextmanager
def _checked_files() -> Iterator[None]:
    """Let numba take the class above for the caches that it makes meanwhile."""
    plain = caching.IndexDataCacheFile
    caching.IndexDataCacheFile = CheckedCacheFile  # type: ignore[misc]
    try:
        yield
    finally:
        caching.IndexDataCacheFile = plain  # type: ignore[misc]


def _checksum_of(path: str) -> Path:
    return Path(f"{path}.sha256")


def _is_whole(path: str) -> bool:
    """Whether a file is there and has the checksum beside it."""
    try:
        found = sha256_of(Path(path))
    except FileNotFoundError:
        return False
    with suppress(OSError):
        if _checksum_of(path).read_bytes() == found.encode():
            return True
    logger.info("%s is damaged or has no checksum: compiling again", path)
    return False


def _write_checksum(path: str) -> None:
    with suppress(OSError):  # a cache that cannot be kept is compiled again
        write_whole(_checksum_of(path), sha256_of(Path(path)))
