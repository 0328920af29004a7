"""What it costs a later stage that the earlier one takes time to converge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.claims.alike import alike
from symreln.claims.convergence import convergence_of, open_limits, open_questions
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Details, Math, Table, equation, prose
from symreln.document.numerals import rounded_up
from symreln.document.typeset import typeset
from symreln.dynamics.converging import antiderivative

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.claims.convergence import Convergence, LaterBound
    from symreln.claims.derivation import Derivation

#: Modes whose bounds are printed; the rest is in derivation.json.
MOST_BOUNDS = 24
#: Lines of half-times on the terminal.
MOST_LINES = 6


def converging(derivation: Derivation) -> list[Block]:
    """Return the bounds, or why there are none; nothing where there is one stage."""
    found = derivation.ask(convergence_of)
    if found is None:
        return []
    blocks: list[Block] = []
    if found.apart:
        blocks.append(_apart(found))
    if found.modes:
        blocks += _modes(derivation, found)
    blocks += _open(found)
    if found.undecided:
        return blocks
    if found.picked_up:
        most = max(each.most for each in found.picked_up)
        blocks.append(
            prose(
                "Meanwhile pathways of the second stage pick up some of what the first is about to "
                "learn; where they have ",
                Math("s = 0"),
                f" themselves, no more than {rounded_up(most, 2):.2g} up to the last step.",
            )
        )
    return [*blocks, _proof()]


def _open(found: Convergence) -> list[Block]:
    """Say what is not bounded, and why."""
    said = [
        *(
            f"Not bounded is how early {what} reach half of their plateaus: {why}."
            for what, why in open_questions(found)
        ),
        *(
            f"Not bounded is what {what} pick up meanwhile, with s = 0: {why}."
            for what, why in open_limits(found)
        ),
    ]
    return [prose(*typeset(each)) for each in said]


def _apart(found: Convergence) -> Block:
    steps = _listed([f"{_percent(share)} from step {step}" for share, step in found.apart])
    return prose(
        "The residual that the second stage learns is that of the converged first stage to ",
        steps,
        " on (distance over size, both as root mean squares over samples: the distance's square is "
        "twice the loss that the first stage has still to lose).",
    )


def _listed(parts: list[str]) -> str:
    return " on, to ".join(parts)


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):g} %"


def _modes(derivation: Derivation, found: Convergence) -> list[Block]:
    known = {bound.label: bound for bound in found.modes}
    rows = [
        (Math(group.symbol(mode)), *_row(known[mode.label]))
        for group in alike(derivation)
        for mode in group.learning
        if mode.label in known
    ]
    more = "" if len(rows) <= MOST_BOUNDS else f" {len(rows) - MOST_BOUNDS} more: derivation.json."
    return [
        prose(
            "Until then its modes are driven by the earlier ones too, and they grow before the "
            "first stage has converged. From the expected initial weights the flow reaches half of "
            "their plateaus between these steps:"
        ),
        Table(
            header=("strength", "not before", "not after", "closed form"),
            rows=tuple(rows[:MOST_BOUNDS]),
            caption="Half-times of the second stage in steps, bounded, and those of its closed "
            "forms, which take the first stage as converged from the start." + more,
            alignment="lrrr",
        ),
    ]


def _row(bound: LaterBound) -> tuple[str, str, str]:
    return (str(bound.earliest), str(bound.latest), f"{bound.closed:.0f}")


def _proof() -> Details:
    s, c, h, x = sp.symbols("s c h x", positive=True)
    integral, _ = antiderivative(s, c, h, x)
    integrand = (sp.sqrt(s**2 + c**2 * x**2) - s) / (x * (h - x))
    return Details(
        summary="How the half-times are bounded",
        blocks=(
            prose(
                "A mode of the second stage with its own drive ",
                Math("s"),
                " sees, in orthogonal directions of the outputs, ",
                Math(r"c\,(h - \pi(t))"),
                " of earlier modes: that they are orthogonal and that couplings keep them is "
                "decided exactly. From the start ",
                Math(r"Q Q^{\top} = 2 \pi_0 I"),
                " its strength is at most ",
                Math(r"2 \pi_0 \sinh 2 I"),
                " with ",
                Math(r"\tau \dot{I} = \sqrt{s^2 + \sum c^2 (h - \pi)^2}"),
                ", and with a single earlier mode ",
                Math(r"I(t) - s t/\tau"),
                " is elementary. With ",
                Math("d"),
                " and the plateau ",
                Math("h"),
                " of that mode and ",
                Math(r"x = h - \pi"),
                " it is, from ",
                Math(r"h - \pi(t)"),
                " to ",
                Math(r"h - \pi_0"),
                ", one over ",
                Math("2d"),
                " times",
            ),
            equation(rf"\int {to_latex(integrand)}\, dx &= {to_latex(integral)}."),
            prose(
                "From below, all drives point where amplitudes are positive. While the drives ",
                Math("q"),
                ", less the most that damping takes, fall, a subsolution of the amplitudes is ",
                Math(r"e^{K} (\sigma, q_0, q_1, \dots)/\sigma(0)"),
                "; here ",
                Math(r"\sigma"),
                " is their size and ",
                Math("K"),
                " its integral. After a time of our choice the sigmoid without earlier modes is a "
                "lower bound. The program cancels the residuals of the integral and of the "
                "subsolution to exactly 0 and evaluates with certified balls.",
            ),
        ),
    )


def convergence_to_json(derivation: Derivation) -> dict[str, Any]:
    """Return the entry "convergence" of derivation.json; null where there is one stage.

    "residual_within" says from which step on the second stage's residual dataset is within a share
    of the converged one's size; half-times are in steps.
    """
    found = derivation.ask(convergence_of)
    if found is None:
        return {"convergence": None}
    return {
        "convergence": {
            "undecided": found.undecided,
            "residual_within": [
                {"share": str(share), "from_step": step} for share, step in found.apart
            ],
            "half_times": [
                {
                    "label": bound.label,
                    "not_before": bound.earliest,
                    "not_after": bound.latest,
                    "closed_form": float(f"{bound.closed:.6g}"),
                }
                for bound in found.modes
            ],
            "not_bounded": [
                {"modes": what, "why": why}
                for what, why in [*open_questions(found), *open_limits(found)]
            ],
            "picked_up": [
                {"label": each.label, "at_most": rounded_up(each.most, 3)}
                for each in found.picked_up
            ],
        }
    }


def convergence_lines(derivation: Derivation) -> list[str]:
    """Return what the terminal says of it."""
    found = derivation.ask(convergence_of)
    if found is None:
        return []
    lines = []
    if found.apart:
        steps = _listed([f"{_percent(share)} from step {step}" for share, step in found.apart])
        lines.append(f"the second stage sees the first as converged to {steps} on")
    known: dict[tuple[int, int], list[LaterBound]] = {}
    for bound in found.modes:
        known.setdefault((bound.earliest, bound.latest), []).append(bound)
    lines += [
        f"  half-time of {_labels(bounds)}: between steps {low} and {high} (closed form "
        f"{bounds[0].closed:.0f})"
        for (low, high), bounds in list(known.items())[:MOST_LINES]
    ]
    if len(known) > MOST_LINES:
        lines.append(f"  {len(known) - MOST_LINES} more are in derivation.json")
    lines += [f"not bounded: half-times of {what}: {why}" for what, why in open_questions(found)]
    lines += [f"not bounded: what {what} pick up: {why}" for what, why in open_limits(found)]
    return lines


def _labels(bounds: list[LaterBound]) -> str:
    names = [bound.label for bound in bounds]
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"
