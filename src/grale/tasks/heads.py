"""Simple models on top of vectors, by name, to measure what the vectors hold.

ridge     is the target a linear function of the vector?
knn       do near vectors have near targets?
svm       with an RBF kernel: what a careful user would get (paper: "Representation learning")
mlp       one hidden layer
logistic  a linear model for classes
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

NEIGHBOURS = 5
RIDGES = np.logspace(-2, 5, 15)
SVM_GRID = {"C": (1.0, 3.0, 10.0, 30.0, 100.0)}
INNER_SPLITS = 3
REGRESSION, CLASSIFICATION = "regression", "classification"


def build_head(name: str, task: str = REGRESSION) -> Any:
    """An unfitted scikit-learn estimator that standardises its input."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    heads = HEADS[task]
    if name not in heads:
        raise ValueError(f"head={name!r}; for {task} expected one of {', '.join(heads)}")
    return make_pipeline(StandardScaler(), heads[name]())


def r2_of(
    name: str, vectors: NDArray[np.floating[Any]], values: NDArray[np.float64], fitted: int
) -> float:
    """Share of the variance of the other rows explained by a head fitted on the first rows."""
    known = np.isfinite(values) & np.isfinite(vectors).all(axis=1)
    first, rest = known.copy(), known.copy()
    first[fitted:], rest[:fitted] = False, False
    head = build_head(name).fit(vectors[first], values[first])
    return float(head.score(vectors[rest], values[rest]))


def _ridge() -> Any:
    from sklearn.linear_model import RidgeCV

    return RidgeCV(RIDGES)


def _neighbours() -> Any:
    from sklearn.neighbors import KNeighborsRegressor

    return KNeighborsRegressor(NEIGHBOURS)


def _machine() -> Any:
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVR

    return GridSearchCV(SVR(epsilon=0.05), SVM_GRID, cv=INNER_SPLITS)


def _network() -> Any:
    from sklearn.neural_network import MLPRegressor

    return MLPRegressor(hidden_layer_sizes=(256,), alpha=1e-2, max_iter=500, random_state=0)


def _logistic() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    grid = {"C": np.logspace(-3, 2, 6)}
    return GridSearchCV(LogisticRegression(max_iter=2_000), grid, cv=INNER_SPLITS)


def _neighbour_classes() -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(NEIGHBOURS)


def _machine_classes() -> Any:
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    return GridSearchCV(SVC(), SVM_GRID, cv=INNER_SPLITS, scoring="roc_auc")


HEADS: dict[str, dict[str, Callable[[], Any]]] = {
    REGRESSION: {"ridge": _ridge, "knn": _neighbours, "svm": _machine, "mlp": _network},
    CLASSIFICATION: {
        "logistic": _logistic, "knn": _neighbour_classes, "svm": _machine_classes,
    },
}  # fmt: skip
