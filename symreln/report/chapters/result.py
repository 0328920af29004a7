"""The first page: the verdict, the closed forms and the loss, the modes, and what agrees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.constants import Constant, free_constants, printed_constants
from symreln.claims.equilibria import equilibria_of
from symreln.claims.families.claim import every_size
from symreln.claims.later_stages import head_starts_of
from symreln.claims.linear_flow import is_linear
from symreln.claims.phases import until_text
from symreln.document.model import Block, Items, Math, Reference, Section, Strong, prose
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import phrase, say, typeset
from symreln.document.words import Notation, scalar_latex
from symreln.exact.truth import Truth
from symreln.laws.choice import law_of
from symreln.laws.law import Law
from symreln.report.chapters.formulas import (
    MODES,
    first_modes,
    formula_blocks,
    formulas_first,
    formulas_later,
    modes_table,
)
from symreln.report.chapters.loss import loss_equation
from symreln.report.chapters.reductions import linear_solution, matrix_equations, mode_equations
from symreln.report.chapters.solution import start_content, time_constant_latex
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from symreln.claims.derivation import Derivation, Derived
    from symreln.claims.equilibria import Race
    from symreln.document.inlines import Content
    from symreln.experiment.outcome import Validation
    from symreln.report.abbreviations import Abbreviations

#: What each level says of the modes that learn.
MEANS = {
    Level.CLOSED: "every mode has a closed form, because its strength obeys an equation of its own",
    Level.CLOSED_BY_SYMMETRY: "every mode has a closed form: the modes that couple are equal, and "
    "stay equal when they start equal",
    Level.COUPLED_MODES: "there is no closed form: modes keep their directions, and their "
    "strengths obey coupled equations, which are integrated",
    Level.COUPLED_MATRICES: "there is no closed form: the strengths alone do not close, and an "
    "exact reduction to coupled matrices is integrated",
}


def verdict_sentence(level: Level, until: str = "", form: str = Law.form) -> tuple:
    """Return the verdict and what it says of the modes.

    Args:
        level: The verdict.
        until: Up to which step it holds, as :func:`symreln.claims.phases.until_text` says.
        form: What modes that evolve on their own have.
    """
    means = MEANS[level].replace(Law.form, form)
    return (f"Verdict{until}: ", Strong(level.value), f"; {means}.")


def result_chapter(
    derivation: Derivation,
    validation: Validation | None,
    figures: tuple[Block, ...],
    names: Abbreviations,
) -> Section:
    """Return the first page.

    Args:
        derivation: What was derived.
        validation: What training showed, or None.
        figures: The figures of loss and modes, where they are drawn.
        names: What the document calls long parts of formulas.
    """
    sizes = derivation.ask(every_size)
    shown = first_modes(derivation)
    blocks: list[Block] = [] if sizes is None else [*sizes.first_page()]
    blocks.append(prose(*_verdict(derivation)))
    blocks += _formulas(derivation, names)
    if shown:
        blocks.append(modes_table(derivation, shown, names, label=MODES))
    blocks += figures
    return first_page(blocks, derivation, validation)


def _verdict(derivation: Derivation) -> list:
    """Return the verdict in a sentence; those of stages and of later gates in one more each."""
    form = law_of(derivation.known).form if derivation.closed else Law.form
    content: list = [*verdict_sentence(derivation.level, until_text(derivation.spec), form)]
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


def _formulas(derivation: Derivation, names: Abbreviations) -> Iterator[Block]:
    """Yield the trajectories and the loss, or the equations that are integrated in their place."""
    if derivation.closed:
        if law_of(derivation.known).closed:
            yield from formula_blocks(formulas_first(derivation), names)
        else:
            yield say("The strengths obey [#eq:mode], which is integrated.")
        if formulas_later(derivation):
            which = " of the other modes" * bool(formulas_first(derivation))
            yield say(f"The closed forms{which} are in [#sec:dynamics].")
        yield from names.blocks()
        yield from loss_equation(derivation)
        yield _origins(derivation)
        return
    if any(stage.verdict.level is Level.COUPLED_MODES for stage in derivation.stages):
        yield from mode_equations()
        yield from _winners(derivation)
    if derivation.level is Level.COUPLED_MATRICES:
        yield from linear_solution() if is_linear(derivation) else matrix_equations()
    yield from names.blocks()
    notation = Notation.of(derivation.spec)
    yield say(
        "The loss starts from {initial} with all outputs zero. The least value that the pathways "
        "can reach{later} is {final}.",
        initial=Math(scalar_latex(derivation.initial_loss, notation)),
        final=Math(scalar_latex(derivation.least_loss, notation)),
        later=" with the gates taken last" if derivation.later else "",
    )


def _winners(derivation: Derivation) -> Iterator[Block]:
    """Say which modes are left in the end where modes compete for what they learn."""
    found = derivation.ask(equilibria_of)
    for race in () if found is None else found.competitions:
        if race.end is not None:
            yield prose(*_winners_of(race))


def _winners_of(race: Race) -> list:
    left, gone = list(race.winners), list(race.losers)
    content: list = ["From every positive start the strengths come to rest at one point."]
    content += [" There ", *_listed(left), " are above 0"]
    return [*content, *([", and ", *_listed(gone), " at 0"] if gone else []), "."]


def _listed(labels: list[str], most: int = 8) -> list:
    content: list = [part for label in labels[:most] for part in (", ", Math(symbol_latex(label)))]
    more = len(labels) - most
    return [*content[1:], *([f" and {more} more"] if more > 0 else [])]


def _origins(derivation: Derivation) -> Block:
    """Say what time and the initial strengths are, and where they come from."""
    network = derivation.spec.network
    if network is None or derivation.tau is None:
        return say(
            r"The spec names no network: the time constant $\tau$ and the initial strength "
            r"$\pi_0$ stay symbols ([#sec:dynamics])."
        )
    content: list = [
        *phrase("Time $t$ counts full-batch steps; the time constant is "),
        Math(rf"\tau = {time_constant_latex(derivation)}"),
        " steps.",
    ]
    if derivation.strength0 is not None:
        content += [" ", *start_content(derivation), " (", Reference("sec:dynamics"), ")."]
    ahead = derivation.ask(head_starts_of)
    if ahead is not None and ahead.tabled:
        content += phrase(
            r" In later stages $\tilde{\pi}_0$ is the effective start that earlier stages leave "
            "([#tab:headstarts])."
        )
    return prose(*content)


def first_page(blocks: list[Block], derivation: Derived, validation: Validation | None) -> Section:
    """Return the first page of some blocks: with what agrees, and with what was proven."""
    if validation is not None:
        # Here, because a derivation without training needs no SciPy.
        from symreln.report.chapters.judgement import agreement_table, outcomes_block

        blocks = [blocks[0], outcomes_block(validation), *blocks[1:], agreement_table(validation)]
    trusted = _trust(derivation, validation)
    return Section(title="Result", label="sec:result", blocks=(*blocks, trusted))


def _trust(derivation: Derived, validation: Validation | None) -> Items:
    """Say what was proven, and which numbers of the prediction are free."""
    proven = sum(step.outcome is Truth.PROVEN for step in derivation.steps)
    return Items(
        (
            (
                f"{proven} of {len(derivation.steps)} checks are exact proofs (",
                Reference("sec:checks"),
                ").",
            ),
            _free(
                derivation.ask(printed_constants) if validation is None else validation.constants
            ),
        )
    )


def _free(constants: tuple[Constant, ...]) -> Content:
    count, names = free_constants(constants)
    return (
        "Free constants: ",
        Strong(str(count)),
        *typeset(names),
        ", from ",
        Reference("sec:provenance"),
        ".",
    )
