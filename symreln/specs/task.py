"""What a task is: a name, its options, and a function that builds its dataset."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from symreln.base.records import record
from symreln.specs.expression import Declared
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

    def dataset(
        self, options: StrictModel, given: Mapping[str, Any], declared: Declared
    ) -> Dataset:
        """Return the dataset over the declared names, which keeps how its options were written.

        Args:
            options: As checked.
            given: As written; a default takes the place of what is not.
            declared: Names of formulas; sizes that are symbols are at least what options allow.
        """
        made, fields = self.build(options), type(options).model_fields
        for option, size in declared.sizes.items():
            least = next(limit.ge for limit in fields[option].metadata if hasattr(limit, "ge"))
            declared.sizes[option] = replace(size, minimum=max(least, size.minimum or 0))
        written = {
            option: declared.respelled(_listed(given.get(option, field.default)))
            for option, field in fields.items()
        }
        inputs, targets = (each.promoted(declared.names) for each in (made.inputs, made.targets))
        return replace(made, inputs=inputs, targets=targets, task=self.name, options=written)


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
