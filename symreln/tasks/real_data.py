"""Real data sets that come with scikit-learn, as exact numbers."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.errors import Problem, SpecError
from symreln.exact.sparse import SparseMatrix

if TYPE_CHECKING:
    from symreln.exact.matrix import ExactMatrix


def bundled(loader: str) -> Any:
    """Return a data set of ``sklearn.datasets``; nothing is downloaded.

    Args:
        loader: Name of the loading function.

    Raises:
        SpecError: scikit-learn is not installed.
    """
    try:
        datasets = importlib.import_module("sklearn.datasets")
    except ImportError:
        raise SpecError(
            [
                Problem(
                    path="dataset.task",
                    found="a task whose data is part of scikit-learn, which is not installed",
                    expected="a task of symreln's own, or scikit-learn installed",
                    hint="Install it: pip install 'symreln[data]'",
                )
            ]
        ) from None
    return getattr(datasets, loader)()


def scaled_integers(samples: Sequence[Sequence[float]], denominator: int) -> ExactMatrix:
    """Return numbers k/denominator, one row a sample, as a matrix with one column a sample.

    Every number must be the float nearest to such a fraction; rounding then gives k back exactly.
    """
    rows = [[round(value * denominator) for value in sample] for sample in samples]
    for sample, row in zip(samples, rows, strict=True):
        for value, numerator in zip(sample, row, strict=True):
            if numerator / denominator != value:
                msg = f"the bundled data holds {value}, no multiple of 1/{denominator}"
                raise AssertionError(msg)
    numerators = np.array(rows, dtype=np.int64).T
    shape = (numerators.shape[0], numerators.shape[1])
    features, holders = np.nonzero(numerators)
    values = numerators[features, holders]
    return SparseMatrix.from_entries(shape, features, holders, values, denominator).exact


def one_hot(classes: Sequence[int], count: int) -> ExactMatrix:
    """Return one-hot targets, shape (count, P)."""
    samples = np.arange(len(classes))
    return SparseMatrix.from_entries(
        (count, len(classes)), classes, samples, np.ones_like(samples)
    ).exact
