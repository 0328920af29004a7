"""Real data sets that come with scikit-learn, as exact numbers: iris and handwritten digits."""

from __future__ import annotations

import gzip
import importlib.util
from pathlib import Path

import numpy as np

from symreln.base.records import record
from symreln.exact.matrix import ExactMatrix
from symreln.specs.finding import Finding
from symreln.specs.kinds import StrictModel
from symreln.specs.model import Dataset
from symreln.specs.task import Task
from symreln.task_library.structures import exact


@record(kw_only=False)
class _Bundled:
    """A data set that comes with scikit-learn.

    Attributes:
        data: Shape (samples, features).
        classes: Shape (samples,), whole numbers from 0.
        names: What the classes are called.
    """

    data: np.ndarray
    classes: np.ndarray
    names: tuple[str, ...]

    def inputs(self, denominator: int) -> ExactMatrix:
        """Return numbers k/denominator as a matrix with one column a sample.

        Every number must be the float nearest to such a fraction; rounding then gives k exactly.
        """
        numerators = np.rint(self.data * denominator).astype(np.int64)
        if not np.array_equal(numerators / denominator, self.data):
            msg = f"the bundled data holds no multiples of 1/{denominator}"
            raise AssertionError(msg)
        return exact(numerators.T, denominator)

    @property
    def targets(self) -> ExactMatrix:
        """One-hot classes, shape (number of classes, P)."""
        return exact(np.eye(len(self.names), dtype=np.int64)[self.classes].T)


def _bundled(file: str) -> _Bundled:
    """Return a data set of ``sklearn.datasets``; nothing is downloaded.

    Importing scikit-learn takes seconds, so its file is read where it is.

    Args:
        file: Its name among the files of ``sklearn.datasets``.

    Raises:
        Finding: scikit-learn is not installed.
    """
    package = importlib.util.find_spec("sklearn")
    for folder in (package and package.submodule_search_locations) or ():
        path = Path(folder, "datasets", "data", file)
        if path.is_file():
            return _read(path)
    raise Finding(
        "a task whose data is part of scikit-learn, which is not installed",
        "a task of symreln's own, or scikit-learn installed",
        "Install it: python -m pip install scikit-learn",
        ".task",
    )


def _read(path: Path) -> _Bundled:
    """Return a table whose last column is the class, below a line of names if there is one."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    # "150,4,setosa,versicolor,virginica": samples, features, names.
    head = [word for word in lines[0].split(",")[2:] if word.isalpha()]
    table = np.loadtxt(lines[1:] if head else lines, delimiter=",")
    classes = table[:, -1].astype(np.int64)
    names = tuple(head) or tuple(str(kind) for kind in sorted(set(classes.tolist())))
    return _Bundled(table[:, :-1], classes, names)


class _NoOptions(StrictModel):
    """Options of a data set as it is."""


def _iris(options: _NoOptions) -> Dataset:
    """Return X, shape (4, 150), centimetres in tenths, not centred; Y one-hot, (3, 150)."""
    data = _bundled("iris.csv")
    return Dataset(
        inputs=data.inputs(10),
        targets=data.targets,
        labels={"class": tuple(data.names[index] for index in data.classes)},
        input_groups={"sepal": (0, 1), "petal": (2, 3)},
        output_groups={kind: (index,) for index, kind in enumerate(data.names)},
        description=(
            "150 iris flowers (Fisher 1936, as in scikit-learn): length and width of sepal and "
            "petal in centimetres, not centred, against one-hot kinds."
        ),
        task="iris",
    )


def _digits(options: _NoOptions) -> Dataset:
    """Return X, shape (64, 1797), pixels k/16 for k = 0..16, not centred; Y one-hot, (10, 1797)."""
    data = _bundled("digits.csv.gz")
    return Dataset(
        inputs=_Bundled(data.data / 16, data.classes, data.names).inputs(16),
        targets=data.targets,
        labels={"class": tuple(data.classes.tolist())},
        description=(
            "1797 handwritten digits of 8 x 8 pixels (UCI Optdigits, as in scikit-learn): "
            "pixels k/16, not centred, against one-hot classes."
        ),
        task="digits",
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
