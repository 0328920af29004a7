"""How well a later stage may take the earlier one as converged: exact conditions, certified bounds.

The bounds and their proof are those of :mod:`symreln.laws.converging`; that they apply is
decided by :mod:`symreln.verdict.drives`, at the declared values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf, isfinite, nextafter
from typing import TYPE_CHECKING

import sympy as sp
from flint import arb

from symreln.base.summaries import few, short_repr
from symreln.claims.claim import Claim, Step
from symreln.claims.halving import half_time
from symreln.claims.orbits import symbols_of
from symreln.claims.solve import at_values
from symreln.claims.widths import narrow_pathways
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Details, Math, Table, equation, prose
from symreln.document.numerals import rounded_up
from symreln.document.typeset import say, typeset
from symreln.exact.enclosure import ball, precision
from symreln.exact.truth import Truth
from symreln.laws.converging import Earlier, Later, Push, antiderivative, residuals
from symreln.verdict.drives import driven_classes, original_of, sources
from symreln.verdict.judge import Level, stage_modes

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, ModeDerivation, StageDerivation
    from symreln.verdict.drives import DrivenClass, Source
    from symreln.verdict.modes import PathwayModes

#: Working precision of the bounds, in bits.
_BITS = 192
#: Shares of the residual's size at which its distance from the converged one is reported.
_SHARES = (Fraction(1, 10), Fraction(1, 100))
#: Steps beyond which none is looked for.
_MOST_STEPS = 10**15
#: Modes whose bounds are printed, and lines of half-times on the terminal.
MOST_BOUNDS, MOST_LINES = 24, 6
#: Why nothing is bounded of a third stage.
_BEYOND = (
    "the bounds need drives that only fall, as those of closed modes are; what the second stage "
    "has still to learn can rise first, since it picks up what the first stage is about to learn"
)
#: Times between 0 and the half-time at which the early phase may be handed on.
_HAND_ON = 48


@dataclass(frozen=True, kw_only=True)
class _Near:
    """From which step on the residual dataset is near the converged one.

    Attributes:
        share: Distance, as a share of the converged one's size.
        from_step: First step from which it is no larger.
    """

    share: Fraction
    from_step: int


@dataclass(frozen=True, kw_only=True)
class _HalfTimeBounds:
    """What is proven of a mode that learns in the second stage, in steps.

    Attributes:
        label: Symbol of its strength.
        not_before, not_after: Whole steps between which half of its plateau is reached.
        closed_form: Half-time of its closed form, from its head start and in the network's steps;
            six digits. None where it has none.
    """

    label: str = ""
    not_before: int
    not_after: int
    closed_form: float | None = None


@dataclass(frozen=True, kw_only=True)
class _PickedUp:
    """What a pathway of the second stage learns of the first stage's modes where it has s = 0.

    Attributes:
        label: Symbol of its null mode.
        at_most: Upper bound of the strength up to the last step; three digits.
    """

    label: str = ""
    at_most: float


@dataclass(frozen=True, kw_only=True)
class _NotBounded(Claim):
    """Modes of a later stage of which something is not bounded.

    Attributes:
        modes: Which, in words.
        why: Why not.
        is_null: Whether they have s = 0, so that what they pick up is meant, not how early they
            learn.
        count: How many they are, where the second stage has bounds of others; else 0.
    """

    modes: str
    why: str
    is_null: bool = field(default=False, metadata={"prose": True})
    count: int = field(default=0, metadata={"prose": True})

    @property
    def what(self) -> str:
        """What is not bounded, in words."""
        if self.is_null:
            return f"what {self.modes} pick up meanwhile, with s = 0"
        return f"how early {self.modes} reach half of their plateaus"


@short_repr
@dataclass(frozen=True, kw_only=True)
class Convergence(Claim):
    """The second stage against the first, from the expected start, for the flow.

    Attributes:
        undecided: Why there are no bounds of modes, empty where they were looked for.
        residual_within: How near the residual dataset is; a share that is not proven to be
            reached is left out, all where the first stage is not closed.
        half_times: Bounds of the modes that learn.
        not_bounded: Modes without bounds: of what they learn, or of what they pick up.
        picked_up: Bounds of null modes that are driven.
        symbols: LaTeX of the modes that tables show, by label.
    """

    undecided: str = ""
    residual_within: tuple[_Near, ...] = ()
    half_times: tuple[_HalfTimeBounds, ...] = ()
    not_bounded: tuple[_NotBounded, ...] = ()
    picked_up: tuple[_PickedUp, ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict, metadata={"prose": True})

    @property
    def _within(self) -> str:
        near = (f"{float(100 * n.share):g} % from step {n.from_step}" for n in self.residual_within)
        return " on, to ".join(near) + " on"

    def says(self) -> Iterator[Block]:
        """Say how near the stages are, the bounds, what is not bounded, and why they hold."""
        if self.residual_within:
            yield say(
                "The residual that the second stage learns is that of the converged first stage to "
                f"{self._within}. The distance is the root mean square of the difference over that "
                "of the converged residual, over samples. Half the square of the root mean "
                "square of the difference is the loss that the first stage has still to lose."
            )
        if self.half_times:
            yield say(
                "Until then modes of the second stage are driven by earlier modes too, and grow "
                "before the first stage has converged. [#tab:halftimes] bounds when the flow from "
                "the expected initial weights reaches half of their plateaus."
            )
            yield self._table()
        for each in self.not_bounded:
            yield prose(*typeset(f"There is no bound on {each.what}: {each.why}."))
        if self.undecided:
            return
        if self.picked_up:
            most = max(each.at_most for each in self.picked_up)
            yield say(
                "Pathways of the second stage also learn a part of the first stage's modes. Where "
                "their own $s$ is 0, the strength of this part is at most "
                f"{rounded_up(most, 2):.2g} up to the last step."
            )
        yield _proof()

    def _table(self) -> Table:
        known = {bounds.label: bounds for bounds in self.half_times}
        shown = [(s, known[label]) for label, s in self.symbols.items() if label in known]
        return Table(
            header=("strength", "not before", "not after", "closed form"),
            rows=tuple(
                (Math(symbol), str(b.not_before), str(b.not_after), _steps(b.closed_form))
                for symbol, b in shown
            ),
            caption="Half-times of the second stage, in steps: proven bounds for the flow, whose "
            "steps are infinitely small, and the closed forms from their effective starts, in "
            "finite steps.",
            alignment="lrrr",
            label="tab:halftimes",
            most=MOST_BOUNDS,
        )

    def lines(self) -> Iterator[str]:
        """Say it on the terminal, modes with equal bounds on one line."""
        if self.residual_within:
            yield f"the second stage sees the first as converged to {self._within}"
        known: dict[tuple[int, int, float | None], list[str]] = {}
        for b in self.half_times:
            known.setdefault((b.not_before, b.not_after, b.closed_form), []).append(b.label)
        for (low, high, closed), (first, *others) in list(known.items())[:MOST_LINES]:
            where = f"between steps {low} and {high} of the flow"
            if closed is not None:
                where += f"; closed form, in finite steps, {_steps(closed)}"
            yield f"  half-time of {' … '.join((first, *others[-1:]))}: {where}"
        if len(known) > MOST_LINES:
            yield f"  {len(known) - MOST_LINES} more are in derivation.json"
        for each in self.not_bounded:
            yield f"not bounded: {each.what}: {each.why}"

    def steps(self) -> Iterator[Step]:
        """Check the identities that bounds rest on; say what was proven and what was not."""
        if any(each != 0 for each in residuals()):
            msg = "the derivation's own check failed: bounds of an unconverged stage"
            raise ArithmeticError(msg)
        proven = self._proven()
        if proven:
            yield Step(
                name="unconverged stage",
                statement=f"{proven}.",
                check="drives orthogonal and couplings diagonal on them, as exact identities of "
                "matrices; residuals of the integral and of the subsolution cancel to 0; certified "
                "balls",
            )
        for each in self.not_bounded:
            yield Step(
                name="unconverged stage",
                statement=f"{each.what[:1].upper()}{each.what[1:]}.",
                check=f"not bounded: {each.why}",
                outcome=Truth.UNDECIDED,
            )

    def _proven(self) -> str:
        parts = []
        if self.half_times:
            found = len(self.half_times)
            left = sum(each.count for each in self.not_bounded if not each.is_null)
            whose = (
                f"{found} of {found + left} half-times of the second stage"
                if left
                else "The second stage's half-times"
            )
            parts.append(f"{whose} lie, for the flow, between the steps that are printed")
        if self.residual_within:
            parts.append("what it sees is as near to the converged residual as is printed")
        return ", and ".join(parts)


def convergence_of(derivation: Derivation) -> Convergence | None:
    """Bound what taking the first stage as converged costs the second.

    Returns:
        None where there is one stage only, numbers are missing, or gates switch: perhaps before
        the first stage has converged.
    """
    spec = derivation.spec
    known = derivation.known
    if derivation.later or spec.network is None or not known.plain.holds:
        return None
    if len(derivation.stages) < 2:
        return None
    if not spec.has_values:
        return None
    exact = derivation.ask(at_values)
    first, second = exact.stages[:2]
    beyond = _beyond(derivation)
    scale = ball(known.gram_scale)
    reason = _first_reason(derivation, first)
    if reason:
        return _undecided(reason, beyond)
    with precision(_BITS):
        before = _modes(first)
        pushing = sources(first.verdict, before)
        earlier = [Earlier(s=ball(x.square).sqrt(), d=ball(x.damping), g=scale) for x in pushing]
        if any(not scale < mode.height for mode in earlier):
            return _undecided("the initial weights are not small", beyond)
        near = _near(first, pushing, earlier, exact.tau or Fraction(1))
        classes, reason = driven_classes(second.verdict, _modes(second), before, pushing)
        if reason:
            return _undecided(reason, beyond, near)
        bounds = _all_bounds(exact, second, classes, (earlier, scale))
    return Convergence(
        residual_within=near,
        half_times=tuple(each for each in bounds if isinstance(each, _HalfTimeBounds)),
        picked_up=tuple(each for each in bounds if isinstance(each, _PickedUp)),
        not_bounded=(
            *_by_reason(bounds, is_null=False),
            *beyond,
            *_by_reason(bounds, is_null=True),
        ),
        symbols=symbols_of(derivation),
    )


def _undecided(
    reason: str, beyond: tuple[_NotBounded, ...], near: tuple[_Near, ...] = ()
) -> Convergence:
    second = _NotBounded(modes="the second stage's modes", why=reason)
    return Convergence(undecided=reason, residual_within=near, not_bounded=(second, *beyond))


def _beyond(derivation: Derivation) -> tuple[_NotBounded, ...]:
    """Return the modes of later stages than the second."""
    stages = [str(stage.stage) for stage in derivation.stages[2:]]
    if not stages:
        return ()
    modes = f"the modes of stage{'s' * (len(stages) > 1)} {', '.join(stages)}"
    return (_NotBounded(modes=modes, why=_BEYOND),)


def _by_reason(bounds: list[_Bound], *, is_null: bool) -> Iterator[_NotBounded]:
    """Yield the modes without a bound, those with one reason together."""
    reasons: dict[str, list[str]] = {}
    for each in bounds:
        if isinstance(each, _NotBounded) and each.is_null is is_null:
            reasons.setdefault(each.why, []).append(each.modes)
    for why, labels in reasons.items():
        yield _NotBounded(modes=few(labels), why=why, is_null=is_null, count=len(labels))


def _first_reason(derivation: Derivation, first: StageDerivation) -> str:
    if first.verdict.level not in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY):
        return f"stage {first.stage} has no closed forms"
    if derivation.ask(narrow_pathways):
        return "a pathway is narrow"
    if any(c.degree > 1 for p in first.pathways for c in p.spectrum.classes):
        return f"squares of singular values of stage {first.stage} are not rational"
    return ""


def _modes(stage: StageDerivation) -> tuple[PathwayModes, ...]:
    return stage_modes(
        tuple(p.effective for p in stage.pathways), tuple(p.spectrum for p in stage.pathways)
    )


def _near(
    first: StageDerivation, pushing: list[Source], earlier: list[Earlier], tau: Fraction
) -> tuple[_Near, ...]:
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
        for share in _SHARES
    )
    return tuple(_Near(share=share, from_step=step) for share, step in found if step is not None)


def _first_step(holds: Callable[[int], bool]) -> int | None:
    """Return the first step at which something holds that holds ever after, if within reach."""
    high = 1
    while not holds(high):
        high *= 2
        if high > _MOST_STEPS:
            return None
    low = -1 if holds(0) else high // 2
    low, high = (-1, 0) if low < 0 else (low, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


#: What is known of a mode of the second stage.
_Bound = _HalfTimeBounds | _PickedUp | _NotBounded


def _all_bounds(
    exact: Derivation,
    second: StageDerivation,
    classes: list[DrivenClass],
    before: tuple[list[Earlier], arb],
) -> list[_Bound]:
    """Return what is bounded of every mode of the second stage, or that it is not.

    Args:
        exact: The derivation at the declared values.
        second: Its second stage.
        classes: That stage's classes of modes.
        before: The first stage's modes, none where it has nothing to learn, and g of the start.
    """
    bounds: list[_Bound] = []
    steps = 0 if exact.spec.network is None else exact.spec.network.steps
    tau = exact.tau or Fraction(1)
    known: dict[tuple, _HalfTimeBounds | _PickedUp | str | None] = {}
    for each, mode in _members(second, classes):
        later = _later(each, *before)
        key = (each.key, each.dampings)
        if key not in known:
            known[key] = (
                _picked_up(later, ball(steps / tau)) if mode.is_null else _half_time(later, tau)
            )
        found = known[key]
        if isinstance(found, str):
            bounds.append(_NotBounded(modes=mode.label, why=found, is_null=mode.is_null))
        elif isinstance(found, _HalfTimeBounds):
            half = half_time(exact, mode, 6).decimal
            closed = None if half is None else float(half[0])
            bounds.append(replace(found, label=mode.label, closed_form=closed))
        elif found is not None:
            bounds.append(replace(found, label=mode.label))
    return bounds


def _members(
    second: StageDerivation, classes: list[DrivenClass]
) -> list[tuple[DrivenClass, ModeDerivation]]:
    """Return (constants, mode) for every mode of the stage."""
    modes = _modes(second)
    own = {(each.pathway, each.index): each for each in classes}
    decided = {each.pathway for each in classes}
    found = []
    for place, pathway in enumerate(second.pathways):
        p = place if place in decided else original_of(modes, place)
        found += [(own[p, mode.class_index], mode) for mode in pathway.modes]
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


def _picked_up(later: Later, end: arb) -> _PickedUp | str | None:
    """Return what a null mode picks up, why that is not known, or None where nothing drives it.

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
    return _PickedUp(at_most=rounded_up(nextafter(float(most.upper()), inf), 3))


def _half_time(later: Later, tau: Fraction) -> _HalfTimeBounds | str:
    """Return the bounds of a mode's half-time, or why there are none."""
    height = later.s / later.d
    start = later.g / 2
    if not start < height / 4:
        return "the expected start is not below a quarter of the plateau"
    closed = float(ball(tau) * (height / start - 1).log() / (2 * later.s))
    if not isfinite(closed):
        return "its half-time is beyond what float64 holds"
    reached = _first_step(lambda step: not later.most(ball(step / tau)) < height / 2)
    times = [arb(0), *(ball(int(closed) * k / (_HAND_ON * tau)) for k in range(1, _HAND_ON + 1))]
    latest = [t for t in map(later.latest, times) if t is not None]
    if not latest:
        return "the initial weights are too large for the lower bound to reach half of the plateau"
    if reached is None:
        return f"half of the plateau is not reached within {_MOST_STEPS:.0e} steps"
    last = (min((t.upper() for t in latest), key=float) * ball(tau)).upper().ceil()
    return _HalfTimeBounds(
        not_before=max(0, reached - 1),
        not_after=int(last.unique_fmpz() or 0),
    )


def _steps(time: float | None) -> str:
    return "–" if time is None else f"{time:.0f}"


def _proof() -> Details:
    s, c, h, x = sp.symbols("s c h x", positive=True)
    integral, _ = antiderivative(s, c, h, x)
    integrand = (sp.sqrt(s**2 + c**2 * x**2) - s) / (x * (h - x))
    return Details(
        summary="How the half-times are bounded",
        blocks=(
            say(
                r"A mode of the second stage with its own drive $s$ sees, in orthogonal directions "
                r"of the outputs, $c\,(h - \pi(t))$ of earlier modes: that they are orthogonal and "
                r"that couplings keep them is decided exactly. From the expected "
                r"start $Q Q^{\top} = 2 \pi_0 I$ its strength is at most $2 \pi_0 \sinh 2 I$ with "
                r"$\tau \dot{I} = \sqrt{s^2 + \sum c^2 (h - \pi)^2}$, and with a single earlier "
                r"mode $I(t) - s t/\tau$ is elementary. With $d$ and the plateau $h$ of that mode "
                r"and $x = h - \pi$ it is, from $h - \pi(t)$ to $h - \pi_0$, one over $2d$ times"
            ),
            equation(rf"\int {to_latex(integrand)}\, dx &= {to_latex(integral)}."),
            say(
                "From below, all drives point where amplitudes are positive. While the drives "
                r"$q$, less the most that damping takes, fall, a subsolution of the amplitudes is "
                r"$e^{J} (\rho, q_0, q_1, \dots)/\rho(0)$; here $\rho$ is their size and $J$ "
                "its integral. After a time of our choice the sigmoid without earlier modes is a "
                "lower bound. The program cancels the residuals of the integral and of the "
                "subsolution to exactly 0 and evaluates with certified balls."
            ),
        ),
    )
