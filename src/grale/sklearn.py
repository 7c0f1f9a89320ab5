"""GRALE as a step of a scikit-learn pipeline: molecules or graphs in, embeddings out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise ImportError("GraleTransformer needs scikit-learn: pip install 'grale[probe]'") from error

from grale.catalog import load
from grale.codec.failures import are_finite, check_on_error
from grale.model.autoencoder import GRALE

_cached = lru_cache(maxsize=4)(load)
IMPUTE = "impute"
FLAG = "grale_failed"


class GraleTransformer(TransformerMixin, BaseEstimator):
    """Embed SMILES, RDKit molecules or graphs with a pretrained model.

    `fit` learns nothing, unless rows that fail are to be imputed. The transformer holds the name of
    its model, not the weights: it can be cloned, compared and saved anywhere, and loads the model
    when it is first used.

    Parameters
    ----------
    model
        Name of a shipped model, a directory, or a hub id.
    on_error
        What happens to a row that the model cannot take. "impute": it gets the mean of the rows
        seen in `fit`, and a last feature is 1 for such rows and 0 for the others. "raise": an
        error. "null": the row is NaN. "skip": it has no row; do not use "skip" if rows must stay
        aligned with their targets, and see `without_failed` to drop both together.
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
        """Load the model; the mean of the rows is learned if others are imputed by it."""
        items = _listed(X)
        self._check()
        self._loaded()
        if self.on_error == IMPUTE:
            self.mean_ = _mean(self._vectors(items))
        return self

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> Any:  # noqa: N803
        """Fit and embed; with "impute", each graph is embedded once for both."""
        if self.on_error != IMPUTE:
            return super().fit_transform(X, y, **options)
        self._check()
        rows = self._vectors(_listed(X))
        self.mean_ = _mean(rows)
        return self._imputed(rows)

    def transform(self, X: Any) -> NDArray[np.float32]:  # noqa: N803
        """Embed each graph: one row each, in order."""
        items = _listed(X)
        if self.on_error != IMPUTE:
            return self._vectors(items)
        check_is_fitted(self)
        return self._imputed(self._vectors(items))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Name the columns: grale0, grale1, ..., and grale_failed if rows are imputed."""
        model = self._loaded()
        width = model.latent_dim if self.what == "latent" else model.description_dim
        names = [f"grale{place}" for place in range(width)]
        return np.array([*names, FLAG] if self.on_error == IMPUTE else names, dtype=object)

    def _check(self) -> None:
        if self.on_error != IMPUTE:
            check_on_error(self.on_error, IMPUTE)
        if self.what not in ("description", "latent"):
            raise ValueError(f"what={self.what!r}; expected 'description' or 'latent'")

    def _vectors(self, items: Sequence[Any]) -> NDArray[np.float32]:
        model = self._loaded()
        on_error: Any = "null" if self.on_error == IMPUTE else self.on_error
        latents = model.encode(items, self.batch_size, on_error, self.refine)
        if self.what == "latent":
            return latents
        return model.describe(latents, self.batch_size, on_error)

    def _imputed(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Rows with the mean in place of those that failed, and the flag behind them."""
        has_failed = ~are_finite(rows)
        filled = np.where(has_failed[:, None], self.mean_, rows)
        return np.concatenate([filled, has_failed[:, None]], axis=1, dtype=np.float32)

    def _loaded(self) -> GRALE:
        return _cached(self.model)

    def __sklearn_is_fitted__(self) -> bool:
        return self.on_error != IMPUTE or hasattr(self, "mean_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = self.on_error == IMPUTE
        tags.no_validation = True
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        return tags


def without_failed(X: Any, *beside: Any, model: str = "molecules") -> tuple[Any, ...]:  # noqa: N803
    """Drop the rows that a model cannot take, together with their targets, weights or ids.

    Returns the molecules and then each of `beside`, in the order given. Arrays stay arrays, columns
    of pandas and polars stay what they are, and lists stay lists.

    >>> without_failed(["CCO", "not a molecule", "CCN"], [1.0, 2.0, 3.0])
    (['CCO', 'CCN'], [1.0, 3.0])
    """
    items = _listed(X)
    for place, values in enumerate(beside):
        if len(values) != len(items):
            raise ValueError(
                f"{len(items)} molecules, but {len(values)} values in argument {place + 2}; "
                "give one each"
            )
    kept = [row for row, reason in enumerate(_cached(model).why_not(items)) if reason is None]
    return tuple(_taken(values, kept) for values in (X, *beside))


def _taken(values: Any, rows: list[int]) -> Any:
    """Rows of whatever holds them."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if isinstance(values, np.ndarray) or hasattr(values, "to_numpy"):
        return values[rows]
    return [values[row] for row in rows]


def _mean(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean of the rows that did not fail."""
    good = rows[are_finite(rows)]
    if not len(good):
        raise ValueError(f"the model can take none of the {len(rows)} rows, so they have no mean")
    mean: NDArray[np.float32] = good.mean(axis=0)
    return mean


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
