"""Declared parameters: names, assumptions, ranges and values that do not contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from symreln.exact.scalar import Scalar
from symreln.specs.expression import Declared
from symreln.specs.finding import Finding, key_path, quoted
from symreln.specs.letters import written_names
from symreln.specs.model import Parameter, Spec
from symreln.specs.problems import Problems
from symreln.specs.schema import MAX_PARAMETERS, ParameterModel

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}", re.ASCII)


class Parameters(NamedTuple):
    """The tables [parameters.NAME].

    Attributes:
        good: Those that are well declared.
        declared: Names that formulas may use; one whose table is wrong still counts, so that one
            mistake is one message.
    """

    good: tuple[Parameter, ...]
    declared: Declared


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
    integers = {p.given: p for p in good if p.integer}
    usable = [n for n in names[:MAX_PARAMETERS] if _NAME.fullmatch(n) and n not in integers]
    declared = Declared(
        names=tuple(written[name] for name in usable),
        nonnegative=nonnegative,
        written=written,
        integers=integers,
    )
    return Parameters(tuple(good), declared)


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


def used_names(spec: Spec) -> set[str]:
    """Return the names of the parameters that occur in the data or in gates."""
    found: set[str] = set()
    for matrix in (spec.dataset.inputs, spec.dataset.targets):
        found |= _names_of((*matrix.terms, *matrix.denominator.to_dict()), matrix.parameters)
    for gain in {gain for pathway in spec.pathways for gain in pathway.gate}:
        if isinstance(gain, Scalar):
            keys = (*gain.numerator.to_dict(), *gain.denominator.to_dict())
            found |= _names_of(keys, gain.parameters)
    return found


def _names_of(keys: Iterable[tuple[int, ...]], parameters: tuple[str, ...]) -> set[str]:
    return {parameters[i] for key in keys for i, exponent in enumerate(key) if exponent}


def check_values(spec: Spec, problems: Problems) -> None:
    """Add a problem where the declared values make a datum or a gain infinite, or close a gate."""
    given = ((p.given, p.value) for p in spec.parameters if p.value is not None)
    values, listed = spec.values, ", ".join(f"{name} = {value}" for name, value in given)
    try:
        spec.dataset.inputs.substitute(values)
        spec.dataset.targets.substitute(values)
    except ZeroDivisionError:
        found = f"values at which an entry of the dataset is infinite ({listed})"
        problems.add("parameters", found, "values at which every entry is finite")
        return
    for pathway in spec.pathways:
        found, name = "", quoted(pathway.name)
        try:
            if pathway.open_samples and not pathway.at(values).open_samples:
                found = f"values that close pathway {name} on every sample ({listed})"
        except ZeroDivisionError:
            found = f"values at which a gain of pathway {name} is infinite ({listed})"
        if found:
            expected = "values at which every gate is finite and open somewhere"
            problems.add("parameters", found, expected)
