"""GRALE as a step of a scikit-learn pipeline: molecules or graphs in, embeddings out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, TransformerMixin
except ImportError as error:
    raise ImportError("GraleTransformer needs scikit-learn: pip install 'grale[probe]'") from error

from grale.catalog import load
from grale.codec.failures import check_on_error
from grale.model.autoencoder import GRALE

_cached = lru_cache(maxsize=4)(load)


class GraleTransformer(TransformerMixin, BaseEstimator):
    """Embed SMILES, RDKit molecules or graphs with a pretrained model.

    `fit` learns nothing. The transformer holds the name of its model, not the weights: it can be
    cloned, compared and saved anywhere, and loads the model when it is first used.

    Parameters
    ----------
    model
        Name of a shipped model, a directory, or a hub id.
    on_error
        "raise", "null" (a row that fails is NaN) or "skip" (it has no row; do not use "skip" if
        rows must stay aligned with their targets).
    batch_size
        Graphs embedded at once.
    refine
        At most this many gradient steps, as in `GraphAutoencoder.encode`.
    what
        "description" (to compare graphs) or "latent" (vectors that decode).

    Examples
    --------
    >>> GraleTransformer("coloring-10").get_feature_names_out().tolist()[:2]
    ['grale0', 'grale1']
    """

    def __init__(
        self,
        model: Any = "molecules",
        on_error: Any = "raise",
        batch_size: Any = 256,
        refine: Any = 0,
        what: Any = "description",
    ) -> None:  # scikit-learn may set any value here and expects errors only in `fit`
        self.model = model
        self.on_error = on_error
        self.batch_size = batch_size
        self.refine = refine
        self.what = what

    def fit(self, X: Any, y: Any = None) -> GraleTransformer:  # noqa: N803
        """Load the model; nothing is learned."""
        _listed(X)
        check_on_error(self.on_error)
        if self.what not in ("description", "latent"):
            raise ValueError(f"what={self.what!r}; expected 'description' or 'latent'")
        self._loaded()
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:  # noqa: N803
        """Embed each graph: one row each, in order."""
        model = self._loaded()
        latents = model.encode(_listed(X), self.batch_size, self.on_error, self.refine)
        if self.what == "latent":
            return latents
        return model.describe(latents, self.batch_size, self.on_error)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the columns: grale0, grale1, ..."""
        model = self._loaded()
        width = model.latent_dim if self.what == "latent" else model.description_dim
        names = [f"grale{place}" for place in range(width)]
        return np.array(names, dtype=object)

    def _loaded(self) -> GRALE:
        return _cached(self.model)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.no_validation = True
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        return tags


def _listed(X: Any) -> Sequence[Any]:  # noqa: N803
    """A list from a list, an array, or a column of a data frame."""
    if hasattr(X, "tocsr"):
        raise TypeError("sparse input is not supported; give a list of molecules or graphs")
    if isinstance(X, str) or not hasattr(X, "__len__"):
        raise TypeError(f"expected a list of molecules or graphs, got {type(X).__name__}")
    values = X.to_numpy() if hasattr(X, "to_numpy") else X
    if isinstance(values, np.ndarray):
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise ValueError(f"expected one column of molecules, got an array of {values.shape}")
        return list(values)
    return list(values)
