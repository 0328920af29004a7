"""A quick slice of the fuzz campaign, and what the campaign itself must notice."""

from __future__ import annotations

import math
import warnings

import pytest

from symreln.cli import main as cli
from tests.campaigns import work_on_spec
from tests.campaigns.fuzz import library_answers
from tests.campaigns.random_specs import toml_of, varied_tables
from tests.campaigns.work_on_spec import FoundError, work_on


@pytest.mark.parametrize("first", [20_000, pytest.param(20_025, marks=pytest.mark.slow)])
def test_small_random_specs_are_derived_or_refused(first):
    """Whatever comes out is finite, and its certificate holds."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for seed in range(first, first + 25):
            found.append(work_on(varied_tables(seed, extreme=False)))
    assert sum(not text.startswith("refused") for text in found) >= 10


def test_a_number_that_is_none_is_noticed(monkeypatch):
    monkeypatch.setattr(work_on_spec.console, "summary_of", lambda _: {"rows": ["a", "inf"]})
    tables = {"dataset": {"X": [[1]], "Y": [[1]]}, "pathway": [{"name": "a"}]}
    with pytest.raises(FoundError, match="inf"):
        work_on(tables)


def test_a_crash_and_a_hang_are_noticed():
    """The worker of the campaign says where; it is started again after one that ended."""
    crash, hang, good = list(library_answers([-1, -2, 1], limit=2))
    assert crash["outcome"] == "failed"
    assert "ZeroDivisionError" in crash["found"]
    assert hang["outcome"] == "failed"
    assert "over the limit" in hang["found"]
    assert good["outcome"] in ("derived", "refused")


@pytest.mark.parametrize("command", ["derive", "validate", "gates", "race"])
def test_commands_end_in_a_stated_code(command, tmp_path, capsys):
    spec = tmp_path / "spec.toml"
    spec.write_text(toml_of(varied_tables(20_001, extreme=False)))
    more = ["--seeds", "2"] if command == "validate" else []
    code = cli._guarded([command, str(spec), "--out", str(tmp_path / "out"), *more])
    out, err = capsys.readouterr()
    assert code in (0, 2, 3, 4)
    assert "Traceback" not in out + err
    assert str(math.inf) not in out.split()
