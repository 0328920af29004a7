"""Certified balls of a derivation's closed forms."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.claims.integration import network_of
from symreln.claims.probes import learning_modes
from symreln.claims.widths import narrow_pathways
from symreln.errors import InputError, LimitReachedError, NoClosedFormError, NotSupportedError
from symreln.exact.enclosure import ball, precision
from symreln.laws.choice import expected_start, law_of, started
from symreln.laws.law import Start
from symreln.laws.ops import ARB
from symreln.spec.arguments import exact_times, exact_value, whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flint import arb

    from symreln.claims.derivation import Derivation, ModeDerivation
    from symreln.laws.law import Regime

#: log2(10), rounded up.
_BITS_PER_DIGIT = 3.3220
#: Working precision that certified balls are not raised beyond, and the digits that fit.
MOST_BITS = 1 << 17
MOST_DIGITS = int(MOST_BITS / _BITS_PER_DIGIT)


def enclose(
    derivation: Derivation,
    times: Sequence[int | Fraction],
    digits: int,
    strength0: Fraction | None = None,
) -> dict[str, tuple[arb, ...]]:
    """Return certified balls of every closed-form strength; see Derivation.enclose.

    The working precision is raised until every ball has the digits asked for.

    Raises:
        InputError: The times are no sequence of exact numbers from 0 on, or the digits no
            positive whole number.
        NoClosedFormError: The verdict has no closed form, or gates switch before a time.
        NotSupportedError: A pathway has fewer hidden units than modes.
        LimitReachedError: The digits take more than :data:`MOST_BITS` bits.
    """
    if not derivation.closed:
        msg = (
            f"verdict '{derivation.verdict.level.value}': the strengths have no closed form to "
            "enclose. derivation.evaluate(times) integrates the reduced equations in float64"
        )
        raise NoClosedFormError(msg)
    network_of(derivation.spec)
    if not law_of(derivation.known).closed:
        msg = (
            f"{law_of(derivation.known).name}: the equation of a mode has no closed form to "
            "enclose. derivation.evaluate(times) integrates it in float64"
        )
        raise NoClosedFormError(msg)
    for one in derivation.ask(narrow_pathways):
        msg = (
            f"enclose: {one.lacks}, and closed forms of some of them hold in the limit of small "
            "initial weights only, without a bound. derivation.evaluate(times) gives it; "
            f"{one.rank} units a pathway are enough for certified balls"
        )
        raise NotSupportedError(msg)
    moments = exact_times(times)
    until = derivation.spec.until
    if until is not None and max(moments, default=Fraction(0)) > until:
        msg = (
            f"gates switch at step {until}, and closed forms end there. "
            "derivation.evaluate(times) integrates over the switch in float64"
        )
        raise NoClosedFormError(msg)
    digits = whole_number(digits, "digits", 1, MOST_DIGITS)
    known = derivation.known
    start = expected_start(known) if strength0 is None else _given_start(known, strength0)
    wanted = digits * _BITS_PER_DIGIT
    bits = int(wanted) + 40
    while bits <= MOST_BITS:
        result = _balls(derivation, moments, start, bits)
        if result is not None and all(
            found.rel_accuracy_bits() >= wanted for curve in result.values() for found in curve
        ):
            return result
        bits *= 2
    msg = f"enclose: {digits} digits take more than {MOST_BITS} bits of precision at these times"
    raise LimitReachedError(msg)


def _given_start(known: Regime, strength0: Fraction) -> Start:
    needed = "give an exact number above 0, for example Fraction(1, 1000)"
    start = exact_value(strength0, "strength0", needed)
    if start <= 0:
        msg = f"strength0: found {start}; {needed}"
        raise InputError(msg)
    expected = law_of(known).start(known)
    return Start(strength0=start) if expected is None else replace(expected, strength0=start)


def _balls(
    derivation: Derivation, times: list[Fraction], start: Start, bits: int
) -> dict[str, tuple[arb, ...]] | None:
    """Return every mode's balls at a working precision, or None where it is too low."""
    values, tau = derivation.spec.values, derivation.tau
    with precision(bits):
        moments = [ball(time) for time in times]
        try:
            return {
                mode.label: started(
                    derivation.known, *_mode_balls(mode, values, bits), tau, ops=ARB, start=start
                ).strengths(moments)
                for _, mode in learning_modes(derivation)
            }
        except LimitReachedError:
            return None


def _mode_balls(mode: ModeDerivation, values: dict[str, Fraction], bits: int) -> tuple[arb, arb]:
    if mode.d_eff is None:
        msg = f"mode {mode.label} has no closed form to enclose"
        raise InputError(msg)
    # A singular value that vanishes at these values must be exactly 0 to select its case; a ball
    # around 0 would never get sharp enough.
    vanishes = mode.s.sign(values) == 0
    return (ball(0) if vanishes else mode.s.ball(values, bits)), mode.d_eff.ball(values, bits)
