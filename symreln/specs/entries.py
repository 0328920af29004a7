"""Kinds of keys of ``[[pathway]]``, ``[[node]]`` and ``[[edge]]``: gates, inputs and outputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, PlainValidator, ValidationInfo

from symreln.base.records import record
from symreln.specs.expression import Declared
from symreln.specs.finding import Finding, check_text, nearest, need, quoted, shown
from symreln.specs.gates import gate_values
from symreln.specs.kinds import FORMULA, one_of, text_or_list
from symreln.specs.model import Dataset

NAME_LENGTH = 80
#: In a list of gates: the pathway's inputs are made orthogonal to the sample.
BOUNDARY = "/"


@record
class Asked:
    """What entries refer to.

    Attributes:
        dataset: Samples, labels and groups; None where it is wrong itself, and then only what needs
            no dataset is checked.
        declared: Names that gains may use.
    """

    dataset: Dataset | None
    declared: Declared


@record
class Written:
    """A gate, or inputs or outputs, as read.

    Attributes:
        values: 0, 1 or a gain for every sample; or indices, ascending.
        text: What the user wrote.
        boundary: Samples to which the inputs are made orthogonal.
    """

    values: tuple[Any, ...] = ()
    text: str = ""
    boundary: tuple[int, ...] = ()


def _gate(value: object, info: ValidationInfo, *, gains: bool = True) -> Written:
    asked: Asked = info.context  # type: ignore[assignment]
    written = one_of(value, str, list, tuple)
    data, declared = asked.dataset, asked.declared if gains else Declared()
    if data is None:
        return Written()
    closed = bool(info.data.get("then"))
    values = gate_values(written, data.labels, data.samples, declared, closed=closed)
    plain = gains or all(isinstance(gain, int) for gain in values)
    need(plain, "a gain in a gate that is taken later", "0 and 1")
    return Written(values=values, text=_text(written))


def _gate_of_pathway(value: object, info: ValidationInfo) -> Written:
    if not isinstance(value, list | tuple) or BOUNDARY not in value:
        return _gate(value, info)
    found = f"{quoted(BOUNDARY)} in the gate of a pathway with then"
    expected = "one gate for the whole training where samples are on the boundary"
    need(not info.data.get("then"), found, expected)
    found = _gate([0 if entry == BOUNDARY else entry for entry in value], info)
    on = tuple(place for place, entry in enumerate(value) if entry == BOUNDARY)
    return replace(found, boundary=on, text=_text(value))


def _indices(kind: str, value: object, info: ValidationInfo) -> Written:
    """Return what "all", a group's name or a list stands for."""
    asked: Asked = info.context  # type: ignore[assignment]
    written, data = one_of(value, str, list, tuple), asked.dataset
    if data is None:
        return Written()
    groups, count = (
        (data.input_groups, data.n_x) if kind == "inputs" else (data.output_groups, data.n_y)
    )
    if not isinstance(written, str):
        return Written(values=indices_of(written, count, kind), text=_text(written))
    name = written.strip()
    known = {"all": tuple(range(count)), **groups}
    expected = f'"all", a group of {kind}, or a list of indices'
    need(name in known, f"the unknown group {quoted(name)}", expected, nearest(name, known))
    return Written(values=known[name], text=name)


def indices_of(value: object, count: int, kind: str) -> tuple[int, ...]:
    """Return a list of indices, ascending.

    Args:
        value: What was read: a list of indices from 0.
        count: How many inputs or outputs there are.
        kind: "inputs" or "outputs".

    Raises:
        Finding: It is no list, empty, or an index is wrong, out of range or repeated.
    """
    one = kind.removesuffix("s")
    expected = f"indices from 0 to {count - 1}, each once"
    if not isinstance(value, list | tuple):
        raise Finding(shown(value), f"a list of {expected}")
    need(value, f"no {kind}", f"at least one {one}", f'Write "all" for all {count}.')
    hint = f"There are {count} {kind}; indices count from 0."
    for place, index in enumerate(value):
        whole = isinstance(index, int) and not isinstance(index, bool)
        fits = whole and 0 <= index < count
        need(fits, f"{shown(index)} at place {place}", expected, hint)
    twice = [index for index, times in Counter(value).items() if times > 1]
    need(not twice, f"the {one} {', '.join(map(str, twice[:1]))} twice", expected)
    return tuple(sorted(value))


def _text(value: str | Sequence[object]) -> str:
    """Return what the user wrote for a gate or for indices, as text in TOML's words."""
    if isinstance(value, str):
        return value.strip()
    written = [f'"{entry}"' if isinstance(entry, str) else str(entry) for entry in value]
    return f"[{', '.join(written)}]"


_GATE: Any = text_or_list(FORMULA)
_INDICES: Any = text_or_list({"type": "integer"})

Name = Annotated[str, AfterValidator(partial(check_text, longest=NAME_LENGTH))]
"""A text that can be shown."""

GateEntries = Annotated[Written, PlainValidator(_gate), _GATE]
"""A formula over labels as text, or a list of 0, 1 and gains."""

PathwayGate = Annotated[Written, PlainValidator(_gate_of_pathway), _GATE]
"""The same, or "/" in the list."""

SwitchGate = Annotated[Written, PlainValidator(partial(_gate, gains=False)), _GATE]
"""The same without gains."""

Inputs = Annotated[Written, PlainValidator(partial(_indices, "inputs")), _INDICES]
"""The name of a group, or a list of indices."""

Outputs = Annotated[Written, PlainValidator(partial(_indices, "outputs")), _INDICES]
"""The same, of outputs."""
