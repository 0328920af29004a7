"""A spec with gates that were found, as TOML that ``symreln derive`` takes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction

from symreln.exact.matrix import ExactMatrix
from symreln.spec.model import NetworkSpec, Parameter, Spec


def gates_toml(
    spec: Spec,
    stages: Sequence[Sequence[Sequence[int | str]]],
    title: str,
    switches: Mapping[int, Sequence[tuple[int, Sequence[int]]]] | None = None,
    *,
    numbered: bool = False,
) -> str:
    """Return a spec with the data and the network of another and the gates given.

    Args:
        spec: Where data, parameters and network come from.
        stages: Gates, stage by stage: 0, 1 or, on the boundary of a partial gate, "/" a sample.
        title: Title of the new spec.
        switches: Gates that a pathway takes later, with their steps, by its place among all.
        numbered: Whether pathways are named gate_1, gate_2, … rather than by their gates.
    """
    parts = [f"title = {_text(title)}", _dataset(spec)]
    parts += [_parameter(parameter) for parameter in spec.parameters]
    gates = [(gate, number) for number, each in enumerate(stages, start=1) for gate in each]
    for place, (gate, stage) in enumerate(gates):
        name = f"gate_{place + 1}" if numbered else f"stage_{stage}_{''.join(map(str, gate))}"
        parts.append(_pathway(gate, stage, name, (switches or {}).get(place, ())))
    if spec.network is not None:
        parts.append(_network(spec.network, staged=len(stages) > 1))
    return "\n\n".join(parts) + "\n"


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _dataset(spec: Spec) -> str:
    x, y = _matrix(spec.dataset.inputs), _matrix(spec.dataset.targets)
    text = f"[dataset]\nX = {x}\nY = {y}"
    if spec.dataset.labels:
        listed = [
            f"{_text(name)} = [{', '.join(_label(value) for value in values)}]"
            for name, values in spec.dataset.labels.items()
        ]
        text += "\n\n[dataset.labels]\n" + "\n".join(listed)
    return text


def _label(value: int | str) -> str:
    return _text(value) if isinstance(value, str) else str(value)


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


def _pathway(
    gate: Sequence[int | str], stage: int, name: str, then: Sequence[tuple[int, Sequence[int]]]
) -> str:
    lines = [
        f"[[pathway]]\nname = {_text(name)}\ngate = [{_listed(gate)}]",
        f"stage = {stage}",
    ]
    if then:
        later = [f"  {{step = {step}, gate = [{_listed(each)}]}}," for step, each in then]
        lines += ["then = [", *later, "]"]
    return "\n".join(lines)


def _listed(gate: Sequence[int | str]) -> str:
    return ", ".join(_text(value) if isinstance(value, str) else str(int(value)) for value in gate)


def _network(network: NetworkSpec, *, staged: bool) -> str:
    first, second = network.init_std, network.init_std_out
    both = _text(str(first)) if second is None else f"[{_text(str(first))}, {_text(str(second))}]"
    lines = [
        "[network]",
        f"hidden = {network.hidden}",
        f"init_std = {both}",
        f"learning_rate = {_text(str(network.learning_rate))}",
        f"loss = {_text(network.loss)}",
        f"steps = {network.steps}",
        f"activation = {_text(network.activation)}",
        f"training = {_text('staged' if staged else network.training)}",
    ]
    if network.layers != 2:
        lines.append(f"layers = {network.layers}")
    if network.weight_decay:
        lines.append(f"weight_decay = {_text(str(network.weight_decay))}")
    return "\n".join(lines)
