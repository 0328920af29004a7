r"""When a mode reaches half of its height: from a formula, or as a certified root.

At half of its height h the slope of every law with a closed form is positive: it is a positive
factor times :math:`s - \lambda - dh/2 > 0`. So a strength that starts below h/2 crosses it once,
and a change of sign between two balls of the closed form encloses the only root.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from flint import arb

from symreln.base.records import record
from symreln.claims.head_start import ABOVE, ModeLaws, mode_laws
from symreln.claims.widths import learned_counts
from symreln.errors import FloatRangeError, LimitReachedError
from symreln.exact.enclosure import ball, decimal_of, precision
from symreln.laws.choice import law_of

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, ModeDerivation
    from symreln.laws.law import Law

#: Working precision, and the relative width to which a root is enclosed.
BITS, ROOT_BITS = 160, 100
#: Working precision that closed forms are not raised beyond.
_MOST_BITS = 16 * BITS
#: Points at which a closed form is evaluated, at the most.
_MOST_STEPS = 400


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
    if not law_of(known).closed:
        return HalfTime(why="the mode's equation has no closed form, and is integrated")
    if learned_counts(derivation).get(mode.label) == 0:
        return HalfTime(why="the pathway's few hidden units learn other modes first")
    with precision(BITS):
        try:
            laws = derivation.ask(ball_laws)
        except (FloatRangeError, LimitReachedError) as error:
            return HalfTime(why=str(error))
        if mode.label in laws.outrun:
            return HalfTime(why=laws.outrun[mode.label])
        found = _crossing(laws[mode.label].law)
        if isinstance(found, str):
            return HalfTime(why=found)
        if spec.until is not None and not found < spec.until:
            return HalfTime(why=f"gates switch before, at step {spec.until}")
        return HalfTime(decimal=decimal_of(found, digits))


def ball_laws(derivation: Derivation) -> ModeLaws:
    """Return the closed forms of all modes in balls, of more bits where these are too few."""
    bits = BITS
    while True:
        try:
            with precision(bits):
                return mode_laws(derivation, bits)
        except LimitReachedError:
            if bits >= _MOST_BITS:
                raise
        bits *= 4


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
    try:
        return enclosed_root(lambda time: law.strength(time) - half, law.tau / law.growth)
    except LimitReachedError:
        return "the closed form takes more precision than is spent on it"


def enclosed_root(function: Callable[[arb], arb], first: arb) -> arb:
    """Return a ball that holds the only positive root of a function.

    False position (Illinois), with a bisection every third time, on balls whose sign is certain.

    Args:
        function: Negative at 0, and positive above its root; continuous.
        first: A guess of the root, positive.

    Raises:
        LimitReachedError: No change of sign was found, or precision does not tell signs.
    """
    low, high = ball(0), first.mid()
    below, beyond = _signed(function, low), _signed(function, high)
    for _ in range(_MOST_STEPS):
        if beyond > 0:
            break
        low, below = high, beyond
        high = 2 * high
        beyond = _signed(function, high)
    for step in range(_MOST_STEPS):
        if high - low < high * ball(2) ** -ROOT_BITS:
            return low.union(high)
        point = (low * beyond - high * below) / (beyond - below)
        if step % 3 == 2 or not (low < point and point < high):
            point = (low + high) / 2
        point = point.mid()
        value = function(point)
        if value < 0:
            low, below, beyond = point, value, beyond / 2
        elif value > 0:
            high, beyond, below = point, value, below / 2
        else:
            return _around(function, point)
    msg = "half-time: no root was enclosed"
    raise LimitReachedError(msg)


def _around(function: Callable[[arb], arb], point: arb) -> arb:
    """Return a narrow ball around a point so near to the root that its own sign is not certain."""
    apart = point * ball(2) ** -ROOT_BITS
    low, high = (point - apart).mid(), (point + apart).mid()
    if _signed(function, low) < 0 and _signed(function, high) > 0:
        return low.union(high)
    msg = "half-time: the function does not rise through its root"
    raise LimitReachedError(msg)


def _signed(function: Callable[[arb], arb], point: arb) -> arb:
    """Return a value whose sign is certain."""
    value = function(point)
    if value > 0 or value < 0:
        return value
    msg = "half-time: the sign is not certain at this precision"
    raise LimitReachedError(msg)
