"""A document as JSON values, and the same document of these: all that a renderer needs.

Texts are strings, tuples lists, bytes base64, and every other part of the document model an object
whose key ``is`` names its class; fields that have their default are left out.
"""

from __future__ import annotations

import base64
import dataclasses
from typing import Any

from symreln.document import document_model as model

_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(model.Math, model.Code, model.Strong, model.Reference, model.Citation, model.Link),
        *(model.Paragraph, model.Equation, model.Theorem, model.Table, model.Figure),
        *(model.Details, model.Items, model.Section),
        *(model.Drawing, model.Source, model.Document),
    )
}


def values_of(part: Any) -> Any:
    """Return a part of a document as JSON values."""
    if isinstance(part, model.Text):
        return part.value
    if isinstance(part, tuple):
        return [values_of(each) for each in part]
    if isinstance(part, bytes):
        return {"base64": base64.b64encode(part).decode()}
    if not dataclasses.is_dataclass(part):
        return part
    kind = model.Drawing if isinstance(part, model.Drawing) else type(part)  # it may be coming
    held = {field.name: (getattr(part, field.name), field.default) for field in _fields(kind)}
    own = {name: values_of(value) for name, (value, default) in held.items() if value != default}
    return {"is": kind.__name__, **own}


def of_values(values: Any) -> Any:
    """Return the part of a document that has these values.

    Raises:
        InputError: It is none that could be built.
        KeyError: It names a class that is none, or none.
        TypeError: It has a field that its class does not have, or lacks one.
    """
    if isinstance(values, list):
        return tuple(map(of_values, values))
    if not isinstance(values, dict):
        return values
    if "base64" in values:
        return base64.b64decode(values["base64"])
    kind = _KINDS[values["is"]]
    return kind(**{name: of_values(each) for name, each in values.items() if name != "is"})


def _fields(kind: Any) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(kind)
