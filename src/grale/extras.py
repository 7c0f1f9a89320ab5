"""Libraries that only some users need, and the extras of the package that bring them.

The core encodes, describes and decodes. Files and datasets, training, drawing, compiled code and
probing come with extras: `pip install 'grale[all]'` brings all five.
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
    "pyarrow": "files",
    "sklearn": "probe",
}
"""The extra that brings each library."""


@lru_cache
def is_installed(library: str) -> bool:
    """Whether a library can be imported; it is not imported."""
    return find_spec(library) is not None


def hint_for(error: Exception) -> str:
    """What brings a library that could not be imported, unless the error says it already."""
    library = str(getattr(error, "name", None)).partition(".")[0]
    if library not in EXTRAS or "pip install" in str(error):
        return ""
    return f": pip install 'grale[{EXTRAS[library]}]'"


def need(library: str, purpose: str) -> None:
    """Raise an ImportError that names the extra, if a library is not installed."""
    if not is_installed(library):
        extra = EXTRAS[library]
        raise ImportError(
            f"{purpose} needs {library}, which is not installed: pip install 'grale[{extra}]'"
        )
