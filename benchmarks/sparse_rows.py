"""Rows of feature numbers, gathered one by one, as a sparse matrix of ones."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
from scipy.sparse import csr_matrix


class SparseRows:
    """Rows and their answers; four bytes a feature, so that millions of rows fit."""

    def __init__(self) -> None:
        self.numbers, self.ends = array("i"), array("q", [0])
        self.answers = array("b")

    def add(self, numbers: Iterable[int], answer: bool) -> None:
        """Append a row."""
        self.numbers.extend(numbers)
        self.ends.append(len(self.numbers))
        self.answers.append(answer)

    def matrix(self, width: int) -> tuple[csr_matrix, np.ndarray]:
        """Ones at the features of each row, and the answers."""
        ones = np.ones(len(self.numbers), dtype=np.float32)
        shape = (len(self.answers), width)
        rows = csr_matrix((ones, np.array(self.numbers), np.array(self.ends)), shape=shape)
        return rows, np.array(self.answers, dtype=bool)
