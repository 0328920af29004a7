"""Declared parameters: names, assumptions, ranges and values that do not contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple, TypeVar

from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.networks.parts import Edge, Gain, Node
from symreln.specs.expression import Declared
from symreln.specs.finding import Finding, key_path, quoted
from symreln.specs.letters import written_names
from symreln.specs.model import Dataset, Parameter, PathwaySpec
from symreln.specs.problems import Problems
from symreln.specs.schema import MAX_PARAMETERS, ParameterModel

Gated = TypeVar("Gated", PathwaySpec, Node, Edge)

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}", re.ASCII)


class Parameters(NamedTuple):
    """The tables [parameters.NAME].

    Attributes:
        good: Those that are well declared.
        names: All names that have a table.
        declared: Names that formulas may use; one whose table is wrong still counts, so that one
            mistake is one message.
    """

    good: tuple[Parameter, ...]
    names: tuple[str, ...]
    declared: Declared

    @property
    def symbols(self) -> tuple[Parameter, ...]:
        """Those that are symbols of the data, not sizes."""
        return tuple(parameter for parameter in self.good if not parameter.integer)


def read_parameters(value: object, problems: Problems) -> Parameters:
    """Return the declared parameters; what is wrong is added to ``problems``."""
    tables = problems.table(value, "parameters") if value is not None else {}
    names = tuple(tables)
    if len(names) > MAX_PARAMETERS:
        problems.add("parameters", f"{len(names)} parameters", f"at most {MAX_PARAMETERS}")
    written = written_names(names)
    good = []
    for name in names[:MAX_PARAMETERS]:
        path = key_path(("parameters", name))
        with problems.at(path):
            _check_name(name)
        model = problems.check(ParameterModel, tables[name], path)
        before = len(problems.found)
        if model is not None:
            parameter = Parameter(name=written[name], given=name, **dict(model))
            _check_consistent(parameter, path, problems)
            if len(problems.found) == before:
                good.append(parameter)
    nonnegative = frozenset(p.name for p in good if p.is_nonnegative)
    sizes = {p.given for p in good if p.integer}
    usable = tuple(n for n in names[:MAX_PARAMETERS] if _NAME.fullmatch(n) and n not in sizes)
    declared = Declared(
        names=tuple(written[name] for name in usable), nonnegative=nonnegative, written=written
    )
    return Parameters(tuple(good), names, declared)


def _check_name(name: str) -> None:
    expected = "a letter, then at most 30 letters, digits or underscores (ASCII)"
    if not _NAME.fullmatch(name):
        hint = "Write Greek letters by name: Delta, kappa." if not name.isascii() else ""
        raise Finding(f"the name {quoted(name)}", expected, hint)


def _check_consistent(parameter: Parameter, path: str, problems: Problems) -> None:
    """Add a problem for every two things said of a parameter that exclude each other."""
    numbers = {key: getattr(parameter, key) for key in ("minimum", "maximum", "value")}
    given = {key: number for key, number in numbers.items() if number is not None}
    low, high = given.get("minimum"), given.get("maximum")
    before = len(problems.found)
    if parameter.integer:
        if parameter.value is None:
            expected = "a whole number: the size at which numbers are computed"
            problems.add(f"{path}.value", "nothing", expected, "Add value = …")
        for key, number in given.items():
            if number.denominator != 1:
                expected = "a whole number, because integer = true"
                problems.add(f"{path}.{key}", str(number), expected)
    if len(problems.found) > before:
        return
    for key, number in given.items():
        limits: list[tuple[bool, str]] = []
        if key != "minimum" and parameter.positive:
            limits.append((number > 0, "above 0, because positive = true"))
        elif key != "minimum" and parameter.nonnegative:
            limits.append((number >= 0, "0 or above, because nonnegative = true"))
        if key != "minimum" and low is not None:
            limits.append((number >= low, f"at least the minimum {low}"))
        if key == "value" and high is not None:
            limits.append((number <= high, f"at most the maximum {high}"))
        for fits, needed in limits:
            if not fits:
                problems.add(f"{path}.{key}", str(number), needed, "Change one of the two.")


def used_names(dataset: Dataset, pathways: Iterable[PathwaySpec]) -> set[str]:
    """Return the names of the parameters that occur in the data or in gates."""
    found: set[str] = set()
    for matrix in (dataset.inputs, dataset.targets):
        found |= _names_of((*matrix.terms, *matrix.denominator.to_dict()), matrix.parameters)
    for gain in {gain for pathway in pathways for gain in pathway.gate}:
        if isinstance(gain, Scalar):
            keys = (*gain.numerator.to_dict(), *gain.denominator.to_dict())
            found |= _names_of(keys, gain.parameters)
    return found


def _names_of(keys: Iterable[tuple[int, ...]], parameters: tuple[str, ...]) -> set[str]:
    return {parameters[i] for key in keys for i, exponent in enumerate(key) if exponent}


def check_used(parameters: Iterable[Parameter], used: set[str], problems: Problems) -> None:
    """Add a problem for every parameter that occurs nowhere."""
    among = f" ({', '.join(sorted(used))})" if used else ""
    for parameter in parameters:
        if parameter.name not in used:
            problems.add(
                key_path(("parameters", parameter.given)),
                "a parameter on which no entry of the dataset and no gate depends",
                f"one that is used{among}",
                "Use it in a formula, or remove it.",
            )


def data_over(dataset: Dataset, names: tuple[str, ...]) -> Dataset:
    """Return the dataset over exactly these parameters, one ring for inputs and targets."""

    def over(matrix: ExactMatrix) -> ExactMatrix:
        return matrix.substitute(_unused(matrix.parameters, names)).promoted(names)

    return replace(dataset, inputs=over(dataset.inputs), targets=over(dataset.targets))


def gates_over(items: Iterable[Gated], names: tuple[str, ...]) -> tuple[Gated, ...]:
    """Return pathways, nodes or edges with their gains over exactly these parameters."""

    def over(gain: Gain) -> Gain:
        if isinstance(gain, int):
            return gain
        return Scalar.of(gain.substitute(_unused(gain.parameters, names)), names)

    return tuple(
        item if item.gate is None else replace(item, gate=tuple(map(over, item.gate)))
        for item in items
    )


def _unused(parameters: Iterable[str], names: tuple[str, ...]) -> dict[str, Fraction]:
    return {name: Fraction(0) for name in parameters if name not in names}


def check_values(
    parameters: Iterable[Parameter],
    dataset: Dataset,
    pathways: Iterable[PathwaySpec],
    problems: Problems,
) -> None:
    """Add a problem where the declared values make a datum or a gain infinite, or close a gate."""
    values = {p.name: p.value for p in parameters if p.value is not None}
    given = ((p.given, p.value) for p in parameters if p.value is not None)
    listed = ", ".join(f"{name} = {value}" for name, value in given)
    try:
        dataset.inputs.substitute(values)
        dataset.targets.substitute(values)
    except ZeroDivisionError:
        found = f"values at which an entry of the dataset is infinite ({listed})"
        problems.add("parameters", found, "values at which every entry is finite")
        return
    for pathway in pathways:
        found, name = "", quoted(pathway.name)
        try:
            if pathway.open_samples and not pathway.at(values).open_samples:
                found = f"values that close pathway {name} on every sample ({listed})"
        except ZeroDivisionError:
            found = f"values at which a gain of pathway {name} is infinite ({listed})"
        if found:
            expected = "values at which every gate is finite and open somewhere"
            problems.add("parameters", found, expected)
