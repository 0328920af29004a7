"""What a task is: a name, its options, and a function that builds its dataset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symreln.base.records import record
from symreln.specs.kinds import StrictModel
from symreln.specs.spec import Dataset


@record
class Task:
    """A dataset that a spec can name.

    Attributes:
        name: What ``dataset.task`` says.
        summary: One line.
        options: Model of the keys of ``[dataset]`` besides ``task``.
        build: Makes the dataset from checked options; raises Finding for what the model cannot
            see, with the path of an option from ``dataset`` on, such as ".items".
    """

    name: str
    summary: str
    options: type[StrictModel]
    build: Callable[[Any], Dataset]
