"""Numbers that RDKit computes for a molecule: descriptors to train the description on.

The training descriptors are quick to compute (about two milliseconds per molecule). logP, TPSA and
QED are not among them, so that a model can be tested on those three.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

HELD_OUT = ("MolLogP", "TPSA", "qed")
LARGEST = 1e6  # larger values are cut: they say no more
_SLOW = (
    "SPS", "Ipc", "AvgIpc", "BertzCT", "MaxAbsEStateIndex", "MinAbsEStateIndex", "MaxEStateIndex",
    "MinEStateIndex", "Chi0", "Chi1",
)  # fmt: skip
_MANY = {"MQNs_": 42, "SMR_VSA_": 10, "PEOE_VSA_": 14, "CalcAUTOCORR2D": 192}
_LEFT_OUT = ("SMR_VSA", "PEOE_VSA", "SlogP_VSA", "BCUT2D", "FpDensity")  # in _MANY, logP, or slow


@lru_cache(maxsize=1)
def training_names() -> tuple[str, ...]:
    """Names of the descriptors of :func:`training_descriptors`, in order."""
    many = [f"{name.strip('_')}_{place}" for name, size in _MANY.items() for place in range(size)]
    return (*_single_functions(), *many)


def training_descriptors(molecule: Any) -> NDArray[np.float32]:
    """All training descriptors of an RDKit molecule; NaN where RDKit fails."""
    from rdkit import rdBase

    found: list[float | int] = []
    with rdBase.BlockLogs():
        for single in _single_functions().values():
            found += _safely(single, molecule, 1)
        for many, size in _vector_functions():
            found += _safely(many, molecule, size)
    return _limited(found).astype(np.float32)


def all_names() -> tuple[str, ...]:
    """Names of RDKit's two-dimensional descriptors, in order."""
    from rdkit.Chem import Descriptors

    return tuple(name for name, _ in Descriptors.descList)


def all_descriptors(molecule: Any) -> NDArray[np.float64]:
    """Everything that RDKit says of a molecule, the held-out three included; NaN where unknown."""
    from rdkit import rdBase
    from rdkit.Chem import Descriptors

    with rdBase.BlockLogs():
        found = [_safely(function, molecule, 1)[0] for _, function in Descriptors.descList]
    return _limited(found)


def _limited(found: list[float | int]) -> NDArray[np.float64]:
    values = np.array(found, dtype=np.float64)
    values[~np.isfinite(values)] = np.nan
    return values.clip(-LARGEST, LARGEST)


@lru_cache(maxsize=1)
def _single_functions() -> dict[str, Callable[[Any], float]]:
    from rdkit.Chem import Descriptors

    left_out = (*HELD_OUT, *_SLOW)
    return {
        name: function
        for name, function in Descriptors.descList
        if name not in left_out and not name.startswith(_LEFT_OUT)
    }


@lru_cache(maxsize=1)
def _vector_functions() -> tuple[tuple[Callable[[Any], Any], int], ...]:
    from rdkit.Chem import rdMolDescriptors

    return tuple((getattr(rdMolDescriptors, name), size) for name, size in _MANY.items())


def _safely(function: Callable[[Any], Any], molecule: Any, size: int) -> list[float | int]:
    """Values of one function; NaN for molecules that it cannot take (rare elements, say)."""
    try:
        values = function(molecule)
        return [values] if size == 1 else list(values)
    except (ValueError, RuntimeError, ZeroDivisionError, OverflowError):
        return [float("nan")] * size
