"""Mode equations, their solutions, initial strengths and the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from symreln.claims.claim import DIGITS
from symreln.claims.constants import count_free, printed_constants
from symreln.claims.convergence import convergence_of
from symreln.claims.halving import HalfTime, half_time
from symreln.claims.later_stages import head_starts_of
from symreln.claims.orbits import PathwayOrbit, mode_orbits, plateaus_latex
from symreln.claims.rules import said_at
from symreln.claims.widths import own_curves
from symreln.document.mathtext import to_latex
from symreln.document.model import (
    Block,
    Details,
    Figure,
    Math,
    Section,
    Table,
    Theorem,
    equation,
    prose,
)
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import say, typeset
from symreln.document.words import NONE, fraction_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.laws.choice import law_of
from symreln.laws.two_layer import TwoLayer
from symreln.report.abbreviations import NO_NAMES, Abbreviations
from symreln.report.chapters.loss import any_coupled, loss_blocks
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
from symreln.spec.number import WrittenDecimal

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
_MOST_SOLUTIONS = 40
#: Solutions of a pathway above which they are folded away on a page.
_FOLDED_SOLUTIONS = 8


#: What the caption of the strengths says of names and of trained networks.
_NAMED = (
    " ",
    Math(r"\pi_{p,\alpha}"),
    " stands beside its curve where there is room, (2×) for two equal modes; the tables have all.",
)
_MEASURED = (" Markers are measured strengths, where they can be attributed to a mode.",)


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
    blocks += [*said_at(derivation, "end"), *_initial(derivation)]
    blocks += [*said_at(derivation, "steps"), *whole_matrices(derivation)]
    if figures:
        blocks.append(
            Figure(
                name="modes",
                caption=(
                    *_figure_caption(derivation, confronted, method),
                    *_NAMED,
                    *(_MEASURED if confronted else ()),
                ),
                alt="Strength of every mode against time, one colour a pathway.",
            )
        )
    return Section(title="Dynamics", blocks=tuple(blocks), label="sec:dynamics")


def _figure_caption(
    derivation: Derivation, confronted: bool, method: str = ""
) -> tuple[str | Inline, ...]:
    """Say whether the curves are the closed forms or the prediction, which may differ."""
    height = plateaus_latex(mode_orbits(derivation), decay=derivation.known.lowers_plateaus)
    heights = ("thin lines are the plateaus ", Math(height), ".")
    if derivation.later:
        return (
            "Predicted strengths. Curves are ",
            Math(r"u^{\top} W_p(t)\, v"),
            " of the modes of the gates that hold; where these switch, curves end, and those of "
            "the next modes begin.",
        )
    ahead = derivation.ask(head_starts_of)
    closed = derivation.closed and not (ahead is not None and ahead.outrun)
    law = law_of(derivation.known) if closed else None
    if law is not None and (not confronted or (law.closed and own_curves(derivation).holds)):
        curves = (
            "their closed forms" if law.closed else "integrated, each mode's equation by itself"
        )
        later = "; later stages begin at their head starts" if len(derivation.stages) > 1 else ""
        followed = confronted and derivation.strength0 is None
        start = ", from the mean of the starts that were followed" if followed else ""
        return (f"Predicted strengths: {curves}{start}{later}; ", *heights)
    settled = any(
        mode.d_eff is not None for group in mode_orbits(derivation) for mode in group.learning
    )
    lines = ("; ", *heights) if settled else (".",)
    if confronted and not derivation.known.matrices.holds:
        single = "Predicted strengths. Curves are single modes, moved by gradient descent"
        return (single, *lines)
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
    half = derivation.known.half_speed.holds
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
        decimals = isinstance(network.learning_rate, WrittenDecimal)
        content += [
            "With learning rate ",
            Math(rf"\eta = {fraction_latex(network.learning_rate)}"),
            f" and training on the {network.loss} over samples, the time constant is ",
            Math(rf"\tau = {formula} = {fraction_latex(derivation.tau, decimals=decimals)}"),
            " steps.",
        ]
        if half:
            content.append(HALF_SPEED)
    return prose(*content)


def _closed(derivation: Derivation, names: Abbreviations) -> list[Block]:
    other, coupled = other_family(derivation), any_coupled(derivation)
    decay = derivation.known.weight_decay
    blocks = _two_layers(coupled) if other is None else family_solution(other, decay, coupled)
    if len(derivation.stages) > 1:
        blocks.append(
            prose(
                "A later stage learns what the earlier ones leave. While those still learn it sees "
                "more, and its closed forms start in effect from ",
                Math(r"\tilde{\pi}_0"),
                ", which is derived below. The matrix reduction of all pathways together, below "
                "too, is what they leave out.",
            )
        )
    for group in mode_orbits(derivation):
        blocks += _solutions(derivation, group, names)
    blocks += loss_blocks(derivation, names)
    if len(derivation.stages) > 1:
        blocks += matrix_reduction()
    return blocks


def _two_layers(coupled: bool) -> list[Block]:
    return [
        prose(
            "Every mode evolves on its own. Its strength ",
            Math(r"\pi"),
            ", the product of its two layers, solves",
        ),
        equation(
            r"\tau \dot{\pi} = 2 \pi \left(s - d\, \pi\right), \qquad \pi(0) = \pi_0"
            + (",", ".")[not coupled],
            label="eq:mode",
        ),
        say(
            r"with $d$ replaced by $d_{\mathrm{eff}}$ where pathways couple. " * coupled
            + "The solution is"
        ),
        equation(_template_latex() + ".", label="eq:sigmoid"),
        _solution_proof(),
        say(
            "Sources: [@Saxe2014], [@Saxe2019] for the two-layer solution. Assumed: balanced "
            "and aligned initial weights, small enough that alignment precedes growth (silent "
            "alignment, measured in the confrontation with training)."
        ),
        say(
            "What is printed below keeps step with gradient descent: $(1 + s/\\tau)^{-2t}$ stands "
            "for $e^{-2 s t/\\tau}$, as [#sec:lines] derives."
        ),
    ]


def _template_latex() -> str:
    s, d = sp.symbols("s d", positive=True)
    mode = TwoLayer(s=s, d=d)
    return rf"\pi(t) = {to_latex(mode.printed)}"


def _solution_proof() -> Theorem:
    return Theorem(
        kind="Proof",
        blocks=(
            say(
                r"Substitution of [#eq:sigmoid] into [#eq:mode] with $s, d, \pi_0, \tau$ as "
                "free symbols leaves a rational function of them and of the exponential; the "
                r"program cancels it to exactly 0, and likewise $\pi(0) - \pi_0$. Where $s$ or "
                r"$d$ vanishes identically the limits $\pi_0 / (1 + 2 d \pi_0 t/\tau)$ and "
                r"$\pi_0 e^{2 s t/\tau}$ take its place, proven in the same way."
            ),
        ),
    )


def _solutions(derivation: Derivation, group: PathwayOrbit, names: Abbreviations) -> list[Block]:
    learning = [(m, m.strength) for m in group.first.modes if not m.is_null]
    solved = [(mode, law) for mode, law in learning if law is not None][:_MOST_SOLUTIONS]
    shown = [mode for mode, _ in solved]
    if not shown:
        return []
    lines = [_formula(group, mode, names) for mode, law in solved if law.closed]
    formulas = [equation(*lines)] if lines else []
    halves = [half_time(derivation, mode, DIGITS) for mode in shown]
    table = Table(
        header=("strength", "plateau", "half-time (steps)", "multiplicity"),
        rows=tuple(
            _solution_row(group, mode, half, names)
            for mode, half in zip(shown, halves, strict=True)
        ),
        caption=typeset(_solutions_caption(derivation, group) + _without_half_times(shown, halves)),
        alignment="lccr",
    )
    title = f"Solutions of {group.title}"
    if len(shown) > _FOLDED_SOLUTIONS:
        return [Details(summary=typeset(f"{title} ({len(shown)})"), blocks=(*formulas, table))]
    return [prose(*typeset(f"{title}:")), *formulas, table]


def _formula(group: PathwayOrbit, mode: ModeDerivation, names: Abbreviations) -> str:
    """Return the line of a solution; where it is implicit, the time at which it is pi."""
    if implicit(mode):
        return implicit_formula(group, mode, names)
    return rf"{group.symbol(mode)}(t) &= {names.latex(group.strength(mode))}"


def _solutions_caption(derivation: Derivation, group: PathwayOrbit) -> str:
    caption = f"Plateaus and half-times of {group.title}."
    later = len(derivation.stages) > 1 and group.first.stage > derivation.stages[0].stage
    if not later:
        return caption
    found = derivation.ask(convergence_of)
    bounded = {bounds.label for bounds in found.half_times} if found is not None else set()
    return f"{caption} They count from the head starts below, in steps, to leading order; " + (
        "bounds for the flow of all stages together are below."
        if any(mode.label in bounded for mode in group.learning)
        else "nothing is proven of the flow of all stages together."
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
    group: PathwayOrbit, mode: ModeDerivation, half: HalfTime, names: Abbreviations
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
    if not derivation.known.plain.holds:
        return family_start(derivation)
    linear = network.activation == "linear"
    formula = r"\tfrac{1}{2} H \sigma^2" if linear else r"\tfrac{1}{4} H \sigma^2"
    share = "all" if linear else "half"
    return [
        say(
            "Initial strengths are derived, not fitted. Weights are drawn from "
            r"$\mathcal{N}(0, \sigma^2)$ with {init_std} and {hidden} hidden units. Of a "
            r"mode's two amplitudes $(a, b)$ in a unit only $(a+b)/\sqrt{2}${share}",
            init_std=Math(rf"\sigma = {fraction_latex(network.init_std)}"),
            hidden=Math(f"H = {network.hidden}"),
            share=f" grows; over the units that take part ({share} of them"
            + ("" if linear else ", a ReLU's gate being open on half of all directions")
            + ") the product starts in effect from its mean",
        ),
        equation(
            rf"\pi_0 = {formula} = {decimal_latex(*_strength0(derivation), digits=6)}.",
            label="eq:initial",
        ),
        *_own_units(derivation),
        *said_at(derivation, "start"),
        say(
            "The number of free constants is {count_free}, see [#sec:provenance].",
            count_free=Math(str(count_free(derivation.ask(printed_constants)))),
        ),
    ]


def _own_units(derivation: Derivation) -> list[Block]:
    """Return what is said of pathways with hidden units of their own; nothing without any."""
    own = [p.number for p in derivation.pathways if p.effective.pathway.hidden is not None]
    if not own:
        return []
    which = f"Pathway{'s' * (len(own) > 1)} {', '.join(map(str, own))}"
    whose = "their" if len(own) > 1 else "its"
    return [
        say(
            f"{which} with hidden units of {whose} own: "
            r"$\sigma$ is scaled there so that this mean is the same."
        )
    ]


def _strength0(derivation: Derivation) -> tuple[str, str]:
    return AlgebraicNumber.rational(Scalar.of(derivation.strength0 or 0)).decimal({}, 21)
