"""How well a later stage may take the earlier one as converged: exact conditions, certified bounds.

The bounds and their proof are those of :mod:`symreln.dynamics.converging`; that they apply is
decided by :mod:`symreln.verdict.drives`, at the declared values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isfinite, nextafter
from typing import TYPE_CHECKING

from flint import arb

from symreln.base.summaries import short_repr
from symreln.claims.solve import at_values
from symreln.claims.widths import narrow_pathways
from symreln.dynamics.converging import Earlier, Later, Push, residuals
from symreln.dynamics.initial import gram_scale
from symreln.exact.enclosure import ball, precision
from symreln.truth import Truth
from symreln.verdict.drives import driven_classes, original_of, sources
from symreln.verdict.judge import Level, stage_modes

if TYPE_CHECKING:
    from collections.abc import Callable

    from symreln.claims.derivation import Derivation, ModeDerivation, StageDerivation, Step
    from symreln.verdict.drives import DrivenClass, Source
    from symreln.verdict.modes import PathwayModes

#: Working precision of the bounds, in bits.
BITS = 192
#: Shares of the residual's size at which its distance from the converged one is reported.
SHARES = (Fraction(1, 10), Fraction(1, 100))
#: Steps beyond which none is looked for.
MOST_STEPS = 10**15
#: Modes without bounds that are named.
MOST_NAMED = 6
#: Why nothing is bounded of a third stage.
BEYOND = (
    "the bounds need drives that only fall, as those of closed modes are; what the second stage "
    "has still to learn can rise first, since it picks up what the first stage is about to learn"
)
#: Times between 0 and the half-time at which the early phase may be handed on.
HAND_ON = 48


@dataclass(frozen=True, kw_only=True)
class LaterBound:
    """What is proven of a mode that learns in the second stage, in steps.

    Attributes:
        label: Symbol of its strength.
        pathway: Number of its pathway.
        closed: Half-time of its closed form, which takes the first stage as converged from t = 0.
        earliest, latest: Whole steps between which half of its height is reached.
    """

    label: str
    pathway: int
    closed: float
    earliest: int
    latest: int


@dataclass(frozen=True, kw_only=True)
class PickedUp:
    """What a pathway of the second stage learns of the first stage's modes where it has s = 0.

    Attributes:
        label: Symbol of its null mode.
        pathway: Number of its pathway.
        most: Upper bound of the strength up to the last step.
    """

    label: str
    pathway: int
    most: float


@dataclass(frozen=True, kw_only=True)
class Unbounded:
    """A mode of the second stage of which nothing is bounded: half-time, or what it picks up.

    Attributes:
        label: Symbol of its strength.
        pathway: Number of its pathway.
        why: Why not.
        is_null: Whether it has s = 0, so that what it picks up is meant.
    """

    label: str
    pathway: int
    why: str
    is_null: bool = False


@short_repr
@dataclass(frozen=True, kw_only=True)
class Convergence:
    """The second stage against the first, from the expected start, for the flow.

    Attributes:
        apart: (share, first step from which the residual dataset is no farther from the converged
            one than that share of the latter's size); a share that is not proven to be reached is
            left out, all where the first stage is not closed.
        modes: Bounds of the modes that learn.
        unbounded: The modes that learn and have none.
        picked_up: Bounds of null modes that are driven.
        not_limited: The null modes that are driven and have no bound below the plateaus of what
            drives them.
        undecided: Why there are no bounds of modes, empty where they were looked for.
        beyond: Later stages than the second, of whose modes nothing is bounded.
    """

    apart: tuple[tuple[Fraction, int], ...]
    modes: tuple[LaterBound, ...]
    picked_up: tuple[PickedUp, ...]
    undecided: str
    unbounded: tuple[Unbounded, ...] = ()
    not_limited: tuple[Unbounded, ...] = ()
    beyond: tuple[int, ...] = ()


def convergence_of(derivation: Derivation) -> Convergence | None:
    """Bound what taking the first stage as converged costs the second.

    Returns:
        None where there is one stage only, numbers are missing, or gates switch: perhaps before
        the first stage has converged.
    """
    spec = derivation.spec
    network = spec.network
    if derivation.later or network is None or network.unusual or len(derivation.stages) < 2:
        return None
    if any(parameter.value is None for parameter in spec.parameters):
        return None
    exact = derivation.ask(at_values)
    first, second = exact.stages[:2]
    nothing = Convergence(
        apart=(),
        modes=(),
        picked_up=(),
        undecided="",
        beyond=tuple(stage.stage for stage in derivation.stages[2:]),
    )
    scale = ball(gram_scale(network))
    reason = _first_reason(derivation, first)
    if reason:
        return replace(nothing, undecided=reason)
    with precision(BITS):
        before = _modes(first)
        pushing = sources(first.verdict, before)
        earlier = [Earlier(s=ball(x.square).sqrt(), d=ball(x.damping), g=scale) for x in pushing]
        if any(not scale < mode.height for mode in earlier):
            reason = "the initial weights are not small"
            return replace(nothing, undecided=reason)
        apart = _apart(first, pushing, earlier, exact.tau or Fraction(1))
        classes, reason = driven_classes(second.verdict, _modes(second), before, pushing)
        if reason:
            return replace(nothing, apart=apart, undecided=reason)
        bounds = _all_bounds(exact, second, classes, (earlier, scale))
    return replace(
        nothing,
        apart=apart,
        modes=tuple(each for each in bounds if isinstance(each, LaterBound)),
        picked_up=tuple(each for each in bounds if isinstance(each, PickedUp)),
        unbounded=tuple(e for e in bounds if isinstance(e, Unbounded) and not e.is_null),
        not_limited=tuple(e for e in bounds if isinstance(e, Unbounded) and e.is_null),
    )


def convergence_steps(found: Convergence) -> list[Step]:
    """Return what was proven of later stages, and what was not.

    Raises:
        ArithmeticError: An identity that the bounds rest on does not hold: a bug of symreln.
    """
    from symreln.claims.derivation import Step

    if any(each != 0 for each in residuals()):
        msg = "the derivation's own check failed: bounds of an unconverged stage"
        raise ArithmeticError(msg)
    steps = []
    proven = _proven(found)
    if proven:
        steps.append(
            Step(
                name="unconverged stage",
                statement=f"{proven}.",
                check="drives orthogonal and couplings diagonal on them, as exact identities of "
                "matrices; residuals of the integral and of the subsolution cancel to 0; certified "
                "balls",
                outcome=Truth.PROVEN,
            )
        )
    open_statements = [
        *((f"How early {what} can learn", why) for what, why in open_questions(found)),
        *((f"How much {what} can pick up", why) for what, why in open_limits(found)),
    ]
    return steps + [
        Step(
            name="unconverged stage",
            statement=f"{statement} while earlier stages converge.",
            check=f"not bounded: {why}",
            outcome=Truth.UNDECIDED,
        )
        for statement, why in open_statements
    ]


def _proven(found: Convergence) -> str:
    parts = []
    if found.modes:
        count = len(found.modes)
        whose = (
            "The second stage's half-times"
            if not found.unbounded
            else (f"{count} of {count + len(found.unbounded)} half-times of the second stage")
        )
        parts.append(f"{whose} lie between the steps that are printed")
    if found.apart:
        parts.append("what it sees is as near to the converged residual as is printed")
    return ", and ".join(parts)


def open_questions(found: Convergence) -> list[tuple[str, str]]:
    """Return (whose half-times are not bounded, why not)."""
    parts = [("the second stage's modes", found.undecided)] if found.undecided else []
    parts += _by_reason(found.unbounded)
    if found.beyond:
        many = len(found.beyond) > 1
        named = ", ".join(map(str, found.beyond))
        parts.append((f"the modes of {'stages' if many else 'stage'} {named}", BEYOND))
    return parts


def open_limits(found: Convergence) -> list[tuple[str, str]]:
    """Return (modes of which it is not bounded what they pick up, why not)."""
    return _by_reason(found.not_limited)


def _by_reason(modes: tuple[Unbounded, ...]) -> list[tuple[str, str]]:
    reasons: dict[str, list[str]] = {}
    for each in modes:
        reasons.setdefault(each.why, []).append(each.label)
    return [(_listed(labels), why) for why, labels in reasons.items()]


def _listed(labels: list[str]) -> str:
    more = len(labels) - MOST_NAMED
    return ", ".join(labels[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _first_reason(derivation: Derivation, first: StageDerivation) -> str:
    if first.verdict.level not in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY):
        return f"stage {first.stage} has no closed forms"
    if derivation.later:
        return "gates switch"
    if derivation.ask(narrow_pathways):
        return "a pathway is narrow"
    if any(c.degree > 1 for p in first.pathways for c in p.spectrum.classes):
        return f"squares of singular values of stage {first.stage} are not rational"
    return ""


def _modes(stage: StageDerivation) -> tuple[PathwayModes, ...]:
    return stage_modes(
        tuple(p.effective for p in stage.pathways), tuple(p.spectrum for p in stage.pathways)
    )


def _apart(
    first: StageDerivation, pushing: list[Source], earlier: list[Earlier], tau: Fraction
) -> tuple[tuple[Fraction, int], ...]:
    """Return from which step on the residual is within a share of the converged one's size."""
    left = first.final_loss.to_fraction()
    if not left:
        return ()

    def missing(step: int) -> arb:
        t = ball(step / tau)
        parts = [
            ball(source.weight / 2) * mode.missing(t) ** 2
            for source, mode in zip(pushing, earlier, strict=True)
        ]
        return sum(parts, start=arb(0))

    found = (
        (share, _first_step(lambda step, most=share**2 * left: missing(step) <= ball(most)))
        for share in SHARES
    )
    return tuple((share, step) for share, step in found if step is not None)


def _first_step(holds: Callable[[int], bool]) -> int | None:
    """Return the first step at which something holds that holds ever after, if within reach."""
    high = 1
    while not holds(high):
        high *= 2
        if high > MOST_STEPS:
            return None
    low = -1 if holds(0) else high // 2
    low, high = (-1, 0) if low < 0 else (low, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _all_bounds(
    exact: Derivation,
    second: StageDerivation,
    classes: list[DrivenClass],
    before: tuple[list[Earlier], arb],
) -> list[LaterBound | PickedUp | Unbounded]:
    """Return what is bounded of every mode of the second stage, or that it is not.

    Args:
        exact: The derivation at the declared values.
        second: Its second stage.
        classes: That stage's classes of modes.
        before: The first stage's modes, none where it has nothing to learn, and g of the start.
    """
    bounds: list[LaterBound | PickedUp | Unbounded] = []
    steps = 0 if exact.spec.network is None else exact.spec.network.steps
    tau = exact.tau or Fraction(1)
    known: dict[tuple, tuple[float, int, int] | str | float | None] = {}
    for each, pathway, mode in _members(second, classes):
        later = _later(each, *before)
        key = (each.key, each.dampings)
        if key not in known:
            known[key] = (
                _picked_up(later, ball(steps / tau)) if mode.is_null else _half_time(later, tau)
            )
        found, label = known[key], mode.label
        if isinstance(found, float):
            bounds.append(PickedUp(label=label, pathway=pathway, most=found))
        elif isinstance(found, str):
            one = Unbounded(label=label, pathway=pathway, why=found, is_null=mode.is_null)
            bounds.append(one)
        elif isinstance(found, tuple):
            bounds.append(
                LaterBound(
                    label=label,
                    pathway=pathway,
                    closed=found[0],
                    earliest=found[1],
                    latest=found[2],
                )
            )
    return bounds


def _members(
    second: StageDerivation, classes: list[DrivenClass]
) -> list[tuple[DrivenClass, int, ModeDerivation]]:
    """Return (constants, number of the pathway, mode) for every mode of the stage."""
    modes = _modes(second)
    own = {(each.pathway, each.index): each for each in classes}
    decided = {each.pathway for each in classes}
    found = []
    for place, pathway in enumerate(second.pathways):
        p = place if place in decided else original_of(modes, place)
        found += [(own[p, mode.class_index], pathway.number, mode) for mode in pathway.modes]
    return found


def _later(each: DrivenClass, earlier: list[Earlier], scale: arb) -> Later:
    square, _, *gains = each.key
    return Later(
        s=ball(square).sqrt() if square else arb(0),
        d=ball(each.dampings[0]),
        g=scale,
        pushes=tuple(
            Push(mode=mode, gain=ball(gain).sqrt(), damping=ball(damping))
            for mode, gain, damping in zip(earlier, gains, each.dampings[1:], strict=True)
            if gain
        ),
    )


def _picked_up(later: Later, end: arb) -> float | str | None:
    """Return the most that a null mode picks up, why that is not known, or None: nothing drives it.

    A bound above all plateaus of what drives it says nothing; it grows with the initial weights
    beyond what a float holds.
    """
    if not later.pushes:
        return None
    most = later.most(end)
    if not any(most < push.mode.height for push in later.pushes):
        return (
            "the initial weights are too large: the bound at the last step is above the plateaus "
            "of the modes that drive it"
        )
    # Rounding to the nearest float may be downwards.
    return nextafter(float(most.upper()), inf)


def _half_time(later: Later, tau: Fraction) -> tuple[float, int, int] | str:
    """Return (half-time of the closed form, earliest, latest) in steps, or why there are none."""
    height = later.s / later.d
    start = later.g / 2
    if not start < height / 4:
        return "the expected start is not below a quarter of the plateau"
    closed = float(ball(tau) * (height / start - 1).log() / (2 * later.s))
    if not isfinite(closed):
        return "its half-time is beyond what float64 holds"
    reached = _first_step(lambda step: not later.most(ball(step / tau)) < height / 2)
    times = [arb(0), *(ball(int(closed) * k / (HAND_ON * tau)) for k in range(1, HAND_ON + 1))]
    latest = [t for t in map(later.latest, times) if t is not None]
    if not latest:
        return "the initial weights are too large for the lower bound to reach half of the plateau"
    if reached is None:
        return f"half of the plateau is not reached within {MOST_STEPS:.0e} steps"
    last = (min((t.upper() for t in latest), key=float) * ball(tau)).upper().ceil()
    return closed, max(0, reached - 1), int(last.unique_fmpz() or 0)
