"""A document as JSON values, and the same document of these: all that a renderer needs.

Texts are strings, tuples lists, bytes base64, and every other part of the document model an object
whose key ``is`` names its class.
"""

from __future__ import annotations

import base64
from dataclasses import fields, is_dataclass
from typing import Any

from symreln.document import document_model as model

_KINDS: dict[str, Any] = {name: kind for name, kind in vars(model).items() if is_dataclass(kind)}


def values_of(part: Any) -> Any:
    """Return a part of a document as JSON values."""
    if isinstance(part, tuple):
        return [values_of(each) for each in part]
    if isinstance(part, bytes):
        return {"base64": base64.b64encode(part).decode()}
    if not is_dataclass(part):
        return part
    # A drawing may be coming.
    kind: Any = model.Drawing if isinstance(part, model.Drawing) else type(part)
    own = {field.name: values_of(getattr(part, field.name)) for field in fields(kind)}
    return {"is": kind.__name__, **own}


def of_values(values: Any) -> Any:
    """Return the part of a document that has these values.

    Raises:
        KeyError: It names a class that is none, or none.
        TypeError: It has a field that its class does not have, or lacks one.
        ValueError: It cannot be built.
    """
    if isinstance(values, list):
        return tuple(map(of_values, values))
    if not isinstance(values, dict):
        return values
    if "base64" in values:
        return base64.b64decode(values["base64"])
    found = {name: of_values(value) for name, value in values.items()}
    return _KINDS[found.pop("is")](**found)
