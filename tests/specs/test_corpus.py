"""Every wrong input ends in one clear error: never a traceback, never silence, never a wait."""

from __future__ import annotations

import pytest

from symreln.specs.finding import problem_of_character
from tests.specs.messages import FILE, messages


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    return list(messages(tmp_path_factory.mktemp("corpus")))


def test_every_message_is_as_it_was_reviewed(found: list[tuple[str, str]]):
    """Where, what was found, what is needed, how to mend: whole, so that no two can be swapped."""
    kept = dict(part.split("\n", 1) for part in FILE.read_text("utf-8")[3:].split("\n== "))
    new = {name: message.rstrip("\n") for name, message in found}
    assert len(new) == len(found) >= 330, "names are unique"
    changed = [name for name in {*kept, *new} if kept.get(name, "").rstrip("\n") != new.get(name)]
    told = [f"{name}\n- {kept.get(name)}\n+ {new.get(name)}" for name in sorted(changed)]
    assert not changed, "python -m tests.specs.messages writes them anew:\n" + "\n".join(told[:5])


def test_no_message_is_long_or_holds_a_control_character(found: list[tuple[str, str]]):
    for name, message in found:
        assert not any(problem_of_character(c) for c in message if c != "\n"), name
        assert len(message) < 20_000, name
