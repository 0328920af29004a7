"""The table of rules: every line is a rule, and those of an outer room can be taken away."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import symreln as sr
from symreln.claims import rules


def test_every_key_that_is_asked_for_is_in_the_table():
    house = Path(sr.__file__).parent.rglob("*.py")
    asked = {key for path in house for key in re.findall(r'rule_of\("(\w+)"', path.read_text())}
    assert asked
    assert asked <= {shown.key for shown in rules.RULES}


@pytest.mark.parametrize("spec", ["contextual-C", "routing"])
def test_without_the_room_of_every_size_the_rest_is_derived(spec, monkeypatch):
    whole = sr.derive(spec).to_json()
    kept = tuple(shown for shown in rules.RULES if not shown.name.startswith("sizes."))
    monkeypatch.setattr(rules, "RULES", kept)
    for name in [name for name in sys.modules if name.startswith("symreln.sizes")]:
        monkeypatch.setitem(sys.modules, name, None)
    derivation = sr.derive(spec)
    found = derivation.to_json()
    assert not {"family", "routing"} & found.keys()
    for key in ("pathways", "verdict", "loss"):
        assert found[key] == whole[key]
    assert "For every size" not in derivation.to_latex()
