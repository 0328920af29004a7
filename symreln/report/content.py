"""A derivation as a document, chapter by chapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.alike import alike
from symreln.claims.constants import count_free, printed_constants
from symreln.claims.exceptional.sets import exceptional_sets
from symreln.claims.regime import regime_of
from symreln.document.mathtext import to_latex
from symreln.document.model import (
    Block,
    Document,
    Drawing,
    Items,
    Math,
    Reference,
    Section,
    Source,
    Strong,
    prose,
)
from symreln.document.typeset import typeset
from symreln.report.abbreviations import abbreviations
from symreln.report.chapters.closing import checks_chapter, provenance_chapter
from symreln.report.chapters.data import correlation_chapter, data_chapter
from symreln.report.chapters.dynamics import dynamics_chapter
from symreln.report.chapters.spectrum import MOST_ROWS, spectrum_chapter
from symreln.report.chapters.verdict import verdict_chapter

if TYPE_CHECKING:
    from collections.abc import Collection

    from symreln.claims.derivation import Derivation
    from symreln.claims.families.derivation import FamilyDerivation
    from symreln.experiment.confront import Validation

BIBLIOGRAPHY = (
    Source(
        key="Jarvis2025",
        content=(
            "D. Jarvis, R. Klein, B. Rosman, A. M. Saxe: Make Haste Slowly: A Theory of Emergent "
            "Structured Mixed Selectivity in Feature Learning ReLU Networks. ICLR 2025."
        ),
        url="https://arxiv.org/abs/2503.06181",
    ),
    Source(
        key="Saxe2014",
        content=(
            "A. M. Saxe, J. L. McClelland, S. Ganguli: Exact solutions to the nonlinear dynamics "
            "of learning in deep linear neural networks. ICLR 2014."
        ),
    ),
    Source(
        key="Saxe2019",
        content=(
            "A. M. Saxe, J. L. McClelland, S. Ganguli: A mathematical theory of semantic "
            "development in deep neural networks. PNAS 116, 2019."
        ),
    ),
    Source(
        key="Saxe2022",
        content=(
            "A. M. Saxe, S. Sodhani, S. J. Lewallen: The neural race reduction: dynamics of "
            "abstraction in gated networks. ICML 2022."
        ),
    ),
)

#: Cited where initial weights are large.
LAZY = Source(
    key="Chizat2019",
    content=(
        "L. Chizat, E. Oyallon, F. Bach: On Lazy Training in Differentiable Programming. "
        "NeurIPS 2019."
    ),
    url="https://arxiv.org/abs/1812.07956",
)


def derivation_document(
    derivation: Derivation,
    validation: Validation | None = None,
    figures: tuple[Drawing, ...] = (),
) -> Document:
    """Return the document of a derivation, with its confrontation where there is one.

    Args:
        derivation: What was derived.
        validation: What training showed.
        figures: Drawings by the names "gates", "spectrum", "modes" and "loss"; a figure whose
            drawing is missing is left out.
    """
    drawn = [drawing.name for drawing in figures]
    chapters = derivation_chapters(derivation, validation, drawn)
    return whole_document(derivation, chapters, figures)


def derivation_chapters(
    derivation: Derivation, validation: Validation | None, drawn: Collection[str]
) -> tuple[Block, ...]:
    """Return the chapters; their figures may still be with whoever draws them.

    Args:
        derivation: What was derived.
        validation: What training showed, or None.
        drawn: Names of the figures that there will be.
    """
    names = abbreviations(derivation, alike(derivation), MOST_ROWS)
    chapters: list[Block] = [
        _summary(derivation, validation),
        data_chapter(derivation, figures="gates" in drawn),
        correlation_chapter(derivation),
        spectrum_chapter(derivation, figures="spectrum" in drawn, names=names),
        verdict_chapter(derivation),
        dynamics_chapter(
            derivation,
            figures="modes" in drawn,
            confronted=validation is not None,
            method="" if validation is None else validation.prediction.method,
            names=names,
        ),
    ]
    chapters += _optional(derivation)
    if validation is not None:
        # Here, because it brings everything that trains networks.
        from symreln.report.chapters.agreement import agreement_chapter

        chapters.append(agreement_chapter(validation, figures="loss" in drawn))
    if validation is not None and validation.representations is not None:
        from symreln.report.chapters.representations import representation_chapter

        chapters.append(
            representation_chapter(
                validation.representations,
                validation.network_name,
                figures="representations" in drawn,
            )
        )
    chapters += [checks_chapter(derivation), provenance_chapter(derivation, validation)]
    return tuple(chapters)


def whole_document(
    derivation: Derivation, chapters: tuple[Block, ...], figures: tuple[Drawing, ...]
) -> Document:
    """Return the document with its title, its figures and its bibliography."""
    regime = derivation.ask(regime_of)
    return Document(
        title=derivation.spec.title,
        subtitle="Learning dynamics, derived by symreln",
        blocks=chapters,
        figures=figures,
        bibliography=BIBLIOGRAPHY + (LAZY,) * (regime is not None and regime.is_lazy),
    )


def _optional(derivation: Derivation) -> list[Section]:
    """Return the chapters that only some derivations have.

    Imported where they are needed: most documents have none of them.
    """
    chapters: list[Section] = []
    if derivation.ask(exceptional_sets) is not None:
        from symreln.report.chapters import exceptional

        chapters.append(exceptional.chapter(derivation))
    if derivation.family is not None:
        from symreln.report.chapters import family

        chapters.append(family.chapter(derivation))
    if derivation.later:
        from symreln.report.chapters import phases

        chapters.append(phases.phases_chapter(derivation))
    return chapters


def _every_size(family: FamilyDerivation) -> tuple:
    """Say where the answer for every size is, and for which one the other sections are."""
    from symreln.truth import Truth

    proven = sum(step.outcome is Truth.PROVEN for step in family.steps)
    says = "has the answer" if family.complete else "says how far the answer holds"
    checks = f" ({proven} of {len(family.steps)} checks of its own are exact proofs)"
    symbols = [(", ", Math(to_latex(size.symbol))) for size in family.sizes]
    values = [(", ", Math(f"{to_latex(size.symbol)} = {size.value}")) for size in family.sizes]
    return (
        "Every size: ",
        Reference("sec:family"),
        f" {says} with ",
        *[part for pair in symbols for part in pair][1:],
        f" as {'a symbol' if len(symbols) == 1 else 'symbols'}",
        checks if family.complete else "",
        "; all other sections are for ",
        *[part for pair in values for part in pair][1:],
        ".",
    )


def _until(derivation: Derivation) -> str:
    return f" up to step {derivation.spec.switches[0]}" if derivation.later else ""


def _later_verdicts(derivation: Derivation) -> list[tuple]:
    """Say what is decided for the gates after each switch."""
    return [
        (
            f"Verdict from step {begin}: ",
            Strong(phase.verdict.level.value),
            ", in ",
            Reference("sec:phases"),
            ".",
        )
        for begin, phase in derivation.phases[1:]
    ]


def _summary(derivation: Derivation, validation: Validation | None) -> Section:
    from symreln.truth import Truth

    proven = sum(step.outcome is Truth.PROVEN for step in derivation.steps)
    items: list[tuple] = [
        (
            f"Verdict{_until(derivation)}: ",
            Strong(derivation.verdict.level.value),
            ", proven in ",
            Reference("sec:verdict"),
            ".",
        ),
        *_later_verdicts(derivation),
        (
            "Free constants in the formulas: ",
            Strong(str(count_free(derivation.ask(printed_constants)))),
            ", listed in ",
            Reference("sec:provenance"),
            ".",
        ),
        (
            f"{proven} of {len(derivation.steps)} checks are exact proofs (",
            Reference("sec:checks"),
            ").",
        ),
    ]
    if derivation.family is not None:
        items.append(_every_size(derivation.family))
    if validation is not None:
        items += [typeset(f"{each[:1].upper()}{each[1:]}.") for each in validation.clauses()]
        items.append(("Theory against training: ", Reference("sec:agreement"), "."))
        items.append(typeset(f"The prediction: {validation.prediction.method}."))
    return Section(
        title="Summary",
        label="sec:summary",
        blocks=(
            prose("What this derivation says, and how far it can be trusted:"),
            Items(tuple(items)),
        ),
    )
