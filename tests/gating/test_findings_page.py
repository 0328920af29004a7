"""docs/gates.md and the script that writes its tables."""

import re
import runpy
from pathlib import Path

import pytest

from symreln.gating.label_race import subset_stages

ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "benchmarks" / "findings.py"))
PAGE = (ROOT / "docs" / "gates.md").read_text(encoding="utf-8")


def table(name: str) -> str:
    found = re.search(
        rf"<!-- findings: {re.escape(name)} -->\n(.*?)\n<!-- end -->", PAGE, re.DOTALL
    )
    assert found is not None, name
    return found[1]


def test_the_page_has_every_table_of_the_script_and_no_other() -> None:
    wanted = ["xor", "subsets", *(f"C = {k}, c = {c}" for k, c in SCRIPT["CONTESTS"])]
    assert re.findall(r"<!-- findings: (.*) -->", PAGE) == wanted
    for name in wanted:
        assert SCRIPT["replaced"](PAGE, name, table(name)) == PAGE
        changed = SCRIPT["replaced"](PAGE, name, "| new \\1 |\n")
        assert changed.count("| new \\1 |") == 1
        assert changed.replace("| new \\1 |", table(name)) == PAGE
    with pytest.raises(ValueError, match="found 0 tables"):
        SCRIPT["replaced"](PAGE, "other", "")


def test_what_the_page_says_is_fastest() -> None:
    """The exact columns are computed again; what is trained is not."""
    contexts = 3
    stages = subset_stages(SCRIPT["contextual"](contexts, "1").at_values(), "context")
    told = [" and ".join(map(str, stage.fastest)) for stage in stages]
    assert f"\n| {contexts} | {told[0]} | {told[1]} |" in table("subsets")


def test_every_contest_is_headed_by_what_it_is() -> None:
    for contexts, scale in SCRIPT["CONTESTS"]:
        assert table(f"C = {contexts}, c = {scale}").startswith(f"C = {contexts}, c = {scale}, ")
