"""A checked spec written again: as TOML, and as the JSON values that derivation.json keeps.

Reading the TOML gives the same data, gates and network; how they were written is not kept. The JSON
values are derived again, with the data of a certificate.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from symreln.errors import InputError, NotSupportedError
from symreln.exact.integer_matrix import IntegerMatrix, integer_array
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar, polynomial_ring
from symreln.networks.pathway import PathwaySpec
from symreln.specs.expression import Declared
from symreln.specs.kinds import BOUNDARY
from symreln.specs.number import WrittenDecimal, exact_fraction
from symreln.specs.spec import Dataset, Spec, ValidationSpec
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
        msg = f"its spec is damaged or of another version ({type(error).__name__}). Derive again"
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
        terms[power] = IntegerMatrix.of_triples(found.shape, map(integer_array, (i, j, values)))
    below = polynomial_ring(own).from_dict(found.below)
    return ExactMatrix(found.shape, own, terms, below).promoted(names)


# -- TOML -----------------------------------------------------------------------------------------


def spec_toml(spec: Spec) -> str:
    """Return a spec as the text of a file: data as exact matrices, gates sample by sample.

    How it was written is not kept: a task's options, formulas of gates, names of groups in
    pathways.

    Raises:
        NotSupportedError: Sizes of its task are symbols, or it has nodes and edges.
    """
    if spec.sizes or spec.graph is not None:
        kept = "nodes and edges" if spec.graph is not None else "sizes that are symbols"
        msg = f"a Spec with {kept} cannot be written as TOML. Give the file or the name of it"
        raise NotSupportedError(msg)
    parts = [f"title = {_value(spec.title)}"]
    for heading, table in _tables(spec):
        given = {
            key: x for key, x in values_of(table).items() if x not in (None, False, [], {}, "")
        }
        parts += ["\n".join([heading, *map(_line, given.items())])] if given else []
    return "\n\n".join(parts) + "\n"


def _tables(spec: Spec) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield headings and their keys; what is empty, false or None there is as if left out."""
    data, network, validation = spec.dataset, spec.network, spec.validation
    matrices = {"X": data.inputs, "Y": data.targets}
    yield "[dataset]", {key: tuple(map(tuple, each.rows())) for key, each in matrices.items()}
    yield "[dataset.labels]", data.labels
    yield "[dataset.groups.inputs]", data.input_groups
    yield "[dataset.groups.outputs]", data.output_groups
    yield "[dataset.names]", {"inputs": data.input_names, "outputs": data.output_names}
    for p in spec.parameters:
        own = values_of(p)
        yield f"[parameters.{own.pop('name')}]", {k: own[k] for k in own if k != "given"}
    for pathway in spec.pathways:
        yield "[[pathway]]", _pathway(pathway, data)
    yield "[gates]", {"found" if spec.pathways else "find": spec.find}
    if network is not None:
        told = {key: getattr(network, key) for key in network.keys if key != "init_std_out"}
        yield "[network]", told | ({"init_std": network.stds} if network.init_std_out else {})
    if validation != ValidationSpec():
        yield "[validation]", {"tolerance": validation.tolerance, "reason": validation.reason}


def _pathway(pathway: PathwaySpec, data: Dataset) -> dict[str, Any]:
    on = frozenset(pathway.boundary)
    gate = tuple(BOUNDARY if place in on else gain for place, gain in enumerate(pathway.gate))
    inputs = pathway.inputs if len(pathway.inputs) < data.n_x else None
    outputs = pathway.outputs if len(pathway.outputs) < data.n_y else None
    return {
        **{"name": pathway.name, "gate": gate, "inputs": inputs, "outputs": outputs},
        **{"stage": pathway.stage, "hidden": pathway.hidden},
        "then": tuple({"step": each.step, "gate": each.gate} for each in pathway.then),
    }


def _line(entry: tuple[str, Any]) -> str:
    """Write a key and its value, a list of lists or tables with a line each."""
    key, value = entry
    bare = key.replace("_", "").replace("-", "")
    name = key if bare.isascii() and bare.isalnum() else _value(key)
    if isinstance(value, list) and isinstance(value[0], list | dict):
        return "".join([f"{name} = [\n", *(f"  {_value(each)},\n" for each in value), "]"])
    return f"{name} = {_value(value)}"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(map(_line, value.items()))}}}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
