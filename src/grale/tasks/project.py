"""Embeddings in two dimensions, for a map of a dataset (paper: figure of the latent space).

Departures: principal components by default, UMAP as an option.
"""

from __future__ import annotations

import warnings
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Method = Literal["pca", "umap"]
UMAP_LEAST = 15  # its number of neighbours


class Projection(NamedTuple):
    """Points in the plane."""

    points: NDArray[np.float64]
    """(n, 2), in the order of the embeddings."""
    axes: tuple[str, str]
    """Names of the two axes."""


def project(latents: NDArray[np.floating], method: Method = "pca", seed: int = 0) -> Projection:
    """Place each embedding in the plane; near embeddings stay near."""
    values = np.asarray(latents, dtype=np.float64)
    if values.ndim != 2 or len(values) < 3:
        raise ValueError(f"a map needs at least 3 embeddings as rows, got shape {values.shape}")
    bad = ~np.isfinite(values).all(axis=1)
    if bad.any():
        raise ValueError(f"embedding {int(bad.argmax())} is not finite; leave failed rows out")
    if method == "pca":
        return principal_components(values)
    if method == "umap":
        if len(values) <= UMAP_LEAST:
            raise ValueError(f"UMAP needs more than {UMAP_LEAST} embeddings, got {len(values)}")
        return _umap(values, seed)
    raise ValueError(f"method={method!r}; expected 'pca' or 'umap'")


def principal_components(values: NDArray[np.float64]) -> Projection:
    """The two directions of largest variance; signs are fixed so that a map is repeatable."""
    centred = values - values.mean(axis=0)
    variances, vectors = np.linalg.eigh(centred.T @ centred)
    directions = vectors[:, [-1, -2]] if values.shape[1] > 1 else np.hstack([vectors, 0 * vectors])
    directions = directions * np.sign(directions[np.abs(directions).argmax(axis=0), [0, 1]] + 1e-12)
    total = max(float(variances.sum()), 1e-12)
    shares = [float(share) / total for share in variances[::-1][:2]]
    names = [f"component {k + 1} ({share:.0%} of the variance)" for k, share in enumerate(shares)]
    return Projection(centred @ directions, (names[0], names[-1]))


def _umap(values: NDArray[np.float64], seed: int) -> Projection:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns about parts that are not used here
        try:
            from umap import UMAP
        except ImportError as error:
            message = "UMAP is not installed: pip install 'grale[umap]', or use pca"
            raise ImportError(message) from error
        points = UMAP(n_components=2, random_state=seed, n_jobs=1).fit_transform(values)
    return Projection(np.asarray(points, dtype=np.float64), ("UMAP 1", "UMAP 2"))
