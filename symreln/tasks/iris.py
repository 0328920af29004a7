"""Fisher's iris measurements: 150 flowers of three kinds, scikit-learn's bundled copy."""

from __future__ import annotations

from symreln.spec.expression import Declared
from symreln.spec.model import Dataset
from symreln.spec.schema import StrictModel
from symreln.tasks.real_data import bundled, one_hot, scaled_integers
from symreln.tasks.task import Task


class IrisOptions(StrictModel):
    """Options of ``iris``: none."""


def build(options: IrisOptions, declared: Declared) -> Dataset:
    """Return X, shape (4, 150), centimetres in tenths, not centred; Y one-hot, (3, 150)."""
    data = bundled("load_iris", "iris.csv")
    classes = [int(value) for value in data.classes]
    kinds = data.names
    blocks = {kind: (index,) for index, kind in enumerate(kinds)}
    return Dataset(
        inputs=scaled_integers(data.data.tolist(), 10),
        targets=one_hot(classes, 3),
        labels={"class": tuple(kinds[index] for index in classes)},
        input_groups={"sepal": (0, 1), "petal": (2, 3)},
        output_groups=blocks,
        description=(
            "150 iris flowers (Fisher 1936, as in scikit-learn): length and width of sepal and "
            "petal in centimetres, not centred, against one-hot kinds."
        ),
        task="iris",
    )


TASK = Task(
    name="iris",
    summary="150 iris flowers, four measurements, three kinds (needs scikit-learn)",
    options=IrisOptions,
    build=build,
)
