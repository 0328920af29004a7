"""Handwritten digits: 1797 images of 8 x 8 pixels, scikit-learn's bundled copy of UCI Optdigits."""

from __future__ import annotations

from symreln.spec.expression import Declared
from symreln.spec.model import Dataset
from symreln.spec.schema import StrictModel
from symreln.tasks.real_data import bundled, one_hot, scaled_integers
from symreln.tasks.task import Task


class DigitsOptions(StrictModel):
    """Options of ``digits``: none."""


def build(options: DigitsOptions, declared: Declared) -> Dataset:
    """Return X, shape (64, 1797), pixels k/16 for k = 0..16, not centred; Y one-hot, (10, 1797)."""
    data = bundled("load_digits", "digits.csv.gz")
    classes = [int(value) for value in data.classes]
    pixels = [[value / 16 for value in image] for image in data.data.tolist()]
    return Dataset(
        inputs=scaled_integers(pixels, 16),
        targets=one_hot(classes, 10),
        labels={"class": tuple(classes)},
        description=(
            "1797 handwritten digits of 8 x 8 pixels (UCI Optdigits, as in scikit-learn): "
            "pixels k/16, not centred, against one-hot classes."
        ),
        task="digits",
    )


TASK = Task(
    name="digits",
    summary="1797 handwritten digits, 8 x 8 pixels (needs scikit-learn)",
    options=DigitsOptions,
    build=build,
)
