"""How far closed forms in steps are from gradient descent: a proven bound, mode by mode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from symreln.base.rounding import filled
from symreln.base.summaries import few
from symreln.claims.claim import Claim, Step
from symreln.claims.orbits import symbols_of
from symreln.claims.widths import own_curves
from symreln.document.model import Block, Details, Math, Table, equation
from symreln.document.numerals import rounded_up
from symreln.document.typeset import say
from symreln.document.words import NONE
from symreln.exact.enclosure import precision
from symreln.laws import discretisation_bound
from symreln.laws.choice import started
from symreln.laws.ops import ARB

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, ModeDerivation

#: Working precision in bits; the bound itself is no sharper than a factor of two.
_BITS = 120
#: Modes whose bounds are printed.
_MOST_BOUNDS = 24


def _are_bounded(derivation: Derivation) -> bool:
    """Whether steps are known, and take modes that close from a known start by one equation."""
    return (
        derivation.tau is not None
        and derivation.strength0 is not None
        and derivation.closed
        and own_curves(derivation).holds
    )


def step_error(derivation: Derivation, mode: ModeDerivation) -> float | None:
    """Return a bound on |closed form − gradient descent| of a mode's strength at every step.

    Proven for aligned, balanced weights of two layers
    (:mod:`symreln.laws.discretisation_bound`), where the strength is below its plateau at the
    start and 2s < tau; modes that are equal by symmetry stay so step by step.

    Returns:
        As a share of the plateau, at the declared values; None where nothing is proven.
    """
    # First: what a limit cut short has neither closed forms nor a verdict.
    if mode.strength is None or mode.d_eff is None:
        return None
    if mode.is_null or not _are_bounded(derivation):
        return None
    # Later stages learn what earlier ones leave, step by step; the first one sees no other.
    if not any(mode is one for pathway in derivation.stages[0].pathways for one in pathway.modes):
        return None
    values = derivation.spec.values
    if any(name not in values for name in (*mode.s.parameters, *mode.d_eff.parameters)):
        return None

    with precision(_BITS):
        s, d = mode.s.ball(values, _BITS), mode.d_eff.ball(values, _BITS)
        return started(derivation.known, s, d, derivation.tau, ops=ARB).discretisation_bound


@dataclass(frozen=True, kw_only=True)
class _StepErrors(Claim):
    """Bounds on the closed forms' error against gradient descent.

    Attributes:
        bounds: As shares of the plateaus, by the modes' labels.
        symbols: LaTeX of the modes that tables show, by label.
        staged: Whether later stages follow, whose modes are not bounded.
    """

    bounds: Mapping[str, float]
    symbols: Mapping[str, str]
    staged: bool

    def says(self) -> Iterator[Block]:
        """Say the bounds, rounded up, and why they hold."""
        yield say(
            "While a mode is small, its closed form has the growth rate of gradient descent. Near "
            "the plateau gradient descent is slightly faster. For the same aligned weights the "
            "following shares of the plateau bound the distance of strengths "
            + "of the first stage " * self.staged
            + "to their closed forms at all steps:"
        )
        yield Table(
            header=("strength", "solution against gradient descent, at most"),
            rows=tuple(
                (Math(symbol), _at_most(self.bounds[label]))
                for label, symbol in self.symbols.items()
                if label in self.bounds
            ),
            caption="Proven bounds on the error of finite steps.",
            alignment="lr",
            most=_MOST_BOUNDS,
        )
        yield Details(
            summary="Why this bounds them",
            blocks=(
                say(
                    r"A step of gradient descent takes $x = d\pi/s$ to $x (1 + h (1 - x))^2$ with "
                    r"$h = s/\tau$, and so its logit $\ln(x/(1 - x))$ forward by "
                    r"$\varphi(x) = 2 \ln(1 + h(1 - x)) - \ln m(x)$ with "
                    r"$m(x) = 1 - 2hx - h^2 x (1 - x)$. The solution moves it by "
                    r"$r_- = 2 \ln(1 + h) = \varphi(0)$. The program checks with exact algebra that"
                ),
                equation(
                    r"\varphi'(x) = \frac{h^2}{m(x)} \left(1 + \frac{2}{1 + h (1 - x)}\right), "
                    r"\qquad m'(x) = -h \left(2 + h (1 - 2x)\right)."
                ),
                say(
                    r"For $0 < h < \tfrac{1}{2}$ the first is positive and rises with $x$, so that "
                    r"$0 \le \varphi(x) - r_- \le (r_+ - r_-)\, x$ with "
                    r"$r_+ = \varphi(1) = -\ln(1 - 2h)$. Gradient descent is below the sigmoid of "
                    r"rate $r_+$, whose sum over steps is less than its integral: after $n$ steps "
                    "its logit is ahead of the solution's by at most"
                ),
                equation(
                    r"\delta_n = \left(1 - \frac{r_-}{r_+}\right) "
                    r"\ln\left(1 + e^{r_+ n - \ell}\right), \qquad "
                    r"\ell = \ln\left(\frac{s}{d \pi_0} - 1\right)."
                ),
                say(
                    r"The two differ by the integral of $x (1 - x)$ over the logits between, so by "
                    r"less than $\delta_n \min(\tfrac{1}{4}, e^{\ell - r_- n})$. The first rises "
                    r"with $n$, and from $r_- n = \ell + \ln 4$ on, where both are equal, the "
                    r"second falls if $r_+ < r_- \ln 5$: their value there bounds all."
                ),
            ),
        )

    def steps(self) -> Iterator[Step]:
        """Check the identities that the bounds rest on."""
        if discretisation_bound.residual() != 0:
            msg = "the derivation's own check failed: steps of gradient descent"
            raise ArithmeticError(msg)
        yield Step(
            name="finite steps",
            statement="The error of the solutions in steps against gradient descent is bounded "
            f"for {len(self.bounds)} strengths.",
            check="map of the amplitudes, identities of its logit: cancel to 0; certified numbers",
        )


def step_errors(derivation: Derivation) -> _StepErrors | None:
    """Return the bounds of all modes that have one; None where none is proven."""
    modes = [mode for pathway in derivation.pathways for mode in pathway.modes]
    found = [(mode, step_error(derivation, mode)) for mode in modes]
    bounded = [(mode, bound) for mode, bound in found if bound is not None]
    if not bounded:
        return None
    return _StepErrors(
        bounds={mode.label: bound for mode, bound in bounded},
        symbols=symbols_of(derivation),
        staged=len(derivation.stages) > 1,
    )


@dataclass(frozen=True, kw_only=True)
class _Late:
    """By how many steps gradient descent is half learned later than the flow, of one mode.

    Attributes:
        label: Symbol of its strength.
        descent: To leading order; negative where it is earlier. None of a mode that starts at half
            of its plateau or beyond, from where it is never later.
        solution: As the solution in steps has it.
    """

    label: str
    descent: float | None = None
    solution: float | None = None

    @property
    def flow_is_nearer(self) -> bool:
        """Whether the solution of infinitely small steps has the better half-time."""
        if self.descent is None or self.solution is None:
            return True
        return abs(self.solution - self.descent) > abs(self.descent)


@dataclass(frozen=True, kw_only=True)
class LargeStarts(Claim):
    """Modes that start so large that finite steps are not those of growth from little.

    Attributes:
        modes: They.
        symbols: LaTeX of the modes that tables show, by label.
    """

    modes: tuple[_Late, ...]
    symbols: Mapping[str, str]

    def says(self) -> Iterator[Block]:
        """Say where the flow is nearer to gradient descent than the solution in steps, and why."""
        yield say(
            "**Large starts.** Gradient descent reaches half of a plateau later than the flow, by "
            r"$\tfrac{1}{2} \ln(|f|/|f_0|)$ steps to leading order; $|f_0|$ is the speed of the "
            "amplitudes at the start and $|f|$ that at half of the plateau. The closed forms in "
            "steps assume growth from small strengths. A balanced mode that starts above about "
            r"$2^{-6}$ of its plateau is nearer to the flow, which has $e^{-2st/\tau}$ in place of "
            r"$(1 + s/\tau)^{-2t}$. For these modes the half-time of the flow is more accurate:"
        )
        shown = [(s, each) for each in self.modes if (s := self.symbols.get(each.label))]
        yield Table(
            header=("strength", "gradient descent later by", "solution in steps later by"),
            rows=tuple(
                (
                    Math(symbol),
                    NONE if each.descent is None else f"{each.descent:.2f}",
                    NONE if each.solution is None else f"{each.solution:.2f}",
                )
                for symbol, each in shown
            ),
            caption="Steps by which half-times are later than those of the flow; a dash: the mode "
            "starts at or above half of its plateau.",
            alignment="lrr",
            most=_MOST_BOUNDS,
        )

    def lines(self) -> Iterator[str]:
        """Say it on the terminal."""
        yield (
            f"large starts: for {few(each.label for each in self.modes)} the flow (infinitely "
            "small steps) has more accurate half-times than the closed forms in steps, which "
            "assume growth from small strengths"
        )


def _at_most(bound: float) -> str:
    """Return a bound as per cent, rounded up to two significant digits."""
    return f"{filled(f'{rounded_up(100 * bound, 2):g}', 2)} %"


def large_starts(derivation: Derivation) -> LargeStarts | None:
    """Return the modes of the first stage whose solution in steps is not the nearer one."""
    if not _are_bounded(derivation) or not derivation.spec.has_values:
        return None
    modes = [m for p in derivation.stages[0].pathways for m in p.modes if not m.is_null]
    found = [late for late in map(partial(_late, derivation), modes) if late is not None]
    if not any(late.flow_is_nearer for late in found):
        return None
    return LargeStarts(
        modes=tuple(late for late in found if late.flow_is_nearer), symbols=symbols_of(derivation)
    )


def _late(derivation: Derivation, mode: ModeDerivation) -> _Late | None:
    """Return how late a mode is half learned; None where steps are not those of growth."""
    assert mode.d_eff is not None  # every mode closes
    values = derivation.spec.values
    with precision(_BITS):
        s, d = mode.s.ball(values, _BITS), mode.d_eff.ball(values, _BITS)
        flow = started(derivation.known, s, d, derivation.tau, ops=ARB)
        if not (s > 0 and flow.growth > 0) or flow.speed(flow.plateau) is None:
            return None
        if not flow.strength0 < flow.plateau / 2:
            return _Late(label=mode.label)
        descent = (flow.speed(flow.plateau / 2) / flow.speed(flow.strength0)).log() / 2
        solution = flow.in_steps().half_time - flow.half_time
        return _Late(label=mode.label, descent=float(descent), solution=float(solution))
