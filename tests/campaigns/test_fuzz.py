"""Random specs through the library and the commands: no crash, no hang, no number that is none.

A few specs daily; with SYMRELN_EXAMPLES=full thousands, small and extreme, every tenth extreme one
written as a folder of documents.
"""

from __future__ import annotations

import faulthandler
import warnings

import pytest

from symreln.cli import main as cli
from tests.campaigns import work_on_spec
from tests.campaigns.random_specs import toml_of, varied_tables
from tests.campaigns.work_on_spec import NOT_A_NUMBER, FoundError, work_on
from tests.strategies import FULL

FIRST, MANY = 20_000, 5000 if FULL else 25
#: Seconds for one spec; what takes longer ends its process and says where it was.
LIMIT = 300
COMMANDS = (
    ("derive",),
    ("derive", "--json"),
    ("validate", "--seeds", "2"),
    ("run", "--seeds", "2"),
    ("gates", "--method", "enumerate"),
    ("gates", "--method", "self-consistent"),
    ("race",),
)


@pytest.mark.parametrize("first", range(FIRST, FIRST + MANY, 25))
@pytest.mark.parametrize("extreme", [False, True] if FULL else [False])
def test_random_specs_are_derived_or_refused(first, extreme, capfd):
    """Whatever comes out is finite, and its certificate holds."""
    found = []
    for seed in range(first, first + 25):
        with capfd.disabled(), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            faulthandler.dump_traceback_later(LIMIT, exit=True)
            try:
                tables = varied_tables(seed, extreme=extreme)
                found.append(work_on(tables, write=extreme and seed % 10 == 0))
            except Exception as error:
                error.add_note(f"seed {seed}")
                raise
            finally:
                faulthandler.cancel_dump_traceback_later()
    assert sum(not text.startswith("refused") for text in found) >= 10


def test_a_number_that_is_none_is_noticed(monkeypatch):
    monkeypatch.setattr(work_on_spec.console, "summary_of", lambda _: {"rows": ["a", "inf"]})
    tables = {"dataset": {"X": [[1]], "Y": [[1]]}, "pathway": [{"name": "a"}]}
    with pytest.raises(FoundError, match="inf"):
        work_on(tables)


@pytest.mark.parametrize("place", range(300 if FULL else len(COMMANDS)))
def test_commands_end_in_a_stated_code(place, tmp_path, capsys):
    spec = tmp_path / "spec.toml"
    spec.write_text(toml_of(varied_tables(FIRST + place, extreme=FULL)), encoding="utf-8")
    name, *options = COMMANDS[place % len(COMMANDS)]
    code = cli._guarded([name, str(spec), "--out", str(tmp_path / "out"), *options])
    out, err = capsys.readouterr()
    assert code in (0, 2, 3, 4)
    assert "Traceback" not in out + err
    assert not NOT_A_NUMBER.search(out)
