"""Mode equations, their solutions, initial strengths and the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from symreln.claims.alike import Alike, alike, decays, heights_latex
from symreln.claims.claim import said_of
from symreln.claims.constants import count_free, printed_constants
from symreln.claims.convergence import convergence_of
from symreln.claims.halving import HalfTime, half_time
from symreln.claims.regime import regime_of
from symreln.document.mathtext import to_latex
from symreln.document.model import (
    Block,
    Citation,
    Details,
    Figure,
    Math,
    Reference,
    Section,
    Table,
    Theorem,
    equation,
    prose,
)
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import typeset
from symreln.document.words import NONE, fraction_latex
from symreln.dynamics.two_layer import SigmoidalMode
from symreln.gates.support import unsupported_pathways
from symreln.report.abbreviations import NO_NAMES, Abbreviations
from symreln.report.chapters.converging import converging
from symreln.report.chapters.loss import loss_blocks
from symreln.report.chapters.reductions import matrix_reduction, not_closed
from symreln.report.chapters.solution import (
    HALF_SPEED,
    family_solution,
    family_start,
    implicit,
    implicit_formula,
    other_family,
    time_constant,
    whole_matrices,
)
from symreln.report.chapters.steps import finite_steps
from symreln.report.chapters.support import unsupported_blocks
from symreln.report.chapters.width import own_units, width
from symreln.report.spec_json import DIGITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.derivation import (
        Derivation,
        ModeDerivation,
    )
    from symreln.document.inlines import Content, Inline

#: What the method of a prediction from the matrices of all pathways says.
MATRICES = "coupled matrices"
#: Solutions that are printed one by one; the rest is in derivation.json.
MOST_SOLUTIONS = 40
#: Solutions of a pathway above which they are folded away on a page.
FOLDED_SOLUTIONS = 8


def dynamics_chapter(
    derivation: Derivation,
    *,
    figures: bool,
    confronted: bool = False,
    method: str = "",
    names: Abbreviations = NO_NAMES,
) -> Section:
    """Return the chapter on the dynamics.

    Args:
        derivation: What is shown.
        figures: Whether there is a figure of the strengths.
        confronted: Whether it shows the prediction that was confronted with training, rather than
            the closed forms that are printed here.
        method: How that prediction was computed, in words.
        names: What the spectrum's chapter calls the long parts of formulas.
    """
    blocks: list[Block] = [_time_paragraph(derivation)]
    if derivation.closed:
        blocks += _closed(derivation, names)
    else:
        blocks += not_closed(derivation)
    blocks += [*converging(derivation), *width(derivation), *_initial(derivation)]
    blocks += [*finite_steps(derivation), *whole_matrices(derivation)]
    if figures:
        blocks.append(
            Figure(
                name="modes",
                caption=_figure_caption(derivation, confronted, method),
                alt="Strength of every mode against time, one colour a pathway.",
            )
        )
    return Section(title="Dynamics", blocks=tuple(blocks), label="sec:dynamics")


def _figure_caption(
    derivation: Derivation, confronted: bool, method: str = ""
) -> tuple[str | Inline, ...]:
    """Say whether the curves are the closed forms or the prediction, which may differ."""
    height = heights_latex(alike(derivation), decay=decays(derivation))
    heights = ("thin lines are the plateaus ", Math(height), ".")
    if derivation.later:
        return (
            "Predicted strengths. Curves are ",
            Math(r"u^{\top} W_p(t)\, v"),
            " of the modes of the gates that hold; where these switch, curves end, and those of "
            "the next modes begin.",
        )
    if derivation.closed and len(derivation.stages) == 1 and not confronted:
        return ("Predicted strengths. Curves are the closed forms; ", *heights)
    if derivation.closed and derivation.loss is not None and not confronted:
        return (
            "Closed forms of the strengths, not the prediction: earlier stages are taken as "
            "converged from the start, while the prediction integrates all pathways together; ",
            *heights,
        )
    settled = any(mode.d_eff is not None for group in alike(derivation) for mode in group.learning)
    lines = ("; ", *heights) if settled else (".",)
    network = derivation.spec.network
    if confronted and network is not None and network.layers != 2:
        start = "" if network.layers == 1 else ", from the mean of the starts that were followed"
        single = "Predicted strengths. Curves are single modes, moved by gradient descent"
        return (f"{single}{start}", *lines)
    if confronted and method and MATRICES not in method:
        return ("Predicted strengths. Curves are ", *typeset(method), *lines)
    return (
        "Predicted strengths. Curves are ",
        Math(r"u^{\top} W_p(t)\, v"),
        " of the coupled matrices of all pathways, ",
        "moved together by gradient descent" if confronted else "integrated together",
        " from ",
        Math("t = 0"),
        *lines,
    )


def _time_paragraph(derivation: Derivation) -> Block:
    network = derivation.spec.network
    half = derivation.effective_network != network
    content: list = ["Time ", Math("t"), " counts steps of full-batch gradient descent. "]
    if network is None or derivation.tau is None:
        content += [
            "The spec names no network, so the time constant ",
            Math(r"\tau"),
            " stays a symbol: it is one over the learning rate for a mean loss, and one over ",
            Math("P"),
            " times the learning rate for a sum over samples.",
        ]
    else:
        formula = time_constant(network, twice=half)
        content += [
            "With learning rate ",
            Math(rf"\eta = {fraction_latex(network.learning_rate)}"),
            f" and training on the {network.loss} over samples, the time constant is ",
            Math(rf"\tau = {formula} = {fraction_latex(derivation.tau)}"),
            " steps.",
        ]
        if half:
            content.append(HALF_SPEED)
    return prose(*content)


def _closed(derivation: Derivation, names: Abbreviations) -> list[Block]:
    other = other_family(derivation)
    blocks = _two_layers() if other is None else family_solution(other)
    if len(derivation.stages) > 1:
        blocks.append(
            prose(
                "Closed forms of later stages hold once the earlier stages have converged; while "
                "those still learn, later stages see what these have not learned yet as well. The "
                "predicted loss therefore integrates all pathways together from ",
                Math("t = 0"),
                ", with the matrix reduction below.",
            )
        )
    for group in alike(derivation):
        blocks += _solutions(derivation, group, names)
    blocks += loss_blocks(derivation, names)
    if len(derivation.stages) > 1:
        blocks += matrix_reduction()
    return blocks


def _two_layers() -> list[Block]:
    return [
        prose(
            "Every mode is decoupled. Its strength ",
            Math(r"\pi"),
            ", the product of its two layers, solves",
        ),
        equation(
            r"\tau \dot{\pi} = 2 \pi \left(s - d\, \pi\right), \qquad \pi(0) = \pi_0,",
            label="eq:mode",
        ),
        prose(
            "with ",
            Math("d"),
            " replaced by ",
            Math(r"d_{\mathrm{eff}}"),
            " where pathways couple. The solution is",
        ),
        equation(_template_latex() + ".", label="eq:sigmoid"),
        _solution_proof(),
        prose(
            "Sources: ",
            Citation("Saxe2014"),
            ", ",
            Citation("Saxe2019"),
            " for the two-layer solution. Assumed: balanced and aligned initial weights, small "
            "enough that alignment precedes growth (silent alignment, measured in the "
            "confrontation with training).",
        ),
    ]


def _template_latex() -> str:
    s, d = sp.symbols("s d", positive=True)
    mode = SigmoidalMode(s=s, d=d)
    return rf"\pi(t) = {to_latex(mode.expr)}"


def _solution_proof() -> Theorem:
    return Theorem(
        kind="Proof",
        blocks=(
            prose(
                "Substitution of ",
                Reference("eq:sigmoid"),
                " into ",
                Reference("eq:mode"),
                " with ",
                Math(r"s, d, \pi_0, \tau"),
                " as free symbols leaves a rational function of them and of the exponential; the "
                "program cancels it to exactly 0, and likewise ",
                Math(r"\pi(0) - \pi_0"),
                ". Where ",
                Math("s"),
                " or ",
                Math("d"),
                " vanishes identically the limits ",
                Math(r"\pi_0 / (1 + 2 d \pi_0 t/\tau)"),
                " and ",
                Math(r"\pi_0 e^{2 s t/\tau}"),
                " take its place, proven in the same way.",
            ),
        ),
    )


def _solutions(derivation: Derivation, group: Alike, names: Abbreviations) -> list[Block]:
    learning = [m for m in group.first.modes if not m.is_null and m.strength is not None]
    shown = learning[:MOST_SOLUTIONS]
    if not shown:
        return []
    formulas = equation(*(_formula(group, mode, names) for mode in shown))
    halves = [half_time(derivation, mode, DIGITS) for mode in shown]
    table = Table(
        header=("strength", "plateau", "half-time (steps)", "multiplicity"),
        rows=tuple(
            _solution_row(group, mode, half, names)
            for mode, half in zip(shown, halves, strict=True)
        ),
        caption=_solutions_caption(derivation, group) + _without_half_times(shown, halves),
        alignment="lccr",
    )
    title = f"Solutions of {group.title}"
    if len(shown) > FOLDED_SOLUTIONS:
        return [Details(summary=f"{title} ({len(shown)})", blocks=(formulas, table))]
    return [prose(f"{title}:"), formulas, table]


def _formula(group: Alike, mode: ModeDerivation, names: Abbreviations) -> str:
    """Return the line of a solution; where it is implicit, the time at which it is pi."""
    if implicit(mode):
        return implicit_formula(group, mode, names)
    return rf"{group.symbol(mode)}(t) &= {names.latex(group.strength(mode))}"


def _solutions_caption(derivation: Derivation, group: Alike) -> str:
    caption = f"Heights and half-times of {group.title}."
    later = len(derivation.stages) > 1 and group.first.stage > derivation.stages[0].stage
    if not later:
        return caption
    found = derivation.ask(convergence_of)
    bounded = {bound.pathway for bound in found.modes} if found is not None else set()
    return f"{caption} With converged earlier stages from the start; for the flow" + (
        " see the bounds below."
        if group.first.number in bounded
        else ", which sees those still learn, nothing is proven of them."
    )


def _without_half_times(modes: Sequence[ModeDerivation], halves: Sequence[HalfTime]) -> str:
    """Say why modes have no half-time."""
    reasons: dict[str, list[str]] = {}
    for mode, half in zip(modes, halves, strict=True):
        if half.why:
            reasons.setdefault(half.why, []).append(str(mode.number))
    if len(reasons) == 1 and len(next(iter(reasons.values()))) == len(modes):
        return f" No half-times: {next(iter(reasons))}."
    return "".join(
        f" No half-time of {'modes' if len(numbers) > 1 else 'mode'} {', '.join(numbers)}: {why}."
        for why, numbers in reasons.items()
    )


def _solution_row(
    group: Alike, mode: ModeDerivation, half: HalfTime, names: Abbreviations
) -> tuple[Content, ...]:
    height = sp.oo if mode.strength is None else group.renamed(mode, mode.strength.plateau)
    return (
        Math(group.symbol(mode)),
        Math(names.latex(height) if height is not sp.oo else r"\infty"),
        NONE if half.decimal is None else Math(decimal_latex(*half.decimal, digits=5)),
        str(mode.multiplicity),
    )


def _initial(derivation: Derivation) -> list[Block]:
    network = derivation.spec.network
    if network is None:
        return []
    if network.unusual:
        return family_start(derivation)
    linear = network.activation == "linear"
    formula = r"\tfrac{1}{2} H \sigma^2" if linear else r"\tfrac{1}{4} H \sigma^2"
    share = "all" if linear else "half"
    return [
        prose(
            "Initial strengths are derived, not fitted. Weights are drawn from ",
            Math(r"\mathcal{N}(0, \sigma^2)"),
            " with ",
            Math(rf"\sigma = {fraction_latex(network.init_std)}"),
            " and ",
            Math(f"H = {network.hidden}"),
            " hidden units. Of a mode's two amplitudes ",
            Math("(a, b)"),
            " in a unit only ",
            Math(r"(a+b)/\sqrt{2}"),
            f" grows; over the units that take part ({share} of them"
            + ("" if linear else ", a ReLU's gate being open on half of all directions")
            + ") the product starts in effect from its mean",
        ),
        equation(
            rf"\pi_0 = {formula} = {decimal_latex(*_strength0(derivation), digits=6)}.",
            label="eq:initial",
        ),
        *own_units(derivation),
        *said_of(derivation, regime_of),
        *unsupported_blocks(derivation.ask(unsupported_pathways), derivation.spec),
        prose(
            "The number of free constants is ",
            Math(str(count_free(derivation.ask(printed_constants)))),
            ", see ",
            Reference("sec:provenance"),
            ".",
        ),
    ]


def _strength0(derivation: Derivation) -> tuple[str, str]:
    from symreln.exact.algebraic import AlgebraicNumber
    from symreln.exact.scalar import Scalar

    return AlgebraicNumber.rational(Scalar.of(derivation.strength0 or 0)).decimal({}, 21)
