"""Libraries that only some users need, and the extras of the package that bring them.

The core encodes, describes and decodes. Training, drawing, compiled code and probing come with
extras: `pip install 'grale[all]'` brings all four.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec

EXTRAS = {
    "lightning": "train",
    "matplotlib": "plot",
    "numba": "fast",
    "onnxruntime": "onnx",
    "onnxscript": "onnx",
    "sklearn": "probe",
}
"""The extra that brings each library."""


@lru_cache
def is_installed(library: str) -> bool:
    """Whether a library can be imported; it is not imported."""
    return find_spec(library) is not None


def need(library: str, purpose: str) -> None:
    """Raise an ImportError that names the extra, if a library is not installed."""
    if not is_installed(library):
        extra = EXTRAS[library]
        raise ImportError(
            f"{purpose} needs {library}, which is not installed: pip install 'grale[{extra}]'"
        )
