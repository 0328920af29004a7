"""The cost of an unconverged stage: formulas by themselves, and against the integrated flow."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad, solve_ivp

import symreln as sr
from symreln.claims.convergence import Convergence
from symreln.claims.derivation import Derivation
from symreln.claims.integration import coupled_matrices
from symreln.exact.numeric import numpy_modes
from symreln.laws import converging
from symreln.laws.converging import Earlier, Later, Push, gained, residuals
from symreln.laws.coupled_matrices import EqualModes
from tests.cases import matrix_spec
from tests.strategies import examples

ACCURATE = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-14}


@lru_cache(maxsize=4)
def derived(name: str) -> Derivation:
    return sr.derive(sr.load(name))


def test_what_the_bounds_rest_on_cancels_to_zero():
    assert [str(each) for each in residuals()] == ["0"] * 7


def test_a_wrong_antiderivative_leaves_something(monkeypatch):
    right = converging.antiderivative

    def wrong(s, c, h, x):
        found, roots = right(s, c, h, x)
        return found + x / 1000, roots

    monkeypatch.setattr(converging, "antiderivative", wrong)
    residuals.cache_clear()
    assert any(each != 0 for each in residuals())
    residuals.cache_clear()


positive = st.floats(0.02, 3)
constants = {"s": positive, "c": positive, "h": positive}


@examples(240)
@given(**constants, start=st.floats(1e-6, 0.4), end=st.floats(0.5, 0.999))
def test_the_integral_against_quadrature(s, c, h, start, end):
    def integrand(log):
        y = np.exp(log)  # h − x
        x = h - y
        return (c * c * x / (np.hypot(s, c * x) + s)) if x > 0 else 0.0

    exact = gained(*(arb(value) for value in (s, c, h, start * h, end * h)))
    found = quad(integrand, np.log(start * h), np.log(end * h), epsabs=0, epsrel=1e-11)[0]
    assert float(exact) == pytest.approx(found, rel=1e-9, abs=1e-12)
    free = gained(arb(0), *(arb(value) for value in (c, h, start * h, end * h)))
    assert float(free) == pytest.approx(c * np.log(end / start), rel=1e-9)


def angle_of(earlier: Earlier, times: np.ndarray) -> np.ndarray:
    """Return W = g sinh 2 eta, integrated from its own equation."""
    s, d, g = (float(each) for each in (earlier.s, earlier.d, earlier.g))
    found = solve_ivp(
        lambda _, eta: s - d * g * np.sinh(2 * eta), (0, times[-1]), [0.0], t_eval=times, **ACCURATE
    )
    return g * np.sinh(2 * found.y[0])


@examples(100)
@given(s=positive, d=positive, g=st.floats(1e-9, 1e-1))
def test_the_earlier_stage_is_enclosed(s, d, g):
    assume(g < s / d / 2)
    earlier = Earlier(s=arb(s), d=arb(d), g=arb(g))
    times = np.linspace(0, 12 / s, 25)
    flow = angle_of(earlier, times)
    closed = np.array([float(earlier.strength(arb(t))) for t in times])
    missing = np.array([float(earlier.missing(arb(t))) for t in times])
    slack = 1e-8 * s / d  # of the integration
    assert np.all(s / d - flow <= missing + slack)
    assert np.all(np.diff(missing) <= slack)
    assert np.all(flow >= closed - g**2 / (4 * closed) - slack)
    distance = np.trapezoid(np.abs(flow - closed), times)
    # The trapezoids' own error, a quarter step of the largest change.
    coarse = (times[1] - times[0]) * np.abs(np.diff(flow - closed)).sum()
    assert distance <= float(earlier.deviation(arb(times[-1]))) + coarse + slack * times[-1]


def half_time(later: Later, end: float) -> tuple[float, np.ndarray, np.ndarray]:
    """Return (half-time, times, |W|) of the later mode's own system, integrated."""
    s, d, g = (float(each) for each in (later.s, later.d, later.g))
    count = len(later.pushes)
    gains = [float(push.gain) for push in later.pushes]
    damping = np.array([d, *(float(push.damping) for push in later.pushes)])
    early = [tuple(float(x) for x in (p.mode.s, p.mode.d)) for p in later.pushes]

    def slope(_, state):
        eta, (a, b) = state[:count], (state[count], state[count + 1 :])
        held = g * np.sinh(2 * eta)
        drives = [c * (p / q - w) for c, (p, q), w in zip(gains, early, held, strict=True)]
        e = np.array([s, *drives]) - 2 * g * damping * a * b
        rise = [p - q * w for (p, q), w in zip(early, held, strict=True)]
        return np.concatenate([rise, [e @ b], e * a])

    def reached(_, state):
        return 2 * g * state[count] * state[count + 1] - s / d / 2

    reached.terminal = True
    start = np.concatenate([np.zeros(count), [1.0], np.zeros(count + 1)])
    found = solve_ivp(slope, (0, end), start, events=reached, **ACCURATE)
    size = 2 * g * found.y[count] * np.linalg.norm(found.y[count + 1 :], axis=0)
    return float(found.t[-1]), found.t, size


pushes = st.lists(
    st.tuples(st.floats(0.05, 2), st.floats(0.05, 2), st.floats(0.01, 1), st.floats(0, 1)),
    max_size=2,
)


@examples(160)
@given(s=st.floats(0.05, 1), d=st.floats(0.05, 1), g=st.floats(1e-9, 1e-3), given_=pushes)
def test_random_later_modes_keep_the_bounds(s, d, g, given_):
    assume(all(2 * g < a / b for a, b, *_ in [(s, d, 0, 0), *given_]))
    later = Later(
        s=arb(s),
        d=arb(d),
        g=arb(g),
        pushes=tuple(
            Push(mode=Earlier(s=arb(a), d=arb(b), g=arb(g)), gain=arb(c), damping=arb(e))
            for a, b, c, e in given_
        ),
    )
    closed = np.log(2 * s / d / g - 1) / (2 * s)
    half, times, size = half_time(later, 2 * closed)
    for t, found in zip(times[1::7], size[1::7], strict=True):
        assert found <= float(later.most(arb(t)).upper()) * (1 + 1e-7)
    offers = [later.latest(arb(closed * k / 12)) for k in range(13)]
    latest = [float(each.upper()) for each in offers if each is not None]
    assert len(latest) > 0
    assert half <= min(latest) * (1 + 1e-7)
    assert float(later.most(arb(half)).upper()) >= s / d / 2 * (1 - 1e-7)


def contexts(scales, count, init_std="1/1000", **network):
    """One-hot items in contexts, a block of outputs a context; all first, then all but one."""
    items = len(scales)
    samples = [(k, i) for k in range(count) for i in range(items)]
    x = [[int(item == i) for _, item in samples] for i in range(items)]
    y = [
        [scales[row] * int(block == k and row == i) for k, i in samples]
        for block in range(count)
        for row in range(items)
    ]
    gates = [
        {"gate": [1] * len(samples), "name": "common"},
        *(
            {"gate": [int(k != off) for k, _ in samples], "stage": 2, "name": f"off_{off}"}
            for off in range(count)
        ),
    ]
    made = {"init_std": Fraction(init_std), "training": "staged", "steps": 40_000}
    return matrix_spec(x, y, gates, network=made | network)


def found_of(derivation) -> Convergence:
    assert derivation.convergence is not None
    assert derivation.convergence.undecided == ""
    return derivation.convergence


@settings(max_examples=6, deadline=None)
@given(
    scales=st.lists(st.integers(1, 6), min_size=1, max_size=3),
    count=st.integers(2, 4),
    width=st.sampled_from(["1/100000", "1/1000", "1/100"]),
)
def test_random_tasks_keep_the_bounds(scales, count, width):
    derivation = sr.derive(contexts(scales, count, width))
    found = found_of(derivation)
    assert len(found.half_times) == count * len(set(scales))
    for bound in found.half_times:
        times = np.array([0, bound.not_before, bound.not_after], float)
        curves = {curve.label: curve for curve in derivation.evaluate(times).modes}
        curve = curves[bound.label]
        before, after = curve.best[1:] / (curve.plateau or 1)
        assert before <= 0.5 + 1e-6
        assert after >= 0.5 - 1e-6


@pytest.mark.parametrize("name", ["contextual-3", "contextual-4"])
def test_contextual_tasks_and_how_tight_the_bounds_are(name):
    derivation = derived(name)
    found = found_of(derivation)
    curves = {curve.label: curve for curve in derivation.evaluate(np.arange(0, 8001.0)).modes}
    assert {bound.label for bound in found.half_times} == {
        label for label in curves if not label.startswith("pi_1_")
    }
    for bound in found.half_times:
        curve = curves[bound.label]
        half = int(np.argmax(curve.best > (curve.plateau or 1) / 2))
        assert bound.not_before <= half <= bound.not_after
        # Measured: 12 to 19 % below and 14 to 29 % above; the closed form is 3.8 % off at most.
        assert bound.not_before > 0.8 * half
        assert bound.not_after < 1.3 * half
        assert abs(bound.closed_form - half) < 0.04 * half


def test_the_residual_is_as_near_as_is_said():
    derivation = derived("contextual-3").at_values
    found = found_of(derivation)
    network, first = coupled_matrices(derivation), derivation.pathways[0]
    u, v = network.output_bases[0], network.input_bases[0]
    probes = [EqualModes(pathway=0, u=p[:, None], v=q[:, None]) for p in u.T for q in v.T]
    data = network.phases[0]
    inputs, targets = data.features[0].toarray(), data.targets.toarray()
    best = targets @ np.linalg.pinv(inputs)
    size = np.linalg.norm(targets - best @ inputs)
    for share, step in ((near.share, near.from_step) for near in found.residual_within):
        times = np.array([0.0, step - 2, step])
        strengths = network.trajectory(times, probes).strengths
        maps = [u @ column.reshape(u.shape[1], -1) @ v.T for column in strengths.T]
        before, after = (np.linalg.norm((best - w) @ inputs) / size for w in maps[1:])
        assert after <= float(share) < before
    assert first.name == "common"


def test_null_modes_pick_up_no_more_than_is_said():
    derivation = derived("contextual-3").at_values
    found = found_of(derivation)
    network, pathway = coupled_matrices(derivation), derivation.pathways[1]
    null = numpy_modes(pathway.spectrum)[-1][1]
    u = network.output_bases[1]
    probes = [EqualModes(pathway=1, u=one[:, None], v=null) for one in u.T]
    strengths = network.trajectory(np.linspace(0, 8000, 9), probes).strengths
    largest = np.linalg.norm(strengths, axis=0).max()
    (most,) = {each.at_most for each in found.picked_up}
    assert largest <= most
    assert largest > most / 20  # measured: a sixth


def test_steps_are_ordered_and_bounds_are_finite():
    found = found_of(derived("contextual-5"))
    steps = [near.from_step for near in found.residual_within]
    assert all(a < b for a, b in pairwise(steps))
    assert all(0 < b.not_before < b.closed_form < b.not_after for b in found.half_times)
