"""The first page: what task and network, the verdict, the closed forms, and what agrees."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

import sympy as sp

from symreln.base.summaries import short_list
from symreln.claims.constants import constants_text, printed_constants
from symreln.claims.equilibria import equilibria_of
from symreln.claims.later_stages import head_starts_of
from symreln.claims.linear_flow import SOLUTION, is_linear
from symreln.claims.loss import loss_of
from symreln.claims.rules import rule_of, said_at
from symreln.claims.starts import printed_starts
from symreln.document.document_model import (
    Block,
    Math,
    Reference,
    Section,
    Strong,
    equation,
    prose,
)
from symreln.document.mathtext import to_latex
from symreln.document.numerals import decimal_latex, short_decimal
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import phrase, say, typeset
from symreln.document.words import Notation, scalar_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.laws.choice import expected_start, law_of
from symreln.laws.deep_chain import Depth
from symreln.laws.law import Law
from symreln.report.chapters.derivation_chapter import FIRST_EQUATIONS, written_system
from symreln.report.chapters.printed_formulas import (
    MODES,
    first_modes,
    formula_blocks,
    formulas_first,
    formulas_later,
    implicit,
    modes_table,
)
from symreln.report.summary import checks_text
from symreln.specs.number import WrittenDecimal
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from symreln.claims.derivation import Derivation
    from symreln.document.document_model import Content, Inline
    from symreln.experiment.outcome import Validation

#: What each level says of the modes that learn.
_MEANS = {
    Level.CLOSED: "every mode has a closed form, because its strength obeys an equation of its own",
    Level.CLOSED_BY_SYMMETRY: "every mode has a closed form: the modes that couple are equal, and "
    "stay equal when they start equal",
    Level.COUPLED_MODES: "there is no closed form: modes keep their directions, and their "
    "strengths obey coupled equations, which are integrated",
    Level.COUPLED_MATRICES: "there is no closed form: the strengths alone do not close, and an "
    "exact reduction to coupled matrices is integrated",
}


def result_chapter(
    derivation: Derivation,
    validation: Validation | None,
    figures: tuple[Block, ...],
    notation: Notation,
) -> Section:
    """Return the first page.

    Args:
        derivation: What was derived.
        validation: What training showed, or None.
        figures: The figures of loss and modes, where they are drawn.
        notation: How numbers are printed.
    """
    sizes = derivation.ask(rule_of("family"))
    shown = first_modes(derivation)
    blocks: list[Block] = [] if sizes is None else [*sizes.first_page()]
    blocks += said_at(derivation, "found")
    blocks.append(prose(*_verdict(derivation)))
    if validation is not None:
        # Here, because a derivation without training needs no SciPy.
        from symreln.report.chapters.agreement import outcomes_block

        blocks.insert(1, outcomes_block(validation))
    routing = derivation.ask(rule_of("routing"))
    blocks += [] if routing is None else routing.first_page()
    blocks += _formulas(derivation, notation)
    if shown:
        blocks.append(modes_table(derivation, shown, notation, label=MODES))
    page = (_opening(derivation), *blocks, *figures, _trust(derivation, validation))
    return Section(title="Result", label="sec:result", blocks=page)


def _opening(derivation: Derivation) -> Block:
    """Say what task and which network this is, and what the letters mean."""
    spec = derivation.spec
    later = (
        "; pathways of a later **stage** learn what those of earlier stages leave"
        if len(derivation.stages) > 1
        else ""
    )
    names = [f"${symbol_latex(p.name)}$" for p in spec.parameters]
    declared = f" {', '.join(names)}: parameter{'s' * (len(names) > 1)} of the data."
    return say(
        "{task} {network} It is described as a gated deep linear network: a **pathway** $p$ is "
        f"the part of the hidden units that is open on the same samples{later}. "
        r"A **mode** $\alpha$ of it is a direction of its inputs with the direction of the outputs "
        r"that it predicts: $s$ is the singular value of their correlation, $d$ the variance of "
        r"the inputs along it, and $\pi(t)$ its strength in the weights." + declared * bool(names),
        task=_described(derivation),
        network=_network(derivation),
    )


def _described(derivation: Derivation) -> Content:
    """Return what the data are; a task's own sentence has the symbols of its parameters."""
    dataset = derivation.spec.dataset
    if dataset.task:
        return typeset(dataset.description)
    return dataset.description or "A dataset given by its matrices."


def _network(derivation: Derivation) -> Content:
    network = derivation.spec.network
    if network is None:
        return "No network is named, so that time and initial strengths stay symbols."
    layers = derivation.known.layers
    deep = f" and {layers} layers of weights" if layers != 2 else ""
    kind = "ReLU" if network.activation == "relu" else network.activation
    return phrase(
        f"A {kind} network with $H = {network.hidden}$ hidden units{deep} learns it by full-batch "
        "gradient descent."
    )


def _verdict(derivation: Derivation) -> list:
    """Return the verdict in a sentence; those of stages and of later gates in one more each."""
    form = law_of(derivation.known).form if derivation.closed else Law.form
    level = derivation.level
    means = _MEANS[level].replace(Law.form, form)
    content: list = [f"Verdict{derivation.until_text}: ", Strong(level.value), f"; {means}."]
    if is_linear(derivation):
        content = [*content[:2], "; single strengths do not close, but the weights themselves do."]
    levels = [(stage.stage, stage.verdict.level) for stage in derivation.stages]
    if len({level for _, level in levels}) > 1:
        each = "; ".join(f"stage {stage} is {level.value}" for stage, level in levels)
        content.append(f" By stages: {each}.")
    for begin, phase in derivation.phases[1:]:
        later = f" From step {begin} on, with other gates: "
        content += [later, Strong(phase.level.value), " (", Reference("sec:phases"), ")."]
    return [*content, " The proof is in ", Reference("sec:verdict"), "."]


def _formulas(derivation: Derivation, notation: Notation) -> Iterator[Block]:
    """Yield the trajectories and the loss, or what is integrated in their place."""
    if derivation.closed:
        yield from formula_blocks(formulas_first(derivation), notation)
        yield from _implicit(derivation)
        if formulas_later(derivation):
            which = " of the other modes" * bool(formulas_first(derivation))
            yield prose(f"The closed forms{which} are in the full document and the JSON.")
        yield from derivation.ask(loss_of).says()
        yield _origins(derivation)
        return
    for stage in derivation.stages:
        system = written_system(derivation, stage)
        if system is not None and len(system.lines) <= FIRST_EQUATIONS:
            yield say("Modes compete; the strengths of an aligned start obey [@Saxe2022]")
            yield system
    yield from _winners(derivation)
    if is_linear(derivation):
        yield say(r"With one layer, strengths are $\pi = u^{\top} W_p v$ of the weights")
        yield equation(SOLUTION[0], f"{SOLUTION[2]}.")
    yield say(
        "The equations that are integrated are in [#sec:lines]. "
        * (not is_linear(derivation))
        + "The loss starts from {initial} with all outputs zero. The least value that the pathways "
        "can reach{later} is {final}.",
        initial=Math(scalar_latex(derivation.initial_loss, notation)),
        final=Math(scalar_latex(derivation.least_loss, notation)),
        later=" with the gates taken last" if derivation.later else "",
    )
    yield _origins(derivation)


def _implicit(derivation: Derivation) -> Iterator[Block]:
    """Say what T is, where the time is a function of the strength."""
    modes = (mode for pathway in derivation.pathways for mode in pathway.modes if implicit(mode))
    for mode in islice(modes, 1):
        assert isinstance(mode.strength, Depth)
        yield say(r"Here $\rho_0$ is the $\rho$ of $\pi_0$, and")
        yield equation(rf"T(\rho) = {to_latex(mode.strength.stage)}.")


def _winners(derivation: Derivation) -> Iterator[Block]:
    """Say which modes are left in the end where modes compete for what they learn."""
    found = derivation.ask(equilibria_of)
    for race in () if found is None else found.competitions:
        if race.phi is not None:
            gone = [", and ", *_listed(list(race.losers)), " at 0"] if race.losers else []
            rest = "From every positive start the strengths come to rest at one point. There "
            yield prose(rest, *_listed(list(race.winners)), " are above 0", *gone, ".")


def _listed(labels: list[str], most: int = 8) -> list:
    content: list = [part for label in labels[:most] for part in (", ", Math(symbol_latex(label)))]
    more = len(labels) - most
    return [*content[1:], *([f" and {more} more"] if more > 0 else [])]


def _origins(derivation: Derivation) -> Block:
    """Say what time and the initial strengths are, and where they come from."""
    if derivation.spec.network is None or derivation.tau is None:
        return say(
            r"Time $t$ counts steps in units of which $\tau$ is $1/\eta$ for a mean loss and "
            r"$1/(P\eta)$ for a sum over samples, with the learning rate $\eta$; the strengths "
            r"start from $\pi_0$."
        )
    content = [*_time_constant_content(derivation), *_start_content(derivation)]
    ahead = derivation.ask(head_starts_of)
    if ahead is not None and ahead.tabled:
        content += phrase(
            r" In later stages $\tilde{\pi}_0$ is the effective start that earlier stages leave "
            "([#tab:headstarts])."
        )
    return prose(*content)


def _trust(derivation: Derivation, validation: Validation | None) -> Block:
    """Say what was proven, and which numbers of the prediction are free."""
    found = derivation.ask(printed_constants) if validation is None else validation.constants
    return say(
        f"Checks: {checks_text(derivation)}. F{{rest}} ([#sec:provenance]).",
        rest=typeset(constants_text(found)[1:]),
    )


def _time_constant_content(derivation: Derivation) -> tuple[Inline, ...]:
    """Say what time counts, and the time constant of a network."""
    network, tau = derivation.spec.network, derivation.tau
    assert network is not None
    assert tau is not None
    half = derivation.known.half_speed.holds
    top, below = 2 if half else 1, r"(P \eta)" if network.loss == "sum" else r"\eta"
    # A decimal of few places where the rate was written as one, else a fraction if short.
    shown = short_decimal(tau) if isinstance(network.learning_rate, WrittenDecimal) else None
    if shown is None:
        short = max(len(str(tau.numerator)), len(str(tau.denominator))) <= 6
        shown = to_latex(sp.Rational(tau.numerator, tau.denominator)) if short else _decimal(tau)
    twice = " (twice that of a linear network: [#sec:lines])" * half
    return phrase(
        "Time $t$ counts full-batch steps; the time constant is {tau} steps" + twice + ". ",
        tau=Math(rf"\tau = {top}/{below} = {shown}"),
    )


def _start_content(derivation: Derivation) -> tuple[Inline, ...]:
    """Say where strengths start: π₀, with κ of the pathways that have one."""
    if derivation.given_start is not None:
        start = _decimal(derivation.given_start)
        return phrase(rf"Strengths start where was asked, at $\pi_0 = {start}$.")
    if derivation.by_edges:
        return ("Weights start as they are drawn; predicted is the mean over draws.",)
    if derivation.strength0 is None:
        return phrase(
            f"The initial strength of a product of {derivation.known.layers} random matrices "
            r"is not derived: the formulas hold for any $\pi_0$. `symreln validate` and "
            "`evaluate()` in Python follow single modes of random layers to predict it."
        )
    content: list[Inline] = []
    starts = derivation.ask(printed_starts)
    for place, each in enumerate(starts):
        begin = "; " if place else "The initial strength is "
        where = "" if len(starts) == 1 else f" in {short_list(each.pathways)}"
        if each.kappa is None:
            formula, origin = "", ", expected of the initialisation distribution"
        else:
            formula = r"\tfrac{1}{2} \kappa H \sigma^2 = "
            origin = ", with the Monte Carlo estimate κ = {} ± {:.2g}".format(*each.kappa)
        shown = Math(rf"\pi_0 = {formula}{_decimal(each.strength0)}")
        content += [begin, shown, *typeset(where + origin)]
    return (*content, *_apart(derivation), ".")


def _apart(derivation: Derivation) -> tuple[Inline, ...]:
    """Say what is conserved of layers that start apart."""
    imbalance = expected_start(derivation.known).imbalance
    if not imbalance:
        return ()
    return phrase(
        r", with the conserved product $\delta = |a + b|\,|a - b| = "
        rf"{decimal_latex(str(imbalance), digits=6)}$ of its amplitudes' sum and difference "
        "(vectors over the hidden units)"
        + ", which decays under weight decay"
        * derivation.known.lowers_plateaus
    )


def _decimal(value: Fraction) -> str:
    """Return an initial strength as it is printed everywhere: a decimal, with its error if any."""
    return decimal_latex(*AlgebraicNumber.rational(Scalar.of(value)).decimal({}, 21), digits=6)
