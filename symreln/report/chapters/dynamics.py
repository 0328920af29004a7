"""Mode equations, their solutions, initial strengths and the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from symreln.claims.constants import count_of_printed
from symreln.claims.head_formulas import some_driven
from symreln.claims.later_stages import head_starts_of
from symreln.claims.linear_flow import is_linear
from symreln.claims.orbits import mode_orbits, plateaus_latex
from symreln.claims.rules import said_at
from symreln.claims.starts import printed_starts
from symreln.claims.widths import own_curves
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Details, Figure, Math, Section, Theorem, equation, prose
from symreln.document.typeset import say, typeset
from symreln.document.words import fraction_latex
from symreln.laws.choice import law_of
from symreln.laws.two_layer import TwoLayer
from symreln.report.chapters.formulas import formula_blocks, formulas_later
from symreln.report.chapters.loss import any_coupled, loss_written_out
from symreln.report.chapters.reductions import matrix_reduction, not_closed
from symreln.report.chapters.solution import (
    HALF_SPEED,
    family_solution,
    family_start,
    other_family,
    start_content,
    time_constant,
    time_constant_latex,
    whole_matrices,
)

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.document.inlines import Inline
    from symreln.report.abbreviations import Abbreviations

#: What the method of a prediction from the matrices of all pathways says.
MATRICES = "coupled matrices"
#: Solutions that are printed one by one; the rest is in derivation.json.
#: Solutions of a pathway above which they are folded away on a page.
_FOLDED_SOLUTIONS = 8


#: What the caption of the strengths says of names and of trained networks.
_NAMED = (
    " ",
    Math(r"\pi_{p,\alpha}"),
    " stands beside its curve where there is room, (2×) for two equal modes; the tables have all.",
)
_MEASURED = (" Markers are measured strengths, where they can be attributed to a mode.",)


def dynamics_chapter(derivation: Derivation, names: Abbreviations) -> Section:
    """Return the chapter on the dynamics.

    Args:
        derivation: What is shown.
        names: What the spectrum's chapter calls the long parts of formulas.
    """
    blocks: list[Block] = [_time_paragraph(derivation)]
    if derivation.closed:
        blocks += _closed(derivation, names)
    else:
        blocks += not_closed(derivation)
    blocks += [*said_at(derivation, "end"), *_initial(derivation), *whole_matrices(derivation)]
    return Section(title="Dynamics", blocks=tuple(blocks), label="sec:dynamics")


def modes_figure(derivation: Derivation, *, confronted: bool, method: str) -> Figure:
    """Return the figure of the strengths.

    Args:
        derivation: What is shown.
        confronted: Whether it shows the prediction that was confronted with training, rather than
            the closed forms that are printed.
        method: How that prediction was computed, in words.
    """
    return Figure(
        name="modes",
        caption=(
            *_figure_caption(derivation, confronted, method),
            *_NAMED,
            *(_MEASURED if confronted else ()),
        ),
        alt="Strength of every mode against time, one colour a pathway.",
    )


def _figure_caption(
    derivation: Derivation, confronted: bool, method: str
) -> tuple[str | Inline, ...]:
    """Say whether the curves are the closed forms or the prediction, which may differ."""
    height = plateaus_latex(mode_orbits(derivation), decay=derivation.known.lowers_plateaus)
    heights = ("thin lines are the plateaus ", Math(height), ".")
    if is_linear(derivation):
        return ("Predicted strengths, ", Math(r"u^{\top} W_p(t)\, v"), " of the weights.")
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
        later = "; later stages begin at their head starts" if some_driven(derivation) else ""
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
        content += [
            "With learning rate ",
            Math(rf"\eta = {fraction_latex(network.learning_rate)}"),
            f" and training on the {network.loss} over samples, the time constant is ",
            Math(rf"\tau = {formula} = {time_constant_latex(derivation)}"),
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
        blocks.append(_later_stages(derivation))
    blocks += _other_solutions(derivation, names)
    blocks += loss_written_out(derivation, names)
    if len(derivation.stages) > 1:
        blocks += matrix_reduction()
    return blocks


def _later_stages(derivation: Derivation) -> Block:
    starts = (
        "While the earlier ones still learn, it is driven by more than that. Its closed forms "
        "account for this by the effective start $\\tilde{\\pi}_0$, derived below."
        if some_driven(derivation)
        else "What the earlier ones have still to learn drives none of its modes, so that they too "
        "start from $\\pi_0$."
    )
    return say(
        f"A later stage learns what the earlier ones leave. {starts} The matrix reduction, also "
        "below, follows all pathways together."
    )


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
            "Gradient descent takes finite steps. In the formulas of [#sec:result] "
            "$(1 + s/\\tau)^{-2t}$ therefore stands for $e^{-2 s t/\\tau}$ ([#sec:lines])."
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


def _other_solutions(derivation: Derivation, names: Abbreviations) -> list[Block]:
    """Return the solutions that are not on the first page, folded where they are many."""
    others = formulas_later(derivation)
    blocks = formula_blocks(others, names)
    if sum(len(chosen.modes) for chosen in others) > _FOLDED_SOLUTIONS:
        return [Details(summary="The solutions of the other modes", blocks=tuple(blocks))]
    return blocks


def _initial(derivation: Derivation) -> list[Block]:
    network = derivation.spec.network
    if network is None:
        return []
    if not derivation.known.plain.holds:
        return [*family_start(derivation), *said_at(derivation, "start")]
    if derivation.given_start is not None:
        return [prose(*start_content(derivation), "."), count_of_printed(derivation)]
    starts = derivation.ask(printed_starts)
    linear = network.activation == "linear"
    share = "all units: $\\kappa = 1$" if linear else "half of the units: $\\kappa = 1/2$"
    estimated = any(each.kappa is not None for each in starts)
    units = (
        "Which share $\\kappa$ of all units takes part, each weighted with what it grows into, is "
        "a Monte Carlo estimate over isolated hidden units in the early phase"
        + f"; where no early phase says it, {share}"
        * any(each.kappa is None for each in starts)
        if estimated
        else f"Taking part are {share}"
    )
    return [
        say(
            "Initial strengths follow from the initialisation distribution; none is fitted. "
            r"Weights are drawn from $\mathcal{N}(0, \sigma^2)$ with {init_std} and {hidden} "
            "hidden units. Let $a$ and $b$ be the amplitudes of a mode in the two layers of one "
            r"unit. Only $(a+b)/\sqrt{2}$ grows. "
            f"{units}. Over them the product starts in effect from its mean",
            init_std=Math(rf"\sigma = {fraction_latex(network.init_std)}"),
            hidden=Math(f"H = {network.hidden}"),
        ),
        equation(r"\pi_0 = \tfrac{1}{2} \kappa H \sigma^2.", label="eq:initial"),
        prose(*start_content(derivation), "."),
        *_own_units(derivation),
        *said_at(derivation, "start"),
        count_of_printed(derivation),
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
