"""A checked spec as JSON values, and back: what derivation.json keeps to be derived again.

The data are not among them: a certificate has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from symreln.errors import InputError
from symreln.exact.integer_matrix import IntegerMatrix, integer_array
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar, polynomial_ring
from symreln.specs.expression import Declared
from symreln.specs.number import WrittenDecimal, exact_fraction
from symreln.specs.spec import Spec
from symreln.verifier.reading import Given, Reader


def values_of(value: Any) -> Any:
    """Return a spec or a part of it as JSON values; what is as usual is left out."""
    if type(value) in (int, str):  # most is a gate's; Python is slow to ask for abstract types
        return value
    if isinstance(value, tuple):
        return [values_of(item) for item in value]
    if isinstance(value, WrittenDecimal):
        return value.decimal
    if isinstance(value, Fraction | Scalar):
        return str(value).replace("^", "**")
    if is_dataclass(value):
        said = ((each.name, getattr(value, each.name), each.default) for each in fields(value))
        return {
            name: values_of(found)
            for name, found, usual in said
            if not isinstance(found, ExactMatrix) and found != usual
        }
    if isinstance(value, Mapping):
        return {key: values_of(item) for key, item in value.items()}
    return value


def spec_of_values(values: Any, certificate: Any) -> Spec:
    """Return the spec of values that :func:`values_of` has made, with a certificate's data.

    Raises:
        InputError: They are of no spec.
    """
    if not isinstance(values, dict):
        msg = "found no spec in it: it is of another version of symreln. Derive again"
        raise InputError(msg)
    try:
        names = tuple(each["name"] for each in values.get("parameters", ()))
        return _read(Spec, values, names, certificate)
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        msg = f"its spec is damaged ({type(error).__name__}: {error}). Derive again"
        raise InputError(msg) from error


def _read(kind: Any, value: Any, names: tuple[str, ...], data: Any) -> Any:
    """Return a value of a kind, a type as dataclasses are annotated with."""
    choices = [each for each in get_args(kind) if each is not NoneType]
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        given = {key: _read(hints[key], item, names, data) for key, item in value.items()}
        matrices = [key for key, hint in hints.items() if hint is ExactMatrix]
        return kind(**given, **{key: _matrix(data, key, names) for key in matrices})
    if get_origin(kind) is tuple:
        return tuple(_read(choices[0], item, names, data) for item in value)
    if get_origin(kind) is Mapping:
        return {key: _read(choices[1], item, names, data) for key, item in value.items()}
    if value is None or isinstance(value, int):
        return value
    if kind is Fraction:
        return exact_fraction(value)
    if Scalar in choices:
        return Declared(names=names).parse(value)
    return _read(choices[0], value, names, data) if len(choices) == 1 else value


def _matrix(data: Mapping[str, Any], key: str, names: tuple[str, ...]) -> ExactMatrix:
    """Return a matrix of a certificate over the parameters of a spec."""
    own = tuple(data["parameters"])
    found = Reader(Given(list(own))).matrix(Given(data[key]))
    terms = {}
    for power, rows in found.terms.items():
        places = [(i, j, value) for i, row in rows.items() for j, value in row.items()]
        i, j, values = zip(*places, strict=True)
        terms[power] = IntegerMatrix.of_triples(found.shape, *map(integer_array, (i, j, values)))
    below = polynomial_ring(own).from_dict(found.below)
    return ExactMatrix(found.shape, own, terms, below).promoted(names)
