"""The kinds of keys that a table of the spec has: what stands there, and how it is read.

A kind is an annotated type of a field. Pydantic checks the shape; a kind that reads (a formula, a
matrix, a gate) raises what is wrong with the value, and the field then holds what was read.

Gates, inputs and outputs are those of ``[[pathway]]``, ``[[node]]`` and ``[[edge]]``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
)

from symreln.base.records import record
from symreln.exact.scalar import Scalar
from symreln.networks.dataset import Dataset
from symreln.networks.parts import Gain, Gate
from symreln.specs.expression import Declared, Value
from symreln.specs.finding import (
    Finding,
    check_text,
    counted,
    nearest,
    need,
    quoted,
    read_all,
    shown,
)
from symreln.specs.gate_formula import gate_of_text


class StrictModel(BaseModel):
    """A table of the spec: no unknown keys, no conversions."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        arbitrary_types_allowed=True,
        validate_default=True,
        defer_build=True,  # a spec has few of the tables that there are
    )


def _one_of(value: object, *kinds: type) -> Any:
    """Return a value of a kind; what a field expects is said by its description.

    Raises:
        ValueError: It is of none.
    """
    if isinstance(value, bool) or not isinstance(value, kinds):
        msg = "of another kind"
        raise ValueError(msg)
    return value


def _formula(value: object) -> object:
    """Return a number or a text; what else there is has no value to speak of."""
    return _one_of(value, int, float, str, Fraction, Decimal)


def _declared(info: ValidationInfo) -> Declared:
    """Return the names that a table's formulas may use: whoever checks the table gives them."""
    assert isinstance(info.context, Declared)
    return info.context


def _constant(value: object) -> Fraction:
    return Declared.constant(_formula(value))


def _share(value: object) -> Fraction:
    """Return the value of a formula or of one in percent: results are printed in percent."""
    if isinstance(value, str) and value.rstrip().endswith("%"):
        return Declared.constant(value.rstrip()[:-1]) / 100
    return _constant(value)


def _positive(value: object) -> Fraction:
    found = _constant(value)
    if found > 0:
        return found
    raise Finding(shown(value), "a number above 0")


def _spreads(value: object) -> tuple[Fraction, Fraction | None]:
    """Return the standard deviation of all layers and None, or those of the two layers."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        return _positive(value), None
    entries = ((f"[{place}]", entry) for place, entry in enumerate(value))
    first, second = read_all(entries, _positive)
    return first, None if first == second else second


def _size(value: object, info: ValidationInfo) -> object:
    # A number in quotes is not meant as a name; the model says how to mend it.
    if not isinstance(value, str) or value.lstrip("+-").isdigit():
        return value
    return _declared(info).size(value, info.field_name or "")


def _matrix_from_rows(rows: object, declared: Declared) -> list[list[Value]]:
    """Return a matrix that was written as a list of rows.

    Args:
        rows: Features in rows, samples in columns; numbers or formulas.
        declared: Names that formulas may use.

    Raises:
        SpecError: It is no matrix, or entries are wrong; the first MAX_LISTED of them are listed.
    """
    checked = _checked_rows(rows)
    entries = (
        (f"[{i}][{j}]", entry) for i, row in enumerate(checked) for j, entry in enumerate(row)
    )
    flat, width = read_all(entries, declared.value), len(checked[0])
    return [flat[start : start + width] for start in range(0, len(flat), width)]


def _checked_rows(rows: object) -> list[Sequence[object]]:
    hint = "Features in rows, samples in columns."
    if not isinstance(rows, list | tuple) or not rows:
        found = "no rows" if isinstance(rows, list | tuple) else shown(rows)
        array = " Call tolist() on an array." * hasattr(rows, "tolist")
        raise Finding(found, "a list of rows of equal length, as in [[1, 0], [0, 1]]", hint + array)
    first = rows[0]

    def row(entries: object) -> Sequence[object]:
        if not isinstance(entries, list | tuple):
            raise Finding(shown(entries), "a row, as in [1, 0]", hint)
        need(entries, "an empty row", "one entry a sample")
        wide = len(first) if isinstance(first, list | tuple) else len(entries)
        found = f"a row of {counted(len(entries), 'entry')}"
        need(len(entries) == wide, found, f"{wide} as in row 0", "One entry a sample.")
        return entries

    return read_all(((f"[{i}]", entries) for i, entries in enumerate(rows)), row)


# -- gates, inputs and outputs --------------------------------------------------------------------

NAME_LENGTH = 80
#: In a list of gates: the pathway's inputs are made orthogonal to the sample.
BOUNDARY = "/"


@record
class AskedEntry:
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


def _gate(value: object, info: ValidationInfo) -> Written:
    """Return 0, 1 or a gain for every sample.

    Raises:
        Finding: It is no gate for this dataset, or is never open.
    """
    asked: AskedEntry = info.context  # type: ignore[assignment]
    written, data = _one_of(value, str, list, tuple), asked.dataset
    if data is None:
        return Written()
    if isinstance(written, str):
        what = f"the gate {quoted(written)}"
        values = gate_of_text(written, data.labels, data.samples)
    else:
        what, values = "a gate", _gate_of_list(written, data.samples, asked.declared)
    if any(values) or info.data.get("then"):
        return Written(values=values, text=_text(written))
    expected = "a gate open on at least one sample"
    raise Finding(f"{what} that is 0 on every sample", expected, _label_values(data))


def _label_values(data: Dataset) -> str:
    parts = []
    for name, values in list(data.labels.items())[:6]:
        distinct = list(dict.fromkeys(values))
        listed = ", ".join(quoted(v) if isinstance(v, str) else str(v) for v in distinct[:6])
        parts.append(f"{name} is {listed}{', …' if len(distinct) > 6 else ''}")
    return f"Values of the labels: {'; '.join(parts)}." if parts else ""


def _gate_of_list(gate: Sequence[object], samples: int, declared: Declared) -> Gate:
    entries = ((f"[{index}]", value) for index, value in enumerate(gate))
    values = tuple(read_all(entries, partial(_gain, declared)))
    found = f"{counted(len(gate), 'entry')} for {counted(samples, 'sample')}"
    expected = f"one 0, 1 or gain for every sample ({samples} of them)"
    hint = 'Add or remove entries, or write a formula over labels, or "all".'
    need(len(gate) == samples, found, expected, hint)
    return values


def _gain(declared: Declared, value: object) -> Gain:
    """Return one entry of a list.

    A bare whole number is 0 or 1, so that a list of sample indices is seen to be none.

    Raises:
        Finding: It is neither 0, 1 nor a formula.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value in (0, 1):
        return int(value)
    expected = 'an entry 0 or 1, or a gain in quotes, such as "g" or "1/2"'
    need(isinstance(value, str | float | Fraction | Decimal), shown(value), expected)
    gain = Scalar.of(declared.value(value), declared.names)
    return int(gain == 1) if gain == 0 or gain == 1 else gain


def _gate_of_pathway(value: object, info: ValidationInfo) -> Written:
    if not isinstance(value, list | tuple) or BOUNDARY not in value:
        return _gate(value, info)
    found = f"{quoted(BOUNDARY)} in the gate of a pathway with then"
    expected = "one gate for the whole training where samples are on the boundary"
    need(not info.data.get("then"), found, expected)
    found = _gate([0 if entry == BOUNDARY else entry for entry in value], info)
    on = tuple(place for place, entry in enumerate(value) if entry == BOUNDARY)
    return replace(found, boundary=on, text=_text(value))


def _gate_of_switch(value: object, info: ValidationInfo) -> Written:
    found = _gate(value, info)
    plain = all(isinstance(gain, int) for gain in found.values)
    need(plain, "a gain in a gate that is taken later", "0 and 1")
    return found


def _indices(kind: str, value: object, info: ValidationInfo) -> Written:
    """Return what "all", the name of a group or of one of them, or a list stands for."""
    asked: AskedEntry = info.context  # type: ignore[assignment]
    written, data = _one_of(value, str, list, tuple), asked.dataset
    if data is None:
        return Written()
    count, end = data.n_x if kind == "inputs" else data.n_y, kind.removesuffix("s")
    groups, names = getattr(data, f"{end}_groups"), getattr(data, f"{end}_names")
    if not isinstance(written, str):
        return Written(values=indices_of(written, count, kind, names), text=_text(written))
    # "all" and groups come before names, and what several are called names none of them.
    name = written.strip()
    known = {one: (n,) for n, one in enumerate(names) if names.count(one) == 1}
    known |= {**groups, "all": tuple(range(count))}
    if name in known:
        return Written(values=known[name], text=name)
    expected = f'"all", a group or a name of {kind}, or a list of indices or names'
    raise Finding(f"the unknown group {quoted(name)}", expected, nearest(name, known))


def indices_of(value: object, count: int, kind: str, names: Sequence[str] = ()) -> tuple[int, ...]:
    """Return a list of indices, ascending.

    Args:
        value: What was read: a list of indices from 0, or of names.
        count: How many inputs or outputs there are.
        kind: "inputs" or "outputs".
        names: What they are called; empty where nothing calls them.

    Raises:
        Finding: It is no list, empty, or an index is wrong, out of range or repeated.
    """
    one = kind.removesuffix("s")
    expected = f"indices from 0 to {count - 1}, each once"
    if not isinstance(value, list | tuple):
        raise Finding(shown(value), f"a list of {expected}")
    need(value, f"no {kind}", f"at least one {one}", f'Write "all" for all {count}.')
    found = [names.index(each) if names.count(each) == 1 else each for each in value]
    for place, index in enumerate(found):
        fits = isinstance(index, int) and not isinstance(index, bool) and 0 <= index < count
        hint = f"There are {count} {kind}; indices count from 0."
        hint = nearest(index, names) if isinstance(index, str) and names else hint
        need(fits, f"{shown(index)} at place {place}", expected, hint)
    twice = [index for index, times in Counter(found).items() if times > 1]
    need(not twice, f"the {one} {', '.join(map(str, twice[:1]))} twice", expected)
    return tuple(sorted(found))


def _text(value: str | Sequence[object]) -> str:
    """Return what the user wrote for a gate or for indices, as text in TOML's words."""
    if isinstance(value, str):
        return value.strip()
    written = [f'"{entry}"' if isinstance(entry, str) else str(entry) for entry in value]
    return f"[{', '.join(written)}]"


# -- the kinds ------------------------------------------------------------------------------------


def _list(entry: dict[str, Any], **limits: int) -> dict[str, Any]:
    return {"type": "array", "items": entry, **limits}


_TEXT = {"type": "string"}
_FORMULA = {"anyOf": [{"type": "number"}, _TEXT]}


def _text_or_list(entry: dict[str, Any]) -> Any:
    """Return the JSON Schema of a text or a list of entries."""
    return WithJsonSchema({"anyOf": [_TEXT, _list(entry)]})


Formula = Annotated[
    Scalar,
    PlainValidator(lambda value, info: _declared(info).parse(_formula(value))),
    WithJsonSchema(_FORMULA),
]
"""A number, or a formula in declared names as text: ``1``, ``0.5``, ``"1/3"``, ``"2*c"``."""

Constant = Annotated[Fraction, PlainValidator(_constant), WithJsonSchema(_FORMULA)]
"""A number, or a formula without names."""

Positive = Annotated[Fraction, PlainValidator(_positive), WithJsonSchema(_FORMULA)]
"""A number above 0."""

Share = Annotated[Fraction, PlainValidator(_share), Field(gt=0, le=1), WithJsonSchema(_FORMULA)]
"""A number above 0, at most 1, or in percent."""

Spreads = Annotated[
    tuple[Fraction, Fraction | None],
    PlainValidator(_spreads),
    WithJsonSchema({"anyOf": [*_FORMULA["anyOf"], _list(_FORMULA, minItems=2, maxItems=2)]}),
]
"""A number above 0, or a list of two: the first, and the second where it differs."""

Matrix = Annotated[
    list[list[Value]],
    PlainValidator(lambda value, info: _matrix_from_rows(value, _declared(info))),
    WithJsonSchema(_list(_list(_FORMULA))),
]
"""A list of rows of formulas in declared names."""

Names = Annotated[
    object, PlainValidator(lambda value: _one_of(value, str, list, tuple)), _text_or_list(_TEXT)
]
"""A name as text, or a list of names."""

Size = Annotated[int, BeforeValidator(_size)]
"""A whole number, or the name of an integer parameter, whose value is then put in its place."""

Name = Annotated[str, AfterValidator(partial(check_text, longest=NAME_LENGTH))]
"""A text that can be shown."""

_GATE = _text_or_list(_FORMULA)
_INDICES = _text_or_list({"type": ["integer", "string"]})

GateEntries = Annotated[Written, PlainValidator(_gate), _GATE]
"""A formula over labels as text, or a list of 0, 1 and gains."""

PathwayGate = Annotated[Written, PlainValidator(_gate_of_pathway), _GATE]
"""The same, or "/" in the list."""

SwitchGate = Annotated[Written, PlainValidator(_gate_of_switch), _GATE]
"""The same without gains."""

Inputs = Annotated[Written, PlainValidator(partial(_indices, "inputs")), _INDICES]
"""The name of a group or of an input, or a list of indices or names."""

Outputs = Annotated[Written, PlainValidator(partial(_indices, "outputs")), _INDICES]
"""The same, of outputs."""


def size_field(*, description: str, **limits: Any) -> Any:
    """Return the field of a task's option of the kind ``Size``.

    Args:
        description: What is expected, for messages.
        limits: ``ge``, ``le`` and ``default``, as for pydantic's Field.
    """

    def or_name(schema: dict[str, Any]) -> None:
        number = {key: schema.pop(key) for key in ("type", "minimum", "maximum") if key in schema}
        schema["anyOf"] = [number, _TEXT]

    text = f"{description}, or the name of a parameter with integer = true"
    return Field(description=text, json_schema_extra=or_name, **limits)
