"""What a page computes over sliders: the program's own curves, wherever the sliders stand."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symreln as sr
from symreln.claims.head_start import mode_laws
from symreln.claims.prediction import predict
from symreln.claims.starts import mode_kappas, start_factors, starts_of
from symreln.document.document_model import Document, Interactive, Section, prose
from symreln.errors import NoClosedFormError
from symreln.report import html, shell
from symreln.report.live import interactive, live_script
from tests.claims.test_formulas import APART, SPECS, derived
from tests.report import browser

KEYS = {
    "_hidden": "network.hidden",
    "_learning_rate": "network.learning_rate",
    "_init_std": "network.init_std",
}
DECAY = {**SPECS["cubic"], "network": {**SPECS["cubic"]["network"], "weight_decay": "1/10"}}
# Two contexts turn two of four items the other way: what the first stage has still to learn drives
# no mode of the second.
UNDRIVEN = {
    "dataset": {
        "X": [[int(row == item) for item in range(4)] * 2 for row in range(4)]
        + [["a"] * 4 + [0] * 4, [0] * 4 + ["a"] * 4],
        "Y": [
            [1] * 8,
            [1, 1, -1, -1] * 2,
            [1, -1, 0, 0, 0, 0, 1, -1],
            [0, 0, 1, -1, 1, -1, 0, 0],
        ],
        "labels": {"context": [1] * 4 + [2] * 4},
    },
    "parameters": {"a": {"value": 1, "positive": True}},
    "pathway": [
        {"name": "common"},
        {
            "name": "ctx_{context}",
            "each": "context",
            "gate": "context == {context}",
            "inputs": [0, 1, 2, 3],
            "stage": 2,
        },
    ],
    "network": {
        "hidden": 100,
        "init_std": "1/10000",
        "learning_rate": "1/100",
        "steps": 3000,
        "loss": "sum",
    },
}
EVALUATE = """
const found = symrelnLive.evaluate(LIVE, POSITION, TIMES);
const mode = (one) => ({ ...one, curve: one.curve && [...one.curve] });
const ANSWER = { loss: found.loss && [...found.loss], modes: found.modes.map(mode) };
"""


def run_script(text: str, folder: Path) -> Any:
    """Run JavaScript that sets ANSWER, in node or in a browser."""
    if shutil.which("node"):
        path = folder / "run.js"
        path.write_text(f"{text}\nconsole.log(JSON.stringify(ANSWER));", encoding="utf-8")
        command = ["node", str(path)]
        return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    if browser.PATH is None:
        pytest.skip("needs node or Chromium")
    path = folder / "run.html"
    path.write_text(f"<!DOCTYPE html><title>run</title><script>{text}</script>", encoding="utf-8")
    with browser.opened() as chromium:
        return json.loads(browser.Tab(chromium, path.as_uri()).eval("JSON.stringify(ANSWER)"))


def own_scripts() -> str:
    return "".join(map(shell.asset, shell.LIVE_SCRIPTS))


def live_of(derivation: sr.Derivation) -> tuple[str, dict[str, Any]]:
    """Return the script of a page and what it knows beside formulas."""
    script = live_script(derivation)
    known = script.partition(" = ")[2].partition(";\nLIVE.build")[0]
    return script, json.loads(known)


def at(slider: dict[str, Any], rng: random.Random) -> Fraction:
    """Return a value of a slider somewhere in its range."""
    low, high, share = slider["low"], slider["high"], rng.random()
    value = low * (high / low) ** share if slider["log"] else low + (high - low) * share
    return Fraction(round(value)) if slider["name"] == "_hidden" else Fraction(f"{value:.6g}")


def computed(script: str, position: dict[str, Fraction], times: np.ndarray, folder: Path):
    numbers = json.dumps({name: float(value) for name, value in position.items()})
    asked = EVALUATE.replace("POSITION", numbers).replace("TIMES", json.dumps(times.tolist()))
    return run_script(script + own_scripts() + asked, folder)


def derived_at(spec, position: dict[str, Fraction]) -> sr.Derivation:
    def written(value: Fraction):
        return value.numerator if value.denominator == 1 else str(value)

    keys = {
        KEYS.get(k, f"parameters.{k.rstrip('_')}.value"): written(v) for k, v in position.items()
    }
    found = sr.derive(sr.load(spec, overrides=keys))
    assert isinstance(found, sr.Derivation)
    return found


@pytest.mark.parametrize("name", ["contextual-3", "unbalanced", "decay", "undriven"])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_page_computes_what_the_program_evaluates(name: str, seed: int, tmp_path: Path):
    spec = {**SPECS, "decay": DECAY, "undriven": UNDRIVEN}.get(name, name)
    declared = sr.derive(sr.load(spec))
    script, live = live_of(declared)
    rng = random.Random(seed)
    position = {slider["name"]: at(slider, rng) for slider in live["sliders"]}
    if name == "unbalanced":  # the spec lists both of its scales under one key
        position |= {s["name"]: Fraction(s["value"]) for s in live["sliders"] if "std" in s["name"]}
    keys = {k: v for k, v in position.items() if name != "unbalanced" or "std" not in k}
    other = derived_at(spec, keys)
    times = np.linspace(0, 2.0 * live["steps"], 40)
    # κ stays that of the declared values.
    numbers, kappas = other.at_values, declared.ask(starts_of).kappas
    factors = start_factors(numbers, mode_kappas(numbers, kappas))
    predicted = predict(numbers, times, factors=factors)
    found = computed(script, position, times, tmp_path)
    assert found["loss"] == pytest.approx(predicted.loss, rel=0, abs=1e-9 * predicted.loss[0])
    # Other values may order modes in another way, and then have other names for them.
    left = [(c.of("closed") / c.plateau, c.plateau) for c in predicted.modes]
    halves = np.unique([mode["half"] for mode in found["modes"] if mode["half"] is not None])
    there = predict(numbers, halves, factors=factors).modes if len(halves) else []
    then = [curve.of("closed") for curve in there]
    for mode in found["modes"]:
        distances = [np.abs(np.array(mode["curve"]) / h - shown).max() for shown, h in left]
        place = int(np.argmin(distances))
        plateau = left[place][1]
        assert distances[place] < 1e-9
        assert mode["plateau"] == pytest.approx(plateau, rel=1e-9)
        if mode["half"] is None:  # it begins above half of its plateau
            assert left[place][0][0] > 0.5
        else:
            reached = then[place][np.searchsorted(halves, mode["half"])]
            assert reached == pytest.approx(plateau / 2, rel=1e-6)


def test_modes_without_a_formula_at_some_values_have_no_curve_there(tmp_path: Path):
    script, live = live_of(derived("contextual-3"))
    large = {s["name"]: Fraction(s["value"]) for s in live["sliders"]} | {
        "_init_std": Fraction(1, 10)
    }
    other = derived_at("contextual-3", {k: v for k, v in large.items() if k == "_init_std"})
    lost = set(mode_laws(other).outrun)
    found = computed(script, large, np.array([0.0, 10.0]), tmp_path)
    assert lost
    assert found["loss"] is None
    assert {n for mode in found["modes"] if mode["curve"] is None for n in mode["names"]} == lost


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("apart", "several earlier modes drive it"),
        ("narrow", "fewer hidden units"),
        ("contextual-different", "coupled matrices"),
    ],
)
def test_page_says_why_it_has_no_sliders(name: str, why: str):
    derivation = sr.derive(sr.load({**SPECS, "apart": APART}.get(name, name)))
    with pytest.raises(NoClosedFormError, match=why):
        live_script(derivation)
    assert interactive(derivation) is None


def test_labels_of_a_spec_cannot_end_the_script():
    spec = {**SPECS["cubic"], "pathway": [{"name": "</script><script>alert(1)"}]}
    script = interactive(sr.derive(sr.load(spec))).script
    assert "alert(1)" in script
    assert "<" not in script.split("LIVE.build", 1)[0]


# -- in a browser -----------------------------------------------------------------------------


def page(moved: Interactive) -> str:
    summary = Section(title="Summary", label="s", blocks=(prose("Words."),))
    return html.render(Document(title="Page", blocks=(summary,), interactive=moved))


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("live") / "page.html"
    path.write_text(page(interactive(derived("contextual-3"))), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def chromium():
    if browser.PATH is None:
        pytest.skip("needs Chromium")
    with browser.opened() as found:
        yield found


HALF = "document.querySelector('#live tbody tr:nth-child(2) td:nth-child(4)').textContent"
MOVE = """(() => { const input = document.getElementById('live-c');
input.value = 0.02; input.dispatchEvent(new Event('input')); })()"""


def test_slider_moves_half_times_and_reset_takes_them_back(chromium, address):
    tab = browser.Tab(chromium, address)
    declared = tab.eval(HALF)
    tab.eval(MOVE)
    moved = tab.eval(HALF)
    assert float(moved) > 2 * float(declared)
    assert tab.eval("document.getElementById('live-c').getAttribute('aria-valuetext')") == "0.178"
    tab.eval("[...document.querySelectorAll('#live button')].at(-1).click()")
    assert tab.eval(HALF) == declared
    tab.close()
