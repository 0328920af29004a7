"""A checked spec written again, as TOML whose reading gives the same data, gates and network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from symreln.errors import NotSupportedError
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.networks.parts import Gain
from symreln.specs.entries import BOUNDARY
from symreln.specs.model import Dataset, NetworkSpec, Parameter, PathwaySpec, Spec, ValidationSpec


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
    parts = [f"title = {_text(spec.title)}", *_dataset(spec.dataset)]
    parts += map(_parameter, spec.parameters)
    parts += [_pathway(pathway, spec.dataset) for pathway in spec.pathways]
    if spec.network is not None:
        parts.append(_network(spec.network))
    if spec.validation != ValidationSpec():
        parts.append(_validation(spec.validation))
    return "\n\n".join(parts) + "\n"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _dataset(data: Dataset) -> Iterator[str]:
    yield f"[dataset]\nX = {_matrix(data.inputs)}\nY = {_matrix(data.targets)}"
    yield from _table("dataset.labels", data.labels)
    yield from _table("dataset.groups.inputs", data.input_groups)
    yield from _table("dataset.groups.outputs", data.output_groups)
    names = {"inputs": data.input_names, "outputs": data.output_names}
    yield from _table("dataset.names", {key: each for key, each in names.items() if each})


def _table(name: str, lists: Mapping[str, Sequence[int | str]]) -> Iterator[str]:
    listed = [f"{_text(key)} = {_listed(values)}" for key, values in lists.items()]
    if listed:
        yield "\n".join([f"[{name}]", *listed])


def _matrix(matrix: ExactMatrix) -> str:
    rows = ["[" + ", ".join(_text(_formula(entry)) for entry in row) + "]" for row in matrix.rows()]
    return "[\n  " + ",\n  ".join(rows) + ",\n]"


def _formula(entry: object) -> str:
    return str(entry).replace("^", "**")


def _parameter(parameter: Parameter) -> str:
    lines = [f"[parameters.{parameter.name}]"]
    lines += [f"{key} = true" for key in ("positive", "nonnegative") if getattr(parameter, key)]
    for key in ("minimum", "maximum", "value"):
        value: Fraction | None = getattr(parameter, key)
        if value is not None:
            lines.append(f"{key} = {_text(str(value))}")
    return "\n".join(lines)


def _pathway(pathway: PathwaySpec, data: Dataset) -> str:
    gate: list[Gain | str] = list(pathway.gate)
    for sample in pathway.boundary:
        gate[sample] = BOUNDARY
    lines = [f"[[pathway]]\nname = {_text(pathway.name)}\ngate = {_listed(gate)}"]
    for kind, count in (("inputs", data.n_x), ("outputs", data.n_y)):
        indices = getattr(pathway, kind)
        if len(indices) < count:
            lines.append(f"{kind} = {_listed(indices)}")
    lines.append(f"stage = {pathway.stage}")
    if pathway.hidden is not None:
        lines.append(f"hidden = {pathway.hidden}")
    if pathway.then:
        later = [f"  {{step = {each.step}, gate = {_listed(each.gate)}}}," for each in pathway.then]
        lines += ["then = [", *later, "]"]
    return "\n".join(lines)


def _listed(values: Sequence[Gain | str]) -> str:
    return f"[{', '.join(map(_value, values))}]"


def _network(network: NetworkSpec) -> str:
    shown = {key: _value(getattr(network, key)) for key in network.keys}
    if "init_std_out" in shown:
        shown["init_std"] = f"[{shown['init_std']}, {shown.pop('init_std_out')}]"
    return "\n".join(["[network]", *(f"{key} = {value}" for key, value in shown.items())])


def _validation(validation: ValidationSpec) -> str:
    lines = [f"tolerance = {_value(validation.tolerance)}", f"reason = {_text(validation.reason)}"]
    return "\n".join(["[validation]", *lines])


def _value(value: int | Fraction | Scalar | str) -> str:
    return str(value) if isinstance(value, int) else _text(_formula(value))
