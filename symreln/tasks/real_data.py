"""Real data sets that come with scikit-learn, as exact numbers."""

from __future__ import annotations

import gzip
import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from symreln.errors import Problem, SpecError
from symreln.exact.matrix import ExactMatrix


class Bundled(NamedTuple):
    """A data set that comes with scikit-learn.

    Attributes:
        data: Shape (samples, features).
        classes: Shape (samples,), whole numbers from 0.
        names: What the classes are called.
    """

    data: np.ndarray
    classes: np.ndarray
    names: tuple[str, ...]


def bundled(loader: str, file: str) -> Bundled:
    """Return a data set of ``sklearn.datasets``; nothing is downloaded.

    Importing scikit-learn takes seconds, so its file is read where it is as in present versions.

    Args:
        loader: Name of the loading function.
        file: Name of the file that the function reads, among those of ``sklearn.datasets``.

    Raises:
        SpecError: scikit-learn is not installed.
    """
    package = importlib.util.find_spec("sklearn")
    for folder in (package and package.submodule_search_locations) or ():
        path = Path(folder, "datasets", "data", file)
        if path.is_file():
            return _read(path)
    try:
        datasets = importlib.import_module("sklearn.datasets")
    except ImportError:
        raise SpecError(
            [
                Problem(
                    path="dataset.task",
                    found="a task whose data is part of scikit-learn, which is not installed",
                    expected="a task of symreln's own, or scikit-learn installed",
                    hint="Install it: python -m pip install scikit-learn",
                )
            ]
        ) from None
    data = getattr(datasets, loader)()
    names = tuple(str(name) for name in data.target_names)
    return Bundled(data=data.data, classes=data.target, names=names)


def _read(path: Path) -> Bundled:
    """Return a table whose last column is the class, below a line of names if there is one."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    # "150,4,setosa,versicolor,virginica": samples, features, names.
    head = [word for word in lines[0].split(",")[2:] if word.isalpha()]
    table = np.loadtxt(lines[1:] if head else lines, delimiter=",")
    classes = table[:, -1].astype(np.int64)
    names = tuple(head) or tuple(str(kind) for kind in sorted(set(classes.tolist())))
    return Bundled(data=table[:, :-1], classes=classes, names=names)


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
    return ExactMatrix.from_entries(shape, features, holders, values, denominator)


def one_hot(classes: Sequence[int], count: int) -> ExactMatrix:
    """Return one-hot targets, shape (count, P)."""
    samples = np.arange(len(classes))
    return ExactMatrix.from_entries((count, len(classes)), classes, samples, np.ones_like(samples))
