"""A spec with gates that were found, as TOML that ``symreln derive`` takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from symreln.exact.matrix import ExactMatrix
from symreln.specs.model import NetworkSpec, Parameter, Spec


@dataclass(frozen=True)
class FoundPathway:
    """A pathway whose gate was found.

    Attributes:
        name: Its name.
        gate: 0, 1 or, on the boundary of a partial gate, "/" a sample.
        stage: Its stage.
        then: Gates that it takes later, with their steps.
    """

    name: str
    gate: Sequence[int | str]
    stage: int = 1
    then: Sequence[tuple[int, Sequence[int]]] = ()


def gates_toml(spec: Spec, pathways: Sequence[FoundPathway], title: str) -> str:
    """Return a spec with the data and the network of another and the pathways given.

    Args:
        spec: Where data, parameters and network come from.
        pathways: Stage by stage.
        title: Title of the new spec.
    """
    parts = [f"title = {_text(title)}", _dataset(spec)]
    parts += [_parameter(parameter) for parameter in spec.parameters]
    parts += map(_pathway, pathways)
    if spec.network is not None:
        parts.append(_network(spec.network, staged=any(each.stage > 1 for each in pathways)))
    return "\n\n".join(parts) + "\n"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _dataset(spec: Spec) -> str:
    x, y = _matrix(spec.dataset.inputs), _matrix(spec.dataset.targets)
    text = f"[dataset]\nX = {x}\nY = {y}"
    if spec.dataset.labels:
        listed = [
            f"{_text(name)} = [{', '.join(_value(value) for value in values)}]"
            for name, values in spec.dataset.labels.items()
        ]
        text += "\n\n[dataset.labels]\n" + "\n".join(listed)
    return text


def _matrix(matrix: ExactMatrix) -> str:
    rows = [
        "[" + ", ".join(_text(str(entry).replace("^", "**")) for entry in row) + "]"
        for row in matrix.rows()
    ]
    return "[\n  " + ",\n  ".join(rows) + ",\n]"


def _parameter(parameter: Parameter) -> str:
    lines = [f"[parameters.{parameter.name}]"]
    lines += [f"{key} = true" for key in ("positive", "nonnegative") if getattr(parameter, key)]
    for key in ("minimum", "maximum", "value"):
        value: Fraction | None = getattr(parameter, key)
        if value is not None:
            lines.append(f"{key} = {_text(str(value))}")
    return "\n".join(lines)


def _pathway(pathway: FoundPathway) -> str:
    lines = [
        f"[[pathway]]\nname = {_text(pathway.name)}\ngate = [{_listed(pathway.gate)}]",
        f"stage = {pathway.stage}",
    ]
    if pathway.then:
        later = [f"  {{step = {step}, gate = [{_listed(each)}]}}," for step, each in pathway.then]
        lines += ["then = [", *later, "]"]
    return "\n".join(lines)


def _listed(gate: Sequence[int | str]) -> str:
    return ", ".join(_text(value) if isinstance(value, str) else str(int(value)) for value in gate)


def _network(network: NetworkSpec, *, staged: bool) -> str:
    shown = {key: _value(getattr(network, key)) for key in network.keys}
    if "init_std_out" in shown:
        shown["init_std"] = f"[{shown['init_std']}, {shown.pop('init_std_out')}]"
    if staged:
        shown["training"] = _text("staged")
    return "\n".join(["[network]", *(f"{key} = {value}" for key, value in shown.items())])


def _value(value: int | Fraction | str) -> str:
    return str(value) if isinstance(value, int) else _text(str(value))
