"""Which law a mode takes, and why the earlier ones do not hold.

Laws are asked in order; the first that matches solves. Each answers with its reason, so that the
choice can be followed line by line. A new law is a file and a place in :data:`LAWS`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.errors import NoClosedFormError
from symreln.laws import half_speed, lambda_balanced
from symreln.laws.deep_chain import Depth
from symreln.laws.law import STRENGTH0, Law, Regime, Start
from symreln.laws.one_layer import OneLayer
from symreln.laws.ops import NUMPY, SYMPY, Ops
from symreln.laws.two_layer import TwoLayer, TwoLayerDecay
from symreln.laws.unbalanced import Unbalanced

LAWS: tuple[type[Law], ...] = (
    OneLayer,
    TwoLayer,
    Unbalanced,
    TwoLayerDecay,
    Depth,
)

_WEIGHTS = (
    "random weights are balanced in the mean only; from weights that are, and white inputs, "
    "from_weights(derivation, w1, w2) solves the whole matrices"
)


@record
class _Choice:
    """A law, or none.

    Attributes:
        law: The law whose equation holds, or None where no law solves the mode.
        name: The name that is printed: at half speed it is not that of the law.
        why: Why it does, or why the last one that was asked does not.
        passed_over: (name, why not) of every law that was asked before.
    """

    law: type[Law] | None
    name: str | None
    why: str
    passed_over: tuple[tuple[str, str], ...]


def choose(regime: Regime) -> _Choice:
    """Ask the laws in order and return the first that matches."""
    passed = [(half_speed.NAME, regime.half_speed.why), (lambda_balanced.NAME, _WEIGHTS)]
    for law in LAWS:
        if unfit := law.unfit(regime):
            passed.append((law.name, unfit))
            continue
        suits = law.suits.format(regime.layers)
        if not regime.half_speed.holds:
            return _Choice(law=law, name=law.name, why=suits, passed_over=tuple(passed))
        why = f"its equations, of twice the time constant, are {law.name}: {suits}"
        return _Choice(
            law=law,
            name=half_speed.NAME,
            why=f"{regime.half_speed.why}; {why}",
            passed_over=(),
        )
    return _Choice(law=None, name=None, why=passed[-1][1], passed_over=tuple(passed))


def law_of(regime: Regime) -> type[Law]:
    """Return the law of a network's decoupled modes.

    Raises:
        NoClosedFormError: No law solves them.
    """
    found = choose(replace(regime, decoupled=True))
    if found.law is None:
        msg = f"no closed form: {found.why}"
        raise NoClosedFormError(msg)
    return found.law


def expected_start(regime: Regime) -> Start:
    """Return where a network's modes start, in expectation, of one or two layers of weights."""
    found = law_of(regime).start(regime)
    assert found is not None
    return found


def solve(regime: Regime, s: Any, d: Any, *, ops: Ops = SYMPY, **more: Any) -> Law:
    """Return the law of a decoupled mode with its numbers; arguments as of :meth:`Law.of`."""
    return law_of(regime).of(regime, ops, s, d, **more)


def printed(
    regime: Regime,
    s: sp.Expr,
    d: sp.Expr,
    *,
    asymptote: sp.Expr | None = None,
    strength0: sp.Expr = STRENGTH0,
) -> Law:
    """Return the law of a decoupled mode as it is printed, in steps.

    Args:
        regime: What is known of it.
        s: Singular value.
        d: Input eigenvalue.
        asymptote: s/d in a shorter form.
        strength0: Where it starts, if not its law says that it is at 0.
    """
    start = sp.S.Zero if law_of(regime).starts_at_zero else strength0
    return solve(regime, s, d, asymptote=asymptote, strength0=start).in_steps()


def plateau(regime: Regime, s: float, d: float) -> float:
    """Return what a mode's strength comes to, in float64; infinite beyond it."""
    with np.errstate(over="ignore"):
        return float(solve(regime, np.asarray(s), np.asarray(d), ops=NUMPY).plateau)


def started(
    regime: Regime, s: Any, d: Any, tau: Any, *, ops: Ops, start: Start | None = None
) -> Law:
    """Return the law of a mode that starts where it is expected to, or at ``start``.

    Args:
        regime: What is known of the mode.
        s: Singular value, of the number system.
        d: Input eigenvalue, of the number system.
        tau: Time constant in steps, exact.
        ops: :data:`NUMPY` or :data:`ARB`.
        start: Where the mode starts.
    """
    found = start or expected_start(regime)
    begin = {"strength0": found.strength0, "imbalance": found.imbalance}
    return solve(regime, s, d, ops=ops, tau=tau, **begin)
