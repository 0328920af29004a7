"""Sizes as symbols: ``contexts = "C"`` where C is a parameter with ``integer = true``.

The spec stays the ordinary one at the declared value; what is asked for every value is kept beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symreln.spec.finding import Finding, key_path, nearest, quoted
from symreln.spec.kinds import StrictModel, size_options
from symreln.spec.model import Parameter, SizeSymbol
from symreln.spec.parameters import Parameters
from symreln.spec.problems import Problems


def read_sizes(
    table: Mapping[str, Any],
    options: type[StrictModel],
    parameters: Parameters,
    problems: Problems,
) -> tuple[SizeSymbol, ...] | None:
    """Return the symbols that stand for sizes of a task; None where one of them is wrong.

    Args:
        table: The options as read.
        options: The task's model; its size fields may hold names.
        parameters: The declared ones.
        problems: Collects.
    """
    before = len(problems.found)
    known = {parameter.name: parameter for parameter in parameters.good}
    sizes: list[SizeSymbol] = []
    ill_declared = False
    for option, smallest in size_options(options).items():
        name = table.get(option)
        # A number in quotes is not meant as a name; the model says how to mend it.
        if not isinstance(name, str) or name.lstrip("+-").isdigit():
            continue
        if name in parameters.names and name not in known:
            ill_declared = True
            continue
        with problems.at(f"dataset.{option}"):
            parameter = _size_parameter(name, known)
            for key in ("minimum", "value"):
                number = getattr(parameter, key)
                if number is not None and number < smallest:
                    path = key_path(("parameters", name, key))
                    problems.add(path, str(number), f"at least {smallest}, as for {option}")
            if any(size.name == name for size in sizes):
                raise Finding(f"{name}, which is another size already", "its own")
            sizes.append(_symbol(parameter, option, smallest))
    return None if ill_declared or len(problems.found) > before else tuple(sizes)


def written_options(table: Mapping[str, Any], options: type[StrictModel]) -> dict[str, str]:
    """Return the options as written, those left out with their default."""
    defaults = {
        name: field.default
        for name, field in options.model_fields.items()
        if not field.is_required() and field.default is not None
    }
    return {
        name: ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        for name, value in {**defaults, **table}.items()
    }


def check_sizes_used(
    parameters: Parameters,
    table: Mapping[str, Any],
    options: type[StrictModel] | None,
    problems: Problems,
) -> None:
    """Add a problem for every integer parameter that stands for no size.

    Args:
        parameters: The declared ones.
        table: The options as read.
        options: The task's model, or None for a user's own data.
        problems: Collects.
    """
    able = list(size_options(options)) if options is not None else []
    used = [table.get(option) for option in able]
    for parameter in parameters.good:
        if not parameter.integer or parameter.name in used:
            continue
        expected = " or ".join(f'{option} = "{parameter.name}" in [dataset]' for option in able)
        problems.add(
            key_path(("parameters", parameter.name, "integer")),
            "a whole-number parameter that is no size of the dataset",
            expected or "no sizes as symbols: this dataset has none",
            "Use it as a size, or remove integer = true.",
        )


def _size_parameter(name: str, known: Mapping[str, Parameter]) -> Parameter:
    expected = "a whole number, or the name of a parameter with integer = true"
    parameter = known.get(name)
    if parameter is None:
        integers = [p.name for p in known.values() if p.integer]
        hint = nearest(name, integers) or f"Declare it: [parameters.{name[:30]}] integer = true."
        raise Finding(f"the undeclared name {quoted(name)}", expected, hint)
    if not parameter.integer:
        hint = f"Add integer = true to [parameters.{name}]."
        raise Finding(f"the parameter {name}, which need not be whole", expected, hint)
    return parameter


def _symbol(parameter: Parameter, option: str, smallest: int) -> SizeSymbol:
    assert parameter.value is not None  # read_parameters asks for it
    return SizeSymbol(
        name=parameter.name,
        option=option,
        minimum=smallest if parameter.minimum is None else int(parameter.minimum),
        maximum=None if parameter.maximum is None else int(parameter.maximum),
        value=int(parameter.value),
    )
