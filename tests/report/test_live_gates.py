"""The law of gates and the phase diagram in a page: the program's own numbers, and its words."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import symreln as sr
from symreln.claims.head_start import mode_laws
from symreln.claims.solve import at_values
from symreln.claims.unit_courses import courses
from symreln.gating.race import race
from symreln.report import shell
from symreln.report.live import live_of
from symreln.report.live_race import live_race
from symreln.report.live_script import interactive, live_script
from symreln.report.live_values import Live
from tests.report import browser
from tests.report.test_live import at, chromium, derived_at, page, run_script
from tests.test_formulas import NETWORK, derived

__all__ = ["chromium"]
RELU = {**NETWORK, "activation": "relu"}
#: Two samples bound the gate of the leading direction, whatever the parameter is.
PLANE: dict[str, Any] = {
    "dataset": {"X": [["1", "1"], ["b", "-b"]], "Y": [["2", "2"], ["1/4", "-1/4"]]},
    "parameters": {"b": {"positive": True, "value": "1/2"}},
    "pathway": [{"name": "all"}],
    "network": RELU,
}
APART = {**PLANE, "network": {**RELU, "init_std": ["1/1000", "1/10000"]}}
#: Four samples in space, and two equal leading modes.
SPACE: dict[str, Any] = {
    "dataset": {
        "X": [["1", "1", "1", "1"], ["1", "-1", "1", "-1"], ["b", "b", "-b", "-b"]],
        "Y": [["2", "2", "2", "2"], ["2", "-2", "2", "-2"], ["1/4", "1/4", "-1/4", "-1/4"]],
    },
    "parameters": {"b": {"positive": True, "value": "1/2"}},
    "pathway": [{"name": "all"}],
    "network": RELU,
}
OWN = {"plane": PLANE, "apart layers": APART, "space": SPACE}
TIMES = np.array([0.0, 1.0, 20.0, 100.0, 300.0, 700.0, 1200.0])
ANSWER = """
const [curve] = LIVE.gates.curves, model = symrelnGates.prepare(curve, POSITION);
const ANSWER = TIMES.map((t) => {
  const share = symrelnGates.share(model, t);
  const K = [...model.still].map((_, n) => symrelnGates.covariance(model, n));
  return { share, K, angle: [...model.angle], flat: model.flat };
});
"""


def computed(live: Live, position: dict[str, Fraction], folder: Path) -> list[dict[str, Any]]:
    numbers = json.dumps({name: float(value) for name, value in position.items()})
    script = ANSWER.replace("POSITION", numbers).replace("TIMES", json.dumps(TIMES.tolist()))
    return run_script(live_script(live) + shell.asset("live_gates.js") + script, folder)


def moved(name: str, seed: int) -> tuple[Live, dict[str, Fraction], sr.Derivation]:
    """Return what a page computes, where its sliders stand, and the derivation there."""
    spec = OWN.get(name, name)
    live = live_of(sr.derive(sr.load(spec)) if name in OWN else derived(name))
    rng = random.Random(seed)
    fixed = {s.name: Fraction(s.value) for s in live.sliders if s.step in ("whole", "doubling")}
    position = {s.name: at(s, rng) for s in live.sliders if s.name not in fixed}
    if name == "apart layers":  # the spec lists both of its scales under one key
        position |= {s.name: Fraction(s.value) for s in live.sliders if "std" in s.name}
    keys = {k: v for k, v in position.items() if name != "apart layers" or "std" not in k}
    return live, position | fixed, derived_at(spec, keys)


def linear_units(derivation: sr.Derivation):
    """Return the units of the first pathway, and their angles at all times without κ."""
    numbers = derivation.ask(at_values)
    alike, course = next(courses(numbers))
    laws = mode_laws(numbers)
    rows = [
        each.law.angles(TIMES, float(each.start))
        for mode in alike[0].modes
        if not mode.is_null
        for each in laws[mode.label]
        for _ in range(mode.multiplicity)
    ]
    return course.linear, np.array(rows)


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        *(("contextual-3", 1), ("contextual-C", 1), ("xor", 1), ("xor", 2)),
        *(("plane", 1), ("plane", 2), ("apart layers", 1), ("space", 1), ("space", 2)),
    ],
)
def test_page_has_the_covariance_of_the_law(name: str, seed: int, tmp_path: Path):
    live, position, derivation = moved(name, seed)
    linear, angles = linear_units(derivation)
    signs = np.where(linear.gate, 1.0, -1.0)[linear.tells]
    for found, turned in zip(computed(live, position, tmp_path), angles.T, strict=True):
        wanted = linear.covariance(turned)[np.ix_(linear.tells, linear.tells)]
        wanted *= np.outer(signs, signs)
        here = np.array(found["K"]).reshape(wanted.shape)
        # The program counts σ in units of a common factor.
        here *= wanted[0, 0] / here[0, 0]
        scale = np.sqrt(np.outer(np.diag(wanted), np.diag(wanted)))
        assert np.abs((here - wanted) / scale).max() < 1e-9
        seen = sorted({round(a, 7) for a in turned})
        assert sorted({round(a, 7) for a in found["angle"]}) == pytest.approx(seen, abs=2e-7)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", ["xor", "plane", "apart layers"])
def test_shares_are_exact_in_a_plane(name: str, seed: int, tmp_path: Path):
    live, position, derivation = moved(name, seed)
    if name == "xor":
        position |= {"Delta": Fraction(0)}
        derivation = derived_at(name, position)
    linear, angles = linear_units(derivation)
    shares = linear.shares(angles, np.random.default_rng(0))
    assert shares is not None
    assert shares.walls == (1 if name == "xor" else 2)
    found = computed(live, position, tmp_path)
    assert all(each["flat"] for each in found)
    here = np.array([each["share"][0] for each in found])
    # Near 1 the program's own arc sine loses half of float64's digits.
    lost = np.where(shares.units > 1 - 1e-6, 2e-8, 1e-9)
    assert (np.abs(here - shares.units) < lost).all()


def test_exact_shares_keep_their_digits_near_one(tmp_path: Path):
    live, position, _ = moved("xor", 1)
    position |= {"Delta": Fraction(0), "_init_std": Fraction(1, 1_000_000)}
    found = computed(live, position, tmp_path)
    with mpmath.workdps(40):
        for each in found:
            turned = mpmath.mpf(each["angle"][0])
            # One sample, whose input is the mode: 1/2 + arcsin(e^θ/√(2 cosh 2θ))/π.
            rho = mpmath.exp(turned) / mpmath.sqrt(2 * mpmath.cosh(2 * turned))
            wanted = float(0.5 + mpmath.asin(rho) / mpmath.pi)
            assert each["share"][0] == pytest.approx(wanted, rel=0, abs=1e-15)


@pytest.mark.parametrize(
    ("name", "seed"), [("contextual-3", 1), ("space", 1), ("space", 2), ("xor", 1), ("xor", 2)]
)
def test_integrated_shares_are_those_of_draws(name: str, seed: int, tmp_path: Path):
    live, position, derivation = moved(name, seed)
    linear, angles = linear_units(derivation)
    shares = linear.shares(angles, np.random.default_rng(seed))
    found = computed(live, position, tmp_path)
    assert not any(each["flat"] for each in found)
    here, error = np.array([each["share"] for each in found]).T
    if shares is None:
        assert (here == 0).all()
        return
    assert error.max() < 0.02
    assert (np.abs(here - shares.units) < 5 * np.hypot(error, shares.units_error) + 1e-3).all()


def test_normal_distribution_is_that_of_the_library(tmp_path: Path):
    points = [-38.0, -20.0, -7.3, -3.0, -0.5, 0.0, 0.7, 2.5, 8.0]
    script = f"""const ANSWER = {json.dumps(points)}.map((x) => [symrelnGates.below(x),
    symrelnGates.quantile(symrelnGates.below(-Math.abs(x) / 10))]);"""
    found = np.array(run_script(shell.asset("live_gates.js") + script, tmp_path))
    assert found[:, 0] == pytest.approx(ndtr(points), rel=1e-7, abs=1e-300)
    assert found[:, 1] == pytest.approx(ndtri(ndtr(-np.abs(points) / 10)), rel=3e-9, abs=1e-9)


def test_modes_have_the_names_of_tables():
    live = live_of(derived("contextual-3"))
    assert [mode.title for mode in live.groups[0].modes] == [
        *(f"π₁,{number}" for number in "₁₂₃₄₅"),
        *(f"πₚ,{number}" for number in "₁₂₃"),
    ]
    assert [mode.title for mode in live_of(derived("xor")).groups[0].modes] == ["πₚ,₁"]
    assert [mode.title for mode in live_of(derived("cubic")).groups[0].modes] == [
        f"π₁,{number}" for number in "₁₂₃"
    ]


@pytest.mark.parametrize(
    ("name", "why"),
    [("contextual-3-modular", "no hidden unit keeps a gate"), ("linear-hierarchy", "")],
)
def test_page_says_why_no_share_of_units_moves(name: str, why: str):
    gates = live_of(sr.derive(sr.load(name))).gates
    assert not gates.curves
    assert (why in gates.why) if why else gates.why == ""


def test_phases_are_those_of_the_race():
    found = live_of(derived("xor")).race
    assert found is not None
    assert [(each.where, each.closed, each.says) for each in found.phases] == [
        ("Δ = 0", True, "1000"),
        ("0 < Δ < √6/3", False, "1000 > 1100"),
        ("Δ = √6/3", True, "1100 = 1000"),
        ("√6/3 < Δ ≤ √2", True, "1100 > 1000"),
        ("√2 < Δ", False, "1100"),
    ]
    assert [each.name for each in found.speeds] == ["1100"] * 3 + ["1000"] * 2
    assert [(exact, says) for _, exact, says in found.marks] == [
        ("0", "1100 starts or stops to exist"),
        ("√6/3", "1100, 1000 cross"),
        ("√2", "1000 starts or stops to exist"),
    ]


def test_speeds_without_radicals_are_given_at_some_values():
    """A cubic in the parameter: the page draws between values of the program."""
    spec = sr.load(
        {
            "dataset": {
                "X": [["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]],
                "Y": [["2", "1", "0"], ["1", "3", "1"], ["0", "1", "b"]],
            },
            "parameters": {"b": {"positive": True, "value": "5"}},
            "pathway": [{"name": "all"}],
        }
    )
    limits = spec.parameters[0].range
    found = live_race(race(spec.dataset.inputs, spec.dataset.targets, limits), spec)
    given = [each for each in found.speeds if each.rate is None and "/" not in each.name]
    assert given
    for each in given:
        gate = np.array([float(sign) for sign in each.name])
        for b, rate in each.points[::20]:
            y = np.array([[2, 1, 0], [1, 3, 1], [0, 1, b]])
            assert np.isclose(np.linalg.svd(y * gate / 3)[1], rate, rtol=1e-12).any()


# -- in a browser -----------------------------------------------------------------------------

SAID = "[...document.querySelectorAll('.words')].map((each) => each.textContent)"
SETTLED = f"""(async () => {{
  let last = null;
  for (let n = 0; n < 100; n += 1) {{
    await new Promise((go) => setTimeout(go, 200));
    const now = JSON.stringify({SAID});
    if (now === last && now.includes('gate from')) break;
    last = now;
  }}
  return {SAID};
}})()"""


def slide(tab: browser.Tab, name: str, position: float) -> None:
    tab.eval(
        f"(() => {{ const input = document.getElementById('live-{name}'); input.value = {position};"
        " input.dispatchEvent(new Event('input')); })()"
    )


def opened(chromium, folder: Path, text: str) -> browser.Tab:
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    return browser.Tab(chromium, path.as_uri())


def test_sliders_move_units_and_phases(chromium, tmp_path: Path):
    tab = opened(chromium, tmp_path, page(interactive(derived("xor"))))
    *_, gates, phases = tab.eval(SETTLED)
    assert "(exact)" in gates
    assert "At Δ = 0, fastest first: 1000 (for Δ = 0)" in phases
    assert "Δ = √6/3: 1100, 1000 cross" in phases
    slide(tab, "Delta", 0.5)
    *_, later, phases = tab.eval(SETTLED)
    assert "two standard errors" in later
    assert "At Δ = 1, fastest first: 1100 > 1000 (for √6/3 < Δ ≤ √2)" in phases
    slide(tab, "_learning_rate", 1)
    *_, sooner, _ = tab.eval(SETTLED)
    step = [int(words.split("from step ")[1].split()[0]) for words in (later, sooner)]
    assert step[1] == pytest.approx(step[0] / 4, abs=6)
    assert not tab.said("Runtime.exceptionThrown", "Log.entryAdded")
    tab.close()


def test_other_sizes_have_no_share_of_units(chromium, tmp_path: Path):
    tab = opened(chromium, tmp_path, page(interactive(derived("contextual-C"))))
    *_, words = tab.eval(SETTLED)
    assert "half of them have left by step" in words
    slide(tab, "C", 4)
    *_, words = tab.eval(SAID)
    assert "declared sizes" in words
    tab.close()


def test_race_has_a_page_with_its_phase_diagram(chromium, tmp_path: Path):
    text = sr.race(sr.load("xor"), over="Delta").files()["race.html"]
    assert isinstance(text, str)
    tab = opened(chromium, tmp_path, text)
    assert tab.eval("document.querySelectorAll('#live canvas').length") == 1
    slide(tab, "Delta", 1)
    (words,) = tab.eval(SAID)
    assert "At Δ = 2.012, fastest first: 1100 (for √2 < Δ)" in words
    cells = tab.eval(
        "[...document.querySelectorAll('#sec\\\\:result code')].map((c) => c.textContent)"
    )
    assert cells == ["1000", "1000 > 1100", "1100 = 1000", "1100 > 1000", "1100"]
    assert not tab.said("Runtime.exceptionThrown", "Log.entryAdded")
    tab.close()
