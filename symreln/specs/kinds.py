"""The kinds of keys that a table of the spec has: what stands there, and how it is read.

A kind is an annotated type of a field. Pydantic checks the shape; a kind that reads (a formula, a
matrix) raises what is wrong with the value, and the field then holds what was read.

Matrices written in the spec: lists of rows of numbers and formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
)

from symreln.exact.scalar import Scalar
from symreln.specs.expression import Declared, Value, constant
from symreln.specs.finding import Finding, counted, need, read_all, shown
from symreln.specs.number import DecimalText


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


def one_of(value: object, *kinds: type) -> Any:
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
    return one_of(value, int, float, str, Fraction, DecimalText)


def _declared(info: ValidationInfo) -> Declared:
    """Return the names that a table's formulas may use: whoever checks the table gives them."""
    assert isinstance(info.context, Declared)
    return info.context


def _constant(value: object) -> Fraction:
    return constant(_formula(value))


def _share(value: object) -> Fraction:
    """Return the value of a formula or of one in percent: results are printed in percent."""
    if isinstance(value, str) and value.rstrip().endswith("%"):
        return constant(value.rstrip()[:-1]) / 100
    return _constant(value)


def _positive(value: object) -> Fraction:
    found = _constant(value)
    need(found > 0, shown(value), "a number above 0")
    return found


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


def _list(entry: dict[str, Any], **limits: int) -> dict[str, Any]:
    return {"type": "array", "items": entry, **limits}


TEXT = {"type": "string"}
FORMULA = {"anyOf": [{"type": "number"}, TEXT]}


def text_or_list(entry: dict[str, Any]) -> WithJsonSchema:
    """Return the JSON Schema of a text or a list of entries."""
    return WithJsonSchema({"anyOf": [TEXT, _list(entry)]})


Formula = Annotated[
    Scalar,
    PlainValidator(lambda value, info: _declared(info).parse(_formula(value))),
    WithJsonSchema(FORMULA),
]
"""A number, or a formula in declared names as text: ``1``, ``0.5``, ``"1/3"``, ``"2*c"``."""

Constant = Annotated[Fraction, PlainValidator(_constant), WithJsonSchema(FORMULA)]
"""A number, or a formula without names."""

Positive = Annotated[Fraction, PlainValidator(_positive), WithJsonSchema(FORMULA)]
"""A number above 0."""

Share = Annotated[Fraction, PlainValidator(_share), Field(gt=0, le=1), WithJsonSchema(FORMULA)]
"""A number above 0, at most 1, or in percent."""

Spreads = Annotated[
    tuple[Fraction, Fraction | None],
    PlainValidator(_spreads),
    WithJsonSchema({"anyOf": [*FORMULA["anyOf"], _list(FORMULA, minItems=2, maxItems=2)]}),
]
"""A number above 0, or a list of two: the first, and the second where it differs."""

Matrix = Annotated[
    list[list[Value]],
    PlainValidator(lambda value, info: _matrix_from_rows(value, _declared(info))),
    WithJsonSchema(_list(_list(FORMULA))),
]
"""A list of rows of formulas in declared names."""

Names = Annotated[
    object, PlainValidator(lambda value: one_of(value, str, list, tuple)), text_or_list(TEXT)
]
"""A name as text, or a list of names."""

Size = Annotated[int, BeforeValidator(_size)]
"""A whole number, or the name of an integer parameter, whose value is then put in its place."""


def size_field(*, description: str, **limits: Any) -> Any:
    """Return the field of a task's option of the kind ``Size``.

    Args:
        description: What is expected, for messages.
        limits: ``ge``, ``le`` and ``default``, as for pydantic's Field.
    """

    def or_name(schema: dict[str, Any]) -> None:
        number = {key: schema.pop(key) for key in ("type", "minimum", "maximum") if key in schema}
        schema["anyOf"] = [number, TEXT]

    text = f"{description}, or the name of a parameter with integer = true"
    return Field(description=text, json_schema_extra=or_name, **limits)


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
