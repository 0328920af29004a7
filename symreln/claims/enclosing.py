"""Certified balls of a derivation's closed forms."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from symreln.claims.head_start import are_followed, mode_laws, without_form
from symreln.claims.integration import network_of
from symreln.claims.solve import check_values
from symreln.claims.starts import start_of
from symreln.claims.widths import narrow_pathways
from symreln.errors import LimitReachedError, NoClosedFormError, NotSupportedError
from symreln.exact.enclosure import ball, precision
from symreln.laws.choice import law_of
from symreln.specs.arguments import exact_times, whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.derivation import Derivation

#: log2(10), rounded up.
_BITS_PER_DIGIT = 3.3220
#: Working precision that certified balls are not raised beyond, and the digits that fit.
MOST_BITS = 1 << 17
MOST_DIGITS = int(MOST_BITS / _BITS_PER_DIGIT)


def enclose(
    derivation: Derivation,
    times: Sequence[int | Fraction],
    digits: int,
) -> dict[str, tuple[arb, ...]]:
    """Return certified balls of every closed-form strength; see Derivation.enclose.

    The working precision is raised until every ball has the digits asked for.

    Raises:
        InputError: The times are no sequence of exact numbers from 0 on, the digits no positive
            whole number, or a parameter has no value.
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
    check_values(derivation.spec)
    start_of(derivation)  # refuses where there is none
    wanted = digits * _BITS_PER_DIGIT
    bits = int(wanted) + 40
    while bits <= MOST_BITS:
        result = _balls(derivation, moments, bits)
        if result is not None and all(
            found.rel_accuracy_bits() >= wanted for curve in result.values() for found in curve
        ):
            return result
        bits *= 2
    msg = f"enclose: {digits} digits take more than {MOST_BITS} bits of precision at these times"
    raise LimitReachedError(msg)


def _balls(
    derivation: Derivation, times: list[Fraction], bits: int
) -> dict[str, tuple[arb, ...]] | None:
    """Return every mode's balls at a working precision, or None where it is too low."""
    with precision(bits):
        moments = [ball(time) for time in times]
        try:
            laws = mode_laws(derivation, bits)
            if not are_followed(derivation, laws):
                msg = f"{without_form(laws.outrun)}: derivation.evaluate(times) does it in float64"
                raise NoClosedFormError(msg)
            return {label: tuple(found.law.strengths(moments)) for label, found in laws.items()}
        except LimitReachedError:
            return None
