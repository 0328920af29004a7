"""Gates that switch, as they are shown: every phase on the terminal, in figures and in words."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import symreln as sr
from symreln.claims import flow_lines
from symreln.claims.derivation import Derivation
from symreln.claims.lines import derivation_lines
from symreln.document.document_model import Figure
from symreln.report import html
from symreln.report.content import derivation_chapters, derivation_document
from symreln.report.plots import modes_sketches, still_sketches
from symreln.report.terminal import show_summary, summary_of
from tests.own_specs import LINEAR, own, path
from tests.report.sample import words_of

SPEC = own(
    [[1, 0], [0, 1]],
    [[3, 0], [0, 2]],
    path("stays", "sample == 1"),
    path("turns", "sample == 2", then=[{"step": 60, "gate": "all"}]),
    labels={"sample": [1, 2]},
    network=LINEAR | {"hidden": 20, "learning_rate": "1/10", "steps": 121},
)


@lru_cache(maxsize=1)
def derivation() -> Derivation:
    return sr.derive(sr.load(SPEC))


@lru_cache(maxsize=1)
def sketches() -> dict[str, Any]:
    found = modes_sketches(derivation(), derivation().evaluate())
    return {each.name: each.shown["panels"][0] for each in (*still_sketches(derivation()), *found)}


def test_the_terminal_shows_verdict_and_modes_of_every_phase(capsys):
    show_summary(summary_of(derivation()))
    shown = capsys.readouterr().out
    own, later = (phase.verdict.level.value for _, phase in derivation().phases)
    assert f"verdict up to step 60: {own}\n" in shown
    assert f"verdict from step 60: {later}\n" in shown
    assert all(f"  - {why}" in shown for why in derivation().later[0].verdict.reasons)
    before, after = shown.split("modes from step 60")
    assert "modes up to step 60" in before
    # With both samples open 'turns' learns s = 3/2 too, which it does not see before.
    turns = [line.split() for line in before.splitlines() if line.strip().startswith("turns")]
    assert [row[1] for row in turns if row[1] != "0"] == ["1"]
    assert "3/2" in [row[1] for row in map(str.split, after.splitlines()) if row[:1] == ["turns"]]


def test_gates_have_a_row_from_each_step_at_which_they_switch():
    cells = sketches()["gates"].cells
    assert dict(zip(cells.rows, cells.values.tolist(), strict=True)) == {
        "stays": [1, 0],
        "turns": [0, 1],
        "turns, step 60": [1, 1],
    }


def test_strengths_are_drawn_while_the_gates_of_their_modes_hold():
    prediction = derivation().evaluate()
    curves = {each.label: each for each in sketches()["modes"].curves if each.label}
    assert set(curves) == {"stays", "turns", "stays, step 60", "turns, step 60"}
    for label, each in curves.items():
        times, values = each.x, each.y
        held = times >= 60 if label.endswith("step 60") else times < 60
        assert np.isnan(values[~held]).all()
        known = next(mode.best for mode in prediction.modes if mode.pathway == label)
        np.testing.assert_array_equal(values[held], known[held])


def test_the_document_says_what_holds_when():
    drawn = ("gates", "vectors", "modes")
    summary, data, *chapters = derivation_chapters(derivation(), None, drawn)
    text = words_of(summary)
    for _, phase in derivation().phases:
        assert phase.verdict.level.value in text
    assert "Verdict up to step 60" in text
    assert "From step 60 on, with other gates: " in text
    assert "Pathways up to step 60." in words_of(data)
    figures = [
        block
        for chapter in (summary, *chapters)
        for block in chapter.blocks
        if isinstance(block, Figure)
    ]
    (modes,) = [str(figure.caption) for figure in figures if figure.name == "modes"]
    assert "closed forms" not in modes
    assert "modes of the gates that hold" in modes


def test_alignment_is_said_to_be_that_of_the_last_gates():
    found = sr.validate(derivation(), seeds=2)

    def page_of(found: sr.Validation) -> str:
        return html.render(derivation_document(found.derivation, found))

    assert "those from step 60 on" in page_of(found)
    still = sr.load({**SPEC, "pathway": [{"name": "all"}]})
    assert "from step" not in page_of(sr.validate(sr.derive(still), seeds=2))


def test_lines_say_what_a_switch_changes_and_check_it_with_the_new_gates(monkeypatch):
    found = derivation().ask(derivation_lines)
    switch = [n for n, line in enumerate(found.derived) if "From step 60" in line.says]
    assert len(switch) == 1
    line = found.derived[switch[0]]
    assert line.main
    assert line.holds
    checked = int(line.check.split()[0])
    new = found.derived[switch[0] + 1 :]
    assert 0 < len(new) < checked  # what stands above already is not written twice
    assert not {each.equation for each in new} & {e.equation for e in found.derived[: switch[0]]}
    # What fails with the new gates alone is noticed.
    later = derivation().later[0].stages
    monkeypatch.setattr(
        flow_lines, "_starts_at_its_loss", lambda given: all(given is not stage for stage in later)
    )
    with pytest.raises(ArithmeticError, match=r"geq 60"):
        derivation_lines(derivation())
