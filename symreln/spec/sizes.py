"""Sizes as symbols: ``contexts = "C"`` where C is a parameter with ``integer = true``.

The spec stays the ordinary one at the declared value; what is asked for every value is kept beside.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from symreln.spec.finding import Finding, key_path, nearest, quoted
from symreln.spec.model import Parameter, SizeSymbol
from symreln.spec.problems import Problems
from symreln.spec.schema import StrictModel, size_options


class SizedTable(NamedTuple):
    """A table of a task's options with the values of sizes put in.

    Attributes:
        table: The options.
        sizes: The symbols that stood there.
        complete: False where a size's parameter is wrong itself, so that nothing can be built.
    """

    table: dict[str, Any]
    sizes: tuple[SizeSymbol, ...]
    complete: bool = True


def take_sizes(
    table: Mapping[str, Any],
    options: type[StrictModel],
    parameters: tuple[Parameter, ...],
    declared: frozenset[str],
    problems: Problems,
) -> SizedTable:
    """Return the options of a task with every size symbol replaced by its value.

    Args:
        table: The options as read.
        options: The task's model; its size fields may hold names.
        parameters: The parameters that are well declared.
        declared: The names of all parameters, the badly declared ones included.
        problems: Collects.
    """
    known = {parameter.name: parameter for parameter in parameters}
    changed = dict(table)
    sizes: list[SizeSymbol] = []
    complete = True
    for option, smallest in size_options(options).items():
        name = table.get(option)
        # A number in quotes is not meant as a name; the model says how to mend it.
        if not isinstance(name, str) or name.lstrip("+-").isdigit():
            continue
        if name in declared and name not in known:
            complete = False
            continue
        before = len(problems.found)
        with problems.at(f"dataset.{option}"):
            parameter = _size_parameter(name, known)
            _check_smallest(parameter, option, smallest, problems)
            if any(size.name == name for size in sizes):
                raise Finding(found=f"{name}, which is another size already", expected="its own")
            sizes.append(_symbol(parameter, option, smallest))
            changed[option] = sizes[-1].value
        complete = complete and len(problems.found) == before
    return SizedTable(changed, tuple(sizes), complete)


def written_options(table: Mapping[str, Any], options: type[StrictModel]) -> dict[str, str]:
    """Return the options as written, those left out with their default."""
    defaults = {
        name: field.default
        for name, field in options.model_fields.items()
        if not field.is_required() and field.default is not None
    }
    return {name: _text(value) for name, value in {**defaults, **table}.items()}


def check_sizes_used(
    parameters: tuple[Parameter, ...],
    sizes: tuple[SizeSymbol, ...],
    options: type[StrictModel] | None,
    problems: Problems,
) -> None:
    """Add a problem for every integer parameter that stands for no size.

    Args:
        parameters: The declared ones.
        sizes: Those that are used.
        options: The task's model, or None for a user's own data.
        problems: Collects.
    """
    used = {size.name for size in sizes}
    able = list(size_options(options)) if options is not None else []
    for parameter in parameters:
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
        found = f"the undeclared name {quoted(name)}"
        raise Finding(found=found, expected=expected, hint=hint)
    if not parameter.integer:
        found = f"the parameter {name}, which need not be whole"
        hint = f"Add integer = true to [parameters.{name}]."
        raise Finding(found=found, expected=expected, hint=hint)
    return parameter


def _check_smallest(parameter: Parameter, option: str, smallest: int, problems: Problems) -> None:
    for key in ("minimum", "value"):
        number = getattr(parameter, key)
        if number is not None and number < smallest:
            path = key_path(("parameters", parameter.name, key))
            problems.add(path, str(number), f"at least {smallest}, as for {option}")


def _symbol(parameter: Parameter, option: str, smallest: int) -> SizeSymbol:
    assert parameter.value is not None  # read_parameters asks for it
    return SizeSymbol(
        name=parameter.name,
        option=option,
        minimum=smallest if parameter.minimum is None else int(parameter.minimum),
        maximum=None if parameter.maximum is None else int(parameter.maximum),
        value=int(parameter.value),
    )


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
