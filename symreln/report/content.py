"""A derivation as a document, chapter by chapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.report.abbreviations import abbreviations
from symreln.report.chapters.alike import alike
from symreln.report.chapters.closing import checks_chapter, provenance_chapter
from symreln.report.chapters.data import correlation_chapter, data_chapter
from symreln.report.chapters.dynamics import dynamics_chapter
from symreln.report.chapters.spectrum import MOST_ROWS, spectrum_chapter
from symreln.report.chapters.verdict import verdict_chapter
from symreln.report.document import (
    Block,
    Document,
    Drawing,
    Items,
    Reference,
    Section,
    Source,
    Strong,
    prose,
)
from symreln.report.typeset import typeset

if TYPE_CHECKING:
    from symreln.derivation import Derivation
    from symreln.validation.confront import Validation

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
    drawn = {drawing.name for drawing in figures}
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
            names=names,
        ),
    ]
    chapters += _optional(derivation)
    if validation is not None:
        # Here, because it brings everything that trains networks.
        from symreln.report.chapters.agreement import agreement_chapter

        chapters.append(agreement_chapter(validation, figures="loss" in drawn))
    chapters += [checks_chapter(derivation), provenance_chapter(derivation, validation)]
    return Document(
        title=derivation.spec.title,
        subtitle="Learning dynamics, derived by symreln",
        blocks=tuple(chapters),
        figures=figures,
        bibliography=BIBLIOGRAPHY,
    )


def _optional(derivation: Derivation) -> list[Section]:
    """Return the chapters that only some derivations have.

    Imported where they are needed: most documents have none of them.
    """
    chapters: list[Section] = []
    if derivation.exceptional is not None:
        from symreln.report.chapters import exceptional

        chapters.append(exceptional.chapter(derivation))
    if derivation.family is not None:
        from symreln.report.chapters import family

        chapters.append(family.chapter(derivation))
    return chapters


def _summary(derivation: Derivation, validation: Validation | None) -> Section:
    from symreln.truth import Truth

    proven = sum(step.outcome is Truth.PROVEN for step in derivation.steps)
    items: list[tuple] = [
        (
            "Verdict: ",
            Strong(derivation.verdict.level.value),
            ", proven in ",
            Reference("sec:verdict"),
            ".",
        ),
        (
            "Free constants in the prediction: ",
            Strong(str(derivation.free_constants)),
            ".",
        ),
        (
            f"{proven} of {len(derivation.steps)} checks are exact proofs (",
            Reference("sec:checks"),
            ").",
        ),
    ]
    if validation is not None:
        sentence = validation.sentence()
        items.append((sentence[:1].upper() + sentence[1:], " (", Reference("sec:agreement"), ")."))
        items.append(typeset(f"The prediction: {validation.prediction.method}."))
    return Section(
        title="Summary",
        label="sec:summary",
        blocks=(
            prose("What this derivation says, and how far it can be trusted:"),
            Items(tuple(items)),
        ),
    )
