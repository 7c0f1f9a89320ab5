"""Simple models on top of vectors, by name, to measure what the vectors hold.

ridge      is the target a linear function of the vector?
logistic   the same for classes
knn        do near vectors have near targets?
svm        support vector machine with an RBF kernel, C by an inner split (paper: "Graph
           classification/Regression")
svm-tuned  the same, the width of the kernel by the inner split, too: what a careful user would get
mlp        two hidden layers (paper: for QM9 and QM40)

All standardise their input with the rows they learn from. Numbers further out than ten deviations
count as ten, as bits that one molecule in a thousand has; unknown ones as the mean.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

try:
    from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin
except ImportError as error:
    raise ImportError("probing needs scikit-learn: pip install 'grale[probe]'") from error

import numpy as np
import torch
from numpy.typing import NDArray

from grale.tasks.held_out import explained
from grale.tasks.latent_predictor import FitConfig, fit_regressor

NEIGHBOURS = 5
RIDGES = np.logspace(-2, 5, 15)
PENALTIES = (1.0, 3.0, 10.0, 30.0, 100.0)  # C of a support vector machine
WIDTHS = (1.0, 0.3, 0.1)  # of gamma, in units of scikit-learn's "scale"
TOLERANCE = 0.05  # deviations within which a support vector regression counts as right
MOST_ROWS_OF_A_KERNEL = 12_000  # a kernel holds the square of that
NETWORK = FitConfig(hidden_dim=512, num_hidden=2, epochs=40, learning_rate=1e-3, weight_decay=0.01)
"""Of numbers: the rate falls to zero, so that no rows need to be set aside to stop early."""
CLASS_NETWORK = {
    "hidden_layer_sizes": (512, 512), "max_iter": 100, "early_stopping": True,
    "n_iter_no_change": 20, "random_state": 0,
}  # fmt: skip
"""Of classes: the best of at most a hundred passes, by a tenth of the rows learned from."""
INNER_SPLITS = 3
FURTHEST = 10.0  # deviations
REGRESSION, CLASSIFICATION = "regression", "classification"


def build_head(name: str, task: str = REGRESSION) -> Any:
    """An unfitted scikit-learn estimator that standardises its input."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    heads = HEADS[task]
    if name not in heads:
        raise ValueError(f"head={name!r}; for {task} expected one of {', '.join(heads)}")
    return make_pipeline(StandardScaler(), WithinReach(), heads[name]())


def fit_head(head: Any, vectors: NDArray[np.floating], values: NDArray[Any]) -> Any:
    """The head after learning; a network that stops after its last pass gives no warning."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return head.fit(vectors, values)


def r2_of(
    name: str, vectors: NDArray[np.floating], values: NDArray[np.float64], fitted: int
) -> float:
    """Share of the variance of the other rows explained by a head fitted on the first rows."""
    known = np.isfinite(values) & np.isfinite(vectors).all(axis=1)
    first, rest = known.copy(), known.copy()
    first[fitted:], rest[:fitted] = False, False
    head = build_head(name).fit(vectors[first], values[first])
    return float(explained(values[rest], head.predict(vectors[rest])))


def scores_of(head: Any, vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Values that a fitted head predicts; of classes, numbers that rank rows by the second one."""
    if hasattr(head, "decision_function"):
        return np.asarray(head.decision_function(vectors))
    if hasattr(head, "predict_proba"):
        return np.asarray(head.predict_proba(vectors))[:, 1]
    return np.asarray(head.predict(vectors))


class WithinReach(TransformerMixin, BaseEstimator):
    """Cut standardised numbers to ten deviations; unknown ones become the mean."""

    def fit(self, X: Any, y: Any = None) -> WithinReach:  # noqa: N803
        """Learn nothing."""
        return self

    def transform(self, X: Any) -> NDArray[np.floating]:  # noqa: N803
        """Cut and fill."""
        return np.nan_to_num(np.asarray(X), nan=0.0).clip(-FURTHEST, FURTHEST)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class KernelMachine(BaseEstimator):
    """An RBF support vector machine whose kernel is computed once for all of its inner fits."""

    def __init__(self, machine: Any, scoring: str, widths: tuple[float, ...] = (1.0,)) -> None:
        self.machine, self.scoring, self.widths = machine, scoring, widths

    def fit(self, X: NDArray[np.floating], y: NDArray[Any]) -> KernelMachine:  # noqa: N803
        """Choose C, and the width of the kernel, by an inner split; fit all rows with them."""
        from sklearn.model_selection import GridSearchCV

        if len(X) > MOST_ROWS_OF_A_KERNEL:
            raise ValueError(
                f"a support vector machine takes at most {MOST_ROWS_OF_A_KERNEL:,} rows, got "
                f"{len(X):,}; choose another head, such as mlp or ridge"
            )
        self.rows_ = X
        scale = float(1 / (X.shape[1] * max(X.var(), 1e-12)))  # scikit-learn's gamma="scale"
        searches = []
        for width in self.widths:
            search = GridSearchCV(
                self.machine, {"C": PENALTIES}, cv=_inner_splits(y), scoring=self.scoring
            )
            searches.append((search.fit(self._kernel(X, width * scale), y), width * scale))
        self.search_, self.gamma_ = max(searches, key=lambda found: found[0].best_score_)
        return self

    def predict(self, X: NDArray[np.floating]) -> NDArray[Any]:  # noqa: N803
        """Predict values or classes."""
        return np.asarray(self.search_.predict(self._kernel(X, self.gamma_)))

    def _kernel(self, X: NDArray[np.floating], gamma: float) -> NDArray[np.floating]:  # noqa: N803
        from sklearn.metrics.pairwise import rbf_kernel

        return rbf_kernel(X, self.rows_, gamma=gamma)


class KernelClassifier(KernelMachine):
    """The same with numbers that rank rows by their class."""

    def decision_function(self, X: NDArray[np.floating]) -> NDArray[np.float64]:  # noqa: N803
        """Distance from the border between the classes."""
        return np.asarray(self.search_.decision_function(self._kernel(X, self.gamma_)))


class Network(RegressorMixin, BaseEstimator):
    """The multilayer perceptron of `latent_predictor`, as scikit-learn wants it."""

    def fit(self, X: NDArray[np.floating], y: NDArray[np.floating]) -> Network:  # noqa: N803
        """Train on all rows, in an order that is always the same."""
        rows, values = (torch.from_numpy(np.asarray(part, np.float32)) for part in (X, y))
        generator = torch.Generator().manual_seed(NETWORK.seed)
        self.network_ = fit_regressor(rows, values, NETWORK, generator)
        return self

    def predict(self, X: NDArray[np.floating]) -> NDArray[np.float64]:  # noqa: N803
        """Predict values."""
        with torch.no_grad():
            found = self.network_(torch.from_numpy(np.asarray(X, np.float32)))
        return np.asarray(found.numpy(), np.float64)


def _inner_splits(y: NDArray[Any]) -> Any:
    """Three folds in random order; classes keep their shares."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if np.issubdtype(np.asarray(y).dtype, np.integer):
        return StratifiedKFold(INNER_SPLITS, shuffle=True, random_state=0)
    return KFold(INNER_SPLITS, shuffle=True, random_state=0)


def _ridge() -> Any:
    from sklearn.linear_model import RidgeCV

    return RidgeCV(RIDGES)


def _neighbours() -> Any:
    from sklearn.neighbors import KNeighborsRegressor

    return KNeighborsRegressor(NEIGHBOURS)


def _machine(widths: tuple[float, ...] = (1.0,)) -> Any:
    from sklearn.svm import SVR

    machine = SVR(kernel="precomputed", epsilon=TOLERANCE)
    return KernelMachine(machine, "neg_mean_absolute_error", widths)


def _network_classes() -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(**CLASS_NETWORK)


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    grid = {"C": np.logspace(-3, 2, 6)}
    return GridSearchCV(LogisticRegression(max_iter=2_000), grid, cv=INNER_SPLITS)


def _neighbour_classes() -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(NEIGHBOURS)


def _machine_classes(widths: tuple[float, ...] = (1.0,)) -> Any:
    from sklearn.svm import SVC

    return KernelClassifier(SVC(kernel="precomputed"), "roc_auc", widths)


HEADS: dict[str, dict[str, Callable[[], Any]]] = {
    REGRESSION: {
        "svm": _machine, "svm-tuned": lambda: _machine(WIDTHS), "mlp": Network, "ridge": _ridge,
        "knn": _neighbours,
    },
    CLASSIFICATION: {
        "svm": _machine_classes, "svm-tuned": lambda: _machine_classes(WIDTHS),
        "mlp": _network_classes, "logistic": _logistic, "knn": _neighbour_classes,
    },
}  # fmt: skip
