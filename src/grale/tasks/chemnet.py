"""ChemNet, a network that predicts bioassays from SMILES, as a maker of vectors (an extra).

Preuer et al. 2018 compare sets of molecules by its last hidden layer, 512 numbers. The weights come
inside the wheel of `fcd`; they are read as tensors alone, never unpickled as objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

WEIGHTS = "ChemNet_v0.13_pretrained.pt"
LENGTH = 350  # tokens of the padded input, as in training
WIDTH = 512


def why_not(smiles: str) -> str | None:
    """Reason why ChemNet cannot take a SMILES, if it cannot."""
    if len(smiles) >= LENGTH:
        return f"the SMILES has {len(smiles)} characters; ChemNet reads at most {LENGTH - 1}"
    return None


def chemnet_vectors(smiles: Sequence[str]) -> NDArray[np.float64]:
    """Last hidden layer for each canonical SMILES."""
    from fcd.utils import get_one_hot

    if not smiles:
        return np.empty((0, WIDTH))
    hot = np.stack([get_one_hot(text, LENGTH) for text in smiles])
    scaled = torch.from_numpy(hot / hot.shape[2]).float()  # as fcd's own SmilesDataset
    with torch.no_grad():
        return _network()(scaled.transpose(1, 2)).double().numpy()


def check_chemnet() -> None:
    """Raise if the extra is not installed."""
    try:
        import fcd  # noqa: F401
    except ImportError:
        raise ImportError(
            "chemnet needs the weights that come with fcd; pip install 'grale[chemnet]'"
        ) from None


@lru_cache(maxsize=1)
def _network() -> Any:
    from fcd.utils import load_imported_model

    with as_file(files("fcd") / WEIGHTS) as path:
        layers = torch.load(path, weights_only=True, map_location="cpu")
    return load_imported_model(layers).eval()
