"""Declared parameters: names, assumptions, ranges and values that do not contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from symreln.exact.scalar import Scalar
from symreln.spec.expression import Declared, parse_number
from symreln.spec.finding import Finding, key_path, quoted
from symreln.spec.model import Dataset, Gain, Parameter, PathwaySpec
from symreln.spec.problems import Problems
from symreln.spec.schema import MAX_PARAMETERS, ParameterModel

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}", re.ASCII)
RESERVED = frozenset({"t", "tau", "pi", "x", "theta", "sqrt", "exp"})
"""Names that the printed formulas use for something else."""


def read_parameters(value: object, problems: Problems) -> tuple[tuple[Parameter, ...], Declared]:
    """Return the declared parameters and the names that formulas may use.

    A parameter whose table is wrong still counts as declared, so that one mistake is one message.
    """
    tables = problems.table(value, "parameters") if value is not None else {}
    names = tuple(tables)
    if len(names) > MAX_PARAMETERS:
        problems.add("parameters", f"{len(names)} parameters", f"at most {MAX_PARAMETERS}")
        names = names[:MAX_PARAMETERS]
    parameters = []
    for name in names:
        path = key_path(("parameters", name))
        with problems.at(path):
            _check_name(name)
        model = problems.check(ParameterModel, tables[name], path)
        if model is not None and (parameter := _parameter(name, model, path, problems)):
            parameters.append(parameter)
    nonnegative = frozenset(
        p.name
        for p in parameters
        if p.positive or p.nonnegative or (p.minimum is not None and p.minimum >= 0)
    )
    sizes = {p.name for p in parameters if p.integer}
    good = tuple(name for name in names if _NAME.fullmatch(name) and name not in sizes)
    return tuple(parameters), Declared(names=good, nonnegative=nonnegative)


def _check_name(name: str) -> None:
    expected = "a letter, then at most 30 letters, digits or underscores (ASCII)"
    if not _NAME.fullmatch(name):
        hint = "Write Greek letters by name: Delta, kappa." if not name.isascii() else ""
        raise Finding(found=f"the name {quoted(name)}", expected=expected, hint=hint)
    if name in RESERVED:
        hint = "The printed formulas use this one."
        raise Finding(found=f"the name {quoted(name)}", expected="another name", hint=hint)


def _parameter(name: str, model: ParameterModel, path: str, problems: Problems) -> Parameter | None:
    before = len(problems.found)
    numbers: dict[str, Fraction | None] = {}
    for key in ("minimum", "maximum", "value"):
        given = getattr(model, key)
        numbers[key] = None
        if given is not None:
            with problems.at(f"{path}.{key}"):
                numbers[key] = parse_number(given, f"{path}.{key}")
    parameter = Parameter(
        name=name,
        positive=model.positive,
        nonnegative=model.nonnegative,
        integer=model.integer,
        **numbers,
    )
    if model.integer:
        _check_whole(parameter, path, problems)
    if len(problems.found) == before:
        _check_consistent(parameter, path, problems)
    return parameter if len(problems.found) == before else None


def _check_whole(parameter: Parameter, path: str, problems: Problems) -> None:
    if parameter.value is None and not any(p.path == f"{path}.value" for p in problems.found):
        expected = "a whole number: the size at which numbers are computed"
        problems.add(f"{path}.value", "nothing", expected, "Add value = …")
    for key in ("minimum", "maximum", "value"):
        number = getattr(parameter, key)
        if number is not None and number.denominator != 1:
            problems.add(f"{path}.{key}", str(number), "a whole number, because integer = true")


def _check_consistent(parameter: Parameter, path: str, problems: Problems) -> None:
    low, high, value = parameter.minimum, parameter.maximum, parameter.value
    hint = "Change one of the two."
    if low is not None and high is not None and low > high:
        problems.add(f"{path}.maximum", str(high), f"at least the minimum {low}", hint)
    for key, bound in (("maximum", high), ("value", value)):
        if bound is None:
            continue
        if parameter.positive and bound <= 0:
            problems.add(f"{path}.{key}", str(bound), "above 0, because positive = true", hint)
        elif parameter.nonnegative and bound < 0:
            expected = "0 or above, because nonnegative = true"
            problems.add(f"{path}.{key}", str(bound), expected, hint)
    if value is None:
        return
    if low is not None and value < low:
        problems.add(f"{path}.value", str(value), f"at least the minimum {low}", hint)
    if high is not None and value > high:
        problems.add(f"{path}.value", str(value), f"at most the maximum {high}", hint)


def used_parameters(
    parameters: tuple[Parameter, ...],
    dataset: Dataset,
    pathways: tuple[PathwaySpec, ...],
    replaced: bool,
    problems: Problems,
) -> tuple[Parameter, ...]:
    """Return the parameters that occur in the data or in gates; the others are problems.

    Args:
        parameters: All declared ones but sizes.
        dataset: Where they should occur.
        pathways: Their gains count too.
        replaced: Whether ``--set`` changed the dataset or a pathway; a parameter that it left
            without use goes.
        problems: Collects.
    """
    used = _names_in(dataset)
    for gain in _gains(pathways):
        used |= _names_of((gain.numerator, gain.denominator), gain.parameters)
    for parameter in parameters:
        if parameter.name not in used and not replaced:
            path = key_path(("parameters", parameter.name))
            found = "a parameter on which no entry of the dataset and no gate depends"
            among = f" ({', '.join(sorted(used))})" if used else ""
            hint = "Use it in a formula, or remove it."
            problems.add(path, found, f"one that is used{among}", hint)
    return tuple(parameter for parameter in parameters if parameter.name in used)


def restricted(dataset: Dataset, names: tuple[str, ...]) -> Mapping[str, Any]:
    """Return X and Y over exactly these parameters, one ring for both."""
    return {
        "inputs": _over(dataset.inputs, names),
        "targets": _over(dataset.targets, names),
    }


def restricted_gains(
    pathways: tuple[PathwaySpec, ...], names: tuple[str, ...]
) -> tuple[PathwaySpec, ...]:
    """Return the pathways with their gains over exactly these parameters, the ring of the data."""
    return tuple(
        replace(pathway, gate=gate_over(pathway.gate, names)) if pathway.has_gains else pathway
        for pathway in pathways
    )


def gate_over(gate: tuple[Gain, ...], names: tuple[str, ...]) -> tuple[Gain, ...]:
    """Return a gate with its gains over exactly these parameters."""
    return tuple(_gain_over(gain, names) for gain in gate)


def check_values(
    parameters: tuple[Parameter, ...],
    dataset: Dataset,
    pathways: tuple[PathwaySpec, ...],
    problems: Problems,
) -> None:
    """Add a problem where the declared values make a datum or a gain infinite, or close a gate."""
    values = {p.name: p.value for p in parameters if p.value is not None}
    try:
        dataset.inputs.substitute(values)
        dataset.targets.substitute(values)
    except ZeroDivisionError:
        listed = ", ".join(f"{name} = {value}" for name, value in values.items())
        found = f"values at which an entry of the dataset is infinite ({listed})"
        problems.add("parameters", found, "values at which every entry is finite")
        return
    for pathway in pathways:
        _check_gate(pathway, values, problems)


def _check_gate(pathway: PathwaySpec, values: dict[str, Fraction], problems: Problems) -> None:
    listed = ", ".join(f"{name} = {value}" for name, value in values.items())
    try:
        if pathway.at(values).open_samples:
            return
        found = f"values that close pathway {quoted(pathway.name)} on every sample ({listed})"
    except ZeroDivisionError:
        found = f"values at which a gain of pathway {quoted(pathway.name)} is infinite ({listed})"
    problems.add("parameters", found, "values at which every gate is finite and open somewhere")


def _gains(pathways: tuple[PathwaySpec, ...]) -> Iterator[Scalar]:
    for pathway in pathways:
        for value in pathway.gate:
            if isinstance(value, Scalar):
                yield value


def _gain_over(gain: Gain, names: tuple[str, ...]) -> Gain:
    if isinstance(gain, int):
        return gain
    unused = {name: Fraction(0) for name in gain.parameters if name not in names}
    return Scalar.of(gain.substitute(unused), names)


def _names_in(dataset: Dataset) -> set[str]:
    names: set[str] = set()
    for matrix in (dataset.inputs, dataset.targets):
        keys = [*matrix.terms, *matrix.denominator.to_dict()]
        for key in keys:
            names |= {matrix.parameters[i] for i, exponent in enumerate(key) if exponent}
    return names


def _names_of(polynomials: Iterable[Any], parameters: tuple[str, ...]) -> set[str]:
    keys = [key for polynomial in polynomials for key in polynomial.to_dict()]
    return {parameters[i] for key in keys for i, exponent in enumerate(key) if exponent}


def _over(matrix: Any, names: tuple[str, ...]) -> Any:
    unused = {name: Fraction(0) for name in matrix.parameters if name not in names}
    return matrix.substitute(unused).promoted(names)
