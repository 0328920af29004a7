"""Declared parameters: names, assumptions, ranges and values that do not contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from symreln.exact.scalar import Scalar
from symreln.specs.expression import Declared
from symreln.specs.finding import key_path, need, quoted
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
        if model is not None:
            good.append(Parameter(name=written[name], given=name, **dict(model)))
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
    hint = "" if name.isascii() else "Write Greek letters by name: Delta, kappa."
    need(_NAME.fullmatch(name), f"the name {quoted(name)}", expected, hint)


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
