"""What docstrings refer to is there."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import symreln

ROLE = re.compile(r":(?:mod|func|class|data|meth|attr|exc):`~?(symreln[\w.]*)`")


def found(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute or a field of one of its objects."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            thing = import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            fields = getattr(thing, "__dataclass_fields__", {})
            if not hasattr(thing, part) and part not in fields:
                return False
            thing = getattr(thing, part, None)
        return True
    return False


def test_names_in_docstrings_are_there():
    assert not found("symreln.nowhere")
    assert not found("symreln.laws.law.Regime.nothing")
    texts = {path: path.read_text() for path in Path(symreln.__file__).parent.rglob("*.py")}
    named = {(name, path.name) for path, text in texts.items() for name in ROLE.findall(text)}
    assert len(named) > 50
    assert [each for each in sorted(named) if not found(each[0])] == []
