"""What the families prove about themselves, and that a wrong formula is caught."""

from __future__ import annotations

import pytest
import sympy as sp

from symreln.errors import InputError, NoClosedFormError
from symreln.laws import (
    decaying_imbalance,
    deep,
    roots_of_unity,
    shallow,
    two_layer,
    unbalanced,
    weight_decay,
)
from symreln.laws.common import STRENGTH, Direction
from symreln.laws.decaying_imbalance import DecayingImbalanceMode
from symreln.laws.deep import LAYERS, DeepMode
from symreln.laws.shallow import ShallowMode
from symreln.laws.two_layer import STRENGTH0, TIME, TIME_CONSTANT, SigmoidalMode
from symreln.laws.unbalanced import UnbalancedMode
from symreln.laws.weight_decay import DecayingMode

s, d = sp.symbols("s d", positive=True)
ZERO = sp.S.Zero

EXPLICIT = {
    "shallow": ShallowMode(s=s, d=d),
    "shallow, no inputs": ShallowMode(s=s, d=ZERO),
    "balanced": SigmoidalMode(s=s, d=d),
    "unbalanced": UnbalancedMode(s=s, d=d),
    "unbalanced, s = 0": UnbalancedMode(s=ZERO, d=d),
    "unbalanced, d = 0": UnbalancedMode(s=s, d=ZERO),
    "decay": DecayingMode(s=s, d=d),
    "decay, s = λ": DecayingMode(s=s, d=d, weight_decay=s),
    "decay, d = 0": DecayingMode(s=s, d=ZERO),
    "decaying imbalance": DecayingImbalanceMode(s=s, d=d),
    "depth ∞": DeepMode(layers=sp.oo, s=s, d=d),
    "depth 5, s = 0": DeepMode(layers=5, s=ZERO, d=d),
    "depth 4, d = 0": DeepMode(layers=4, s=s, d=ZERO),
}
DEPTHS = [3, 4, 5, 6, 7, 12, LAYERS]
POINT = {
    s: sp.Rational(7, 5),
    d: sp.Rational(2, 7),
    STRENGTH0: sp.Rational(3, 11),
    TIME_CONSTANT: sp.Rational(9, 4),
    unbalanced.IMBALANCE: sp.Rational(5, 3),
    weight_decay.WEIGHT_DECAY: sp.Rational(3, 8),
}


def rate(mode, strength):
    """Return tau dπ/dt from the equation that the family's docstring states."""
    root = getattr(mode, "imbalance", ZERO)
    if isinstance(mode, ShallowMode):
        return mode.s - mode.d * strength
    if isinstance(mode, DeepMode):
        return mode.pace * strength ** (1 + mode.exponent) * (mode.s - mode.d * strength)
    if isinstance(mode, DecayingImbalanceMode):
        root = mode.imbalance_at
    grown = sp.sqrt(root**2 + 4 * strength**2) * (mode.s - mode.d * strength)
    return grown - 2 * getattr(mode, "weight_decay", ZERO) * strength


@pytest.mark.parametrize("mode", EXPLICIT.values(), ids=EXPLICIT)
def test_residual_is_exactly_zero(mode):
    assert mode.residual() == 0


@pytest.mark.parametrize("mode", EXPLICIT.values(), ids=EXPLICIT)
def test_printed_trajectory_solves_its_equation(mode):
    # The expression that a reader sees, at 30 digits, its slope by a difference of order 8.
    expression = mode.expr.subs(POINT)
    h, at = sp.Rational(1, 10000), sp.Rational(7, 10)
    weights = (sp.Rational(4, 5), -sp.Rational(1, 5), sp.Rational(4, 105), -sp.Rational(1, 280))

    def value(t):
        return sp.N(expression.subs(TIME, t), 50)

    pairs = enumerate(weights, start=1)
    slope = sum(w * (value(at + k * h) - value(at - k * h)) for k, w in pairs) / h
    equation = rate(mode, sp.Symbol("_v")).subs(POINT).subs(TIME, at)
    assert abs(slope * POINT[TIME_CONSTANT] - sp.N(equation.subs("_v", value(at)), 50)) < 1e-20
    assert abs(value(ZERO) - POINT[STRENGTH0]) < 1e-40


@pytest.mark.parametrize("layers", DEPTHS)
@pytest.mark.parametrize("start", [STRENGTH0, sp.Integer(50)], ids=["rising", "falling"])
def test_implicit_solution(layers, start):
    gave = {"s": sp.Rational(7, 5), "d": sp.Rational(2, 7)} if start != STRENGTH0 else {}
    mode = DeepMode(layers=layers, strength0=start, **{"s": s, "d": d, **gave})
    assert mode.residual() == 0
    assert mode.falls is (start != STRENGTH0)
    # And the printed t(π): dt/dπ · π' = 1 at 40 digits.
    at = sp.Integer(9) if mode.falls else sp.Rational(13, 10)
    time = mode.time.subs(LAYERS, 9)
    equation = rate(mode, STRENGTH).subs(LAYERS, 9) / mode.tau
    found = sp.N((time.diff(STRENGTH) * equation).subs(POINT).subs(STRENGTH, at), 40)
    assert abs(found - 1) < 1e-35
    begun = time.subs(STRENGTH, start).subs(POINT)
    assert abs(sp.N(begun, 40, chop=False)) < 1e-35 or begun == 0


@pytest.mark.parametrize(
    ("m", "layers"), [(1, 1), (2, 3), (1, 3), (2, 7), (5, 7), (10, 12), (3, 9)]
)
def test_logarithms_and_hypergeometric_function_agree(m, layers):
    x = sp.Rational(3, 7)
    assert roots_of_unity.integral_defect(m, layers) == 0
    first = sp.N(roots_of_unity.integral(m, layers, x), 40)
    second = sp.N(roots_of_unity.hypergeometric(sp.Integer(m), sp.Integer(layers), x), 40)
    assert abs(first - second) < 1e-35


def test_wrong_formulas_are_caught(monkeypatch):
    with monkeypatch.context() as patch:
        pair = roots_of_unity._pair
        patch.setattr(roots_of_unity, "_pair", lambda x: pair(x) + x)
        assert roots_of_unity.integral_defect.__wrapped__(2, 5) != 0
    assert roots_of_unity._cyclotomic_defect(2, 6) == 0
    with monkeypatch.context() as patch:
        top, bottom = unbalanced._fraction()
        patch.setattr(unbalanced, "_fraction", lambda: (top, 2 * bottom))
        assert unbalanced._template_residual.__wrapped__() != 0
    with monkeypatch.context() as patch:
        whole = decaying_imbalance._ratio()
        patch.setattr(decaying_imbalance, "_ratio", lambda: 1 / whole)
        assert decaying_imbalance._template_residual.__wrapped__() != 0
    with monkeypatch.context() as patch:
        patch.setattr(shallow, "_template", lambda flat: shallow._P0 * sp.exp(-shallow._T))
        assert ShallowMode(s=s, d=d).residual() != 0
    with monkeypatch.context() as patch:
        genuine = two_layer._template("sigmoid")
        patch.setattr(two_layer, "_template", lambda case: genuine.subs(two_layer._P0, 1))
        two_layer._template_residuals.cache_clear()
        assert DecayingMode(s=s, d=d).residual() != 0
    two_layer._template_residuals.cache_clear()
    with monkeypatch.context() as patch:
        w = deep._lambert().subs(deep._S, 2 * deep._S)
        patch.setattr(deep, "_power_law", lambda *_: w)
        assert deep._power_law_residual.__wrapped__(sp.Integer(4), sp.Rational(1, 2), True) != 0


def test_limits():
    huge = {**POINT, TIME: sp.Integer(2000)}
    for mode in EXPLICIT.values():
        if mode.d == 0:
            continue
        plateau = mode.plateau.subs(POINT)
        found = sp.N(mode.expr.subs(huge), 30)
        power_law = mode.s == 0 or (isinstance(mode, DecayingMode) and mode.growth == 0)
        assert abs(found - plateau) < (0.02 if power_law else 1e-20), mode
    assert DecayingMode(s=s, d=ZERO).plateau.subs({s: 1, weight_decay.WEIGHT_DECAY: 2}) == 0
    assert DeepMode(layers=4, s=s, d=ZERO).plateau == sp.oo
    assert DecayingMode(s=sp.Integer(1), d=d, weight_decay=sp.Integer(2)).plateau == 0
    assert DecayingMode(s=sp.Integer(3), d=d, weight_decay=sp.Integer(2)).learned is True


@pytest.mark.parametrize(
    "kind", [ShallowMode, SigmoidalMode, UnbalancedMode, DecayingMode, DeepMode]
)
def test_direction_needs_a_proven_sign(kind):
    more = {"layers": sp.Integer(3)} if kind is DeepMode else {}
    more |= {"weight_decay": sp.Rational(1, 2)} if kind is DecayingMode else {}
    high, low = sp.Integer(5), sp.Rational(1, 5)
    one = sp.S.One
    assert kind(s=one, d=one, strength0=low, **more).direction() is Direction.RISING
    assert kind(s=one, d=one, strength0=high, **more).direction() is Direction.FALLING
    assert kind(s=s, d=d, **more).direction() is Direction.UNDECIDED
    level = sp.Rational(1, 2) if kind is DecayingMode else one
    assert kind(s=one, d=one, strength0=level, **more).direction() is Direction.CONSTANT


@pytest.mark.parametrize("name", ["shallow", "balanced", "unbalanced", "decay", "depth ∞"])
@pytest.mark.parametrize("order", [1, 3])
def test_series_leaves_a_defect_of_its_order(name, order):
    mode = EXPLICIT[name]
    slope = mode.series(order).diff(STRENGTH) * rate(mode, STRENGTH) / mode.tau
    left = sp.series(sp.simplify(slope - 1), STRENGTH, 0, order).removeO()
    assert sp.simplify(left) == 0
    assert mode.series(order).subs(STRENGTH, mode.strength0) == 0


def test_series_of_a_depth_is_exact_to_its_order():
    mode = DeepMode(layers=LAYERS, s=s, d=d)
    slope = mode.series(3).diff(STRENGTH) * rate(mode, STRENGTH) / mode.tau
    assert sp.simplify(sp.powsimp(sp.expand(slope)) - 1 + (d * STRENGTH / s) ** 3) == 0


def test_refusals():
    with pytest.raises(NoClosedFormError, match="imbalance decays"):
        EXPLICIT["decaying imbalance"].series(2)
    with pytest.raises(NoClosedFormError, match="constant"):
        ShallowMode(s=ZERO, d=ZERO).series(2)
    with pytest.raises(InputError, match="whole number from 3"):
        DeepMode(layers=2, s=s, d=d)
    with pytest.raises(InputError, match="explicit"):
        _ = DeepMode(layers=3, s=s, d=ZERO).time
    with pytest.raises(InputError, match="number of layers"):
        DeepMode(layers=LAYERS, s=s, d=d).to_numpy(TIME, *POINT)


def test_every_family_prints_latex():
    for mode in [*EXPLICIT.values(), *(DeepMode(layers=n, s=s, d=d) for n in DEPTHS)]:
        text = mode.to_latex()
        assert text.count("{") == text.count("}")
        assert mode._repr_latex_().startswith("$")


@pytest.mark.parametrize("name", [name for name in EXPLICIT if name != "decaying imbalance"])
def test_lambdified_is_the_printed_expression(name):
    mode = EXPLICIT[name]
    names = (TIME, *POINT)
    values = (0.6, *map(float, POINT.values()))
    expected = float(sp.N(mode.expr.subs(POINT).subs(TIME, sp.Rational(6, 10)), 30))
    assert float(mode.to_numpy(*names)(*values)) == pytest.approx(expected, rel=1e-13)
