"""A spec with gates that were found, as TOML that ``symreln derive`` takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction

from symreln.exact.matrix import ExactMatrix
from symreln.gates.enumerate import pattern
from symreln.spec.model import NetworkSpec, Parameter, Spec


def gates_toml(spec: Spec, stages: Sequence[Sequence[Sequence[int]]], title: str) -> str:
    """Return a spec with the data and the network of another and the gates given.

    Args:
        spec: Where data, parameters and network come from.
        stages: Gates, 0 or 1 a sample, stage by stage.
        title: Title of the new spec.
    """
    parts = [f"title = {_text(title)}", _dataset(spec)]
    parts += [_parameter(parameter) for parameter in spec.parameters]
    parts += [
        _pathway(gate, number) for number, gates in enumerate(stages, start=1) for gate in gates
    ]
    if spec.network is not None:
        parts.append(_network(spec.network, staged=len(stages) > 1))
    return "\n\n".join(parts) + "\n"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _dataset(spec: Spec) -> str:
    x, y = _matrix(spec.dataset.inputs), _matrix(spec.dataset.targets)
    return f"[dataset]\nX = {x}\nY = {y}"


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


def _pathway(gate: Sequence[int], stage: int) -> str:
    listed = ", ".join(str(int(value)) for value in gate)
    name = f"stage_{stage}_{pattern(gate)}"
    return f"[[pathway]]\nname = {_text(name)}\ngate = [{listed}]\nstage = {stage}"


def _network(network: NetworkSpec, *, staged: bool) -> str:
    training = "staged" if staged else network.training
    lines = [
        "[network]",
        f"hidden = {network.hidden}",
        f"init_std = {_text(str(network.init_std))}",
        f"learning_rate = {_text(str(network.learning_rate))}",
        f"loss = {_text(network.loss)}",
        f"steps = {network.steps}",
        f"activation = {_text(network.activation)}",
        f"training = {_text(training)}",
    ]
    return "\n".join(lines)
