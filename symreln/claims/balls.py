r"""Certified numbers of closed forms: strengths at given times, and half-times.

At half of its height h the slope of every law with a closed form is positive: it is a positive
factor times :math:`s - \lambda - dh/2 > 0`. So a strength that starts below h/2 crosses it once,
and a change of sign between two balls of the closed form encloses the only root.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb

from symreln.base.records import record
from symreln.claims.derivation import Derivation, ModeDerivation
from symreln.claims.formulas import check_closed
from symreln.claims.head_start import ABOVE, ModeLaws, are_followed, without_form
from symreln.claims.integration import network_of
from symreln.claims.narrow import learned_counts, narrow_pathways
from symreln.claims.solve import check_values
from symreln.claims.starts import start_of
from symreln.errors import (
    FloatRangeError,
    LimitReachedError,
    NoClosedFormError,
    NotSupportedError,
)
from symreln.exact.enclosure import ball, decimal_of, precision
from symreln.laws.law import Law
from symreln.specs.arguments import exact_times, whole_number

#: log2(10), rounded up.
_BITS_PER_DIGIT = 3.3220
#: Working precision that certified balls are not raised beyond, and the digits that fit.
_MOST_BITS = 1 << 17
MOST_DIGITS = int(_MOST_BITS / _BITS_PER_DIGIT)
#: Working precision of half-times at first and at the most, and the relative width of their roots.
_BITS, _MOST_HALF_TIME_BITS, _ROOT_BITS = 160, 16 * 160, 100
#: Halvings and doublings until a root is enclosed, at the most.
_MOST_STEPS = 1000


# -- strengths -------------------------------------------------------------------------------------


def enclose(
    derivation: Derivation, times: Sequence[int | Fraction], digits: int
) -> dict[str, tuple[arb, ...]]:
    """Return certified balls of every closed-form strength; see Derivation.enclose.

    The working precision is raised until every ball has the digits asked for.

    Raises:
        InputError: The times are no sequence of exact numbers from 0 on, the digits no positive
            whole number, or a parameter has no value.
        NoClosedFormError: A mode has no closed form in time.
        NotSupportedError: A pathway has fewer hidden units than modes.
        LimitReachedError: The digits take more than :data:`_MOST_BITS` bits.
    """
    check_closed(derivation)
    network_of(derivation.spec)
    for one in derivation.ask(narrow_pathways):
        msg = (
            f"enclose: {one.lacks}, and closed forms of some of them hold in the limit of small "
            "initial weights only, without a bound. derivation.evaluate(times) gives it; "
            f"{one.rank} units a pathway are enough for certified balls"
        )
        raise NotSupportedError(msg)
    moments = exact_times(times)
    digits = whole_number(digits, "digits", 1, MOST_DIGITS)
    check_values(derivation.spec)
    start_of(derivation)  # refuses where there is none
    wanted = digits * _BITS_PER_DIGIT
    bits = int(wanted) + 40
    while bits <= _MOST_BITS:
        result = _balls(derivation, moments, bits)
        if all(x.rel_accuracy_bits() >= wanted for curve in result.values() for x in curve):
            return result
        bits *= 2
    msg = f"enclose: {digits} digits take more than {_MOST_BITS} bits of precision at these times"
    raise LimitReachedError(msg)


def _balls(derivation: Derivation, times: list[Fraction], bits: int) -> dict[str, tuple[arb, ...]]:
    """Return every mode's balls at a working precision, or higher where that is too low."""
    laws, bits = _laws(derivation, bits, _MOST_BITS)
    if not are_followed(derivation, laws):
        msg = f"{without_form(laws.outrun)}: derivation.evaluate(times) does it in float64"
        raise NoClosedFormError(msg)
    with precision(bits):
        moments = [ball(time) for time in times]
        return {label: tuple(found.law.strengths(moments)) for label, found in laws.items()}


def _laws(derivation: Derivation, bits: int, most: int) -> tuple[ModeLaws, int]:
    """Return the closed forms of all modes in balls, and the bits that were enough for them."""
    while True:
        try:
            with precision(bits):
                return ModeLaws.of(derivation, bits), bits
        except LimitReachedError:
            if bits >= most:
                raise
        bits *= 2


# -- half-times ------------------------------------------------------------------------------------


@record
class HalfTime:
    """When a mode reaches half of its height.

    Attributes:
        decimal: (decimal, radius) of the steps, or None.
        why: Why there is no such step, or "".
    """

    decimal: tuple[str, str] | None = None
    why: str = ""


def half_time(derivation: Derivation, mode: ModeDerivation, digits: int) -> HalfTime:
    """Return the steps until half of a mode's height, certified.

    Args:
        derivation: With the mode; numbers are at the declared values.
        mode: One that learns something, with a closed form.
        digits: Significant digits.
    """
    known, spec = derivation.known, derivation.spec
    if spec.network is None:
        return HalfTime(why="the spec names no network")
    if mode.d_eff is None:
        return HalfTime(why="the mode has no closed form")
    missing = [n for n in (*mode.s.parameters, *mode.d_eff.parameters) if n not in spec.values]
    if missing:
        return HalfTime(why=f"no value is declared for {missing[0]}")
    if derivation.strength0 is None:
        why = f"the initial strength of {known.layers} layers is not derived"
        return HalfTime(why=f"{why}; for a given one it is the time at half of the plateau")
    if learned_counts(derivation).get(mode.label) == 0:
        return HalfTime(why="the pathway's few hidden units learn other modes first")
    with precision(_BITS):
        try:
            laws = derivation.ask(ball_laws)
        except (FloatRangeError, LimitReachedError) as error:
            return HalfTime(why=str(error))
        if mode.label in laws.outrun:
            return HalfTime(why=laws.outrun[mode.label])
        found = _crossing(laws[mode.label].law)
        if isinstance(found, str):
            return HalfTime(why=found)
        if derivation.until is not None and not found < derivation.until:
            return HalfTime(why=f"gates switch before, at step {derivation.until}")
        return HalfTime(decimal=decimal_of(found, digits))


def ball_laws(derivation: Derivation) -> ModeLaws:
    """Return the closed forms of all modes in balls, as precise as half-times take them."""
    return _laws(derivation, _BITS, _MOST_HALF_TIME_BITS)[0]


def _crossing(law: Law) -> arb | str:
    """Return the ball of the half-time, or why there is none."""
    if not law.s > 0 or not law.d > 0:
        return "the mode vanishes at the declared values"
    if not law.growth > 0:
        return "s is not above the weight decay, and the mode dies out"
    half = law.plateau / 2
    if not law.strength0 < half:
        return ABOVE
    if law.half_time is not None:
        return law.half_time
    found = _root(lambda time: law.strength(time) - half, law.tau / law.growth)
    return found or "the closed form takes more precision than is spent on it"


def _root(function: Callable[[arb], arb], guess: arb) -> arb | None:
    """Return a ball that holds the only positive root of a function, by bisection.

    Args:
        function: Negative at 0, and positive above its root; continuous.
        guess: Of the root, positive.

    Returns:
        None where precision does not tell signs.
    """
    low, high, beyond = ball(0), guess.mid(), False
    for _ in range(_MOST_STEPS):
        if beyond and high - low < high * ball(2) ** -_ROOT_BITS:
            return low.union(high)
        point = ((low + high) / 2).mid() if beyond else high
        value = function(point)
        if value > 0:
            high, beyond = point, True
        elif value < 0:
            low, high = point, high if beyond else 2 * high
        else:
            return None
    return None
