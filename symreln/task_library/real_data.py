"""Real data sets that come with scikit-learn, as exact numbers: iris and handwritten digits."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from symreln.exact.matrix import ExactMatrix
from symreln.specs.finding import Finding
from symreln.specs.kinds import StrictModel
from symreln.specs.spec import Dataset
from symreln.specs.task import Task
from symreln.task_library.structures import exact


def _bundled(file: str, skipped: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return features, one row a sample, and classes, of a file of ``sklearn.datasets``.

    Importing scikit-learn takes seconds, so its file is read where it is.

    Args:
        file: Its name; the last column is the class.
        skipped: Lines before the numbers.

    Raises:
        Finding: scikit-learn is not installed.
    """
    package = importlib.util.find_spec("sklearn")
    folders = (package and package.submodule_search_locations) or ()
    paths = (Path(folder, "datasets", "data", file) for folder in folders)
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise Finding(
            "a task whose data is part of scikit-learn, which is not installed",
            "a task of symreln's own, or scikit-learn installed",
            "Install it: python -m pip install scikit-learn",
            ".task",
        )
    table = np.loadtxt(path, delimiter=",", skiprows=skipped)
    return table[:, :-1], table[:, -1].astype(np.int64)


def _matrices(
    data: np.ndarray, classes: np.ndarray, denominator: int
) -> tuple[ExactMatrix, ExactMatrix]:
    """Return X, numbers k/denominator with one column a sample, and Y, one-hot.

    Every number must be the float nearest to such a fraction; rounding then gives k exactly.
    """
    numerators = np.rint(data * denominator).astype(np.int64)
    assert np.array_equal(numerators / denominator, data)
    one_hot = np.eye(classes.max() + 1, dtype=np.int64)[classes]
    return exact(numerators.T, denominator), exact(one_hot.T)


class _NoOptions(StrictModel):
    """Options of a data set as it is."""


def _iris(options: _NoOptions) -> Dataset:
    """Return X, shape (4, 150), centimetres in tenths, not centred; Y one-hot, (3, 150)."""
    names = ("setosa", "versicolor", "virginica")
    data, classes = _bundled("iris.csv", skipped=1)
    inputs, targets = _matrices(data, classes, 10)
    return Dataset(
        inputs=inputs,
        targets=targets,
        labels={"class": tuple(names[index] for index in classes)},
        input_groups={"sepal": (0, 1), "petal": (2, 3)},
        output_groups={kind: (index,) for index, kind in enumerate(names)},
        description=(
            "150 iris flowers (Fisher 1936, as in scikit-learn): length and width of sepal and "
            "petal in centimetres, not centred, against one-hot kinds."
        ),
    )


def _digits(options: _NoOptions) -> Dataset:
    """Return X, shape (64, 1797), pixels k/16 for k = 0..16, not centred; Y one-hot, (10, 1797)."""
    data, classes = _bundled("digits.csv.gz")
    inputs, targets = _matrices(data / 16, classes, 16)
    return Dataset(
        inputs=inputs,
        targets=targets,
        labels={"class": tuple(classes.tolist())},
        description=(
            "1797 handwritten digits of 8 x 8 pixels (UCI Optdigits, as in scikit-learn): "
            "pixels k/16, not centred, against one-hot classes."
        ),
    )


IRIS = Task(
    name="iris",
    summary="150 iris flowers, four measurements, three kinds (needs scikit-learn)",
    options=_NoOptions,
    build=_iris,
)
DIGITS = Task(
    name="digits",
    summary="1797 handwritten digits, 8 x 8 pixels (needs scikit-learn)",
    options=_NoOptions,
    build=_digits,
)
