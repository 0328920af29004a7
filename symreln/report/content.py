"""A derivation as a document, chapter by chapter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.head_formulas import some_driven
from symreln.claims.later_stages import head_starts_of
from symreln.claims.linear_flow import is_linear
from symreln.claims.lines import derivation_lines
from symreln.claims.narrow import own_curves
from symreln.claims.pathway_orbits import mode_orbits
from symreln.claims.rules import said_at
from symreln.document.document_model import (
    Block,
    Citation,
    Document,
    Drawing,
    Equation,
    Figure,
    Math,
    Source,
    contents,
    equation,
    flat,
    inlines,
    walk,
    with_drawn,
)
from symreln.document.typeset import phrase, typeset
from symreln.document.words import Notation
from symreln.report.chapters.closing import closing_chapter
from symreln.report.chapters.data_chapter import data_chapter
from symreln.report.chapters.derivation_chapter import derivation_chapter
from symreln.report.chapters.printed_formulas import plateaus_latex
from symreln.report.chapters.result import result_chapter
from symreln.report.chapters.verdict import verdict_chapter

if TYPE_CHECKING:
    from collections.abc import Collection

    from symreln.claims.derivation import Derivation
    from symreln.document.document_model import Content, Inline
    from symreln.experiment.outcome import Validation
    from symreln.specs.spec import Spec

#: What documents cite, and where it is on the web.
_SOURCES = {
    "Jarvis2025": (
        "D. Jarvis, R. Klein, B. Rosman, A. M. Saxe: Make Haste Slowly: A Theory of Emergent "
        "Structured Mixed Selectivity in Feature Learning ReLU Networks. ICLR 2025.",
        "https://arxiv.org/abs/2503.06181",
    ),
    "Saxe2014": (
        "A. M. Saxe, J. L. McClelland, S. Ganguli: Exact solutions to the nonlinear dynamics "
        "of learning in deep linear neural networks. ICLR 2014.",
        "",
    ),
    "Saxe2019": (
        "A. M. Saxe, J. L. McClelland, S. Ganguli: A mathematical theory of semantic "
        "development in deep neural networks. PNAS 116, 2019.",
        "",
    ),
    "Saxe2022": (
        "A. M. Saxe, S. Sodhani, S. J. Lewallen: The neural race reduction: dynamics of "
        "abstraction in gated networks. ICML 2022.",
        "",
    ),
    "Chizat2019": (
        "L. Chizat, E. Oyallon, F. Bach: On Lazy Training in Differentiable Programming. "
        "NeurIPS 2019.",
        "https://arxiv.org/abs/1812.07956",
    ),
}


def derivation_document(
    derivation: Derivation,
    validation: Validation | None = None,
    figures: tuple[Drawing, ...] = (),
) -> Document:
    """Return the document of a derivation, with its confrontation where there is one.

    Args:
        derivation: What was derived.
        validation: What training showed.
        figures: Drawings by the names "gates", "vectors", "modes", "loss", and "graph" of shared
            edges; a figure whose drawing is missing is left out.
    """
    drawn = [drawing.name for drawing in figures]
    chapters = derivation_chapters(derivation, validation, drawn)
    return whole_document(derivation.spec, chapters, figures)


def derivation_chapters(
    derivation: Derivation,
    validation: Validation | None,
    drawn: Collection[str],
) -> tuple[Block, ...]:
    """Return the chapters; their figures may still be with whoever draws them.

    Args:
        derivation: What was derived.
        validation: What training showed, or None.
        drawn: Names of the figures that there will be.
    """
    notation = Notation.of(derivation.spec)
    method = None if validation is None else validation.prediction.method
    figures: tuple[Block, ...] = (_modes_figure(derivation, method),)
    trained: list[Block] = []
    if validation is not None:
        # Here, because it brings everything that trains networks.
        from symreln.report.chapters.agreement import agreement_chapters, loss_figure

        figures, trained = (loss_figure(validation), *figures), agreement_chapters(validation)
    chapters = (
        result_chapter(derivation, validation, figures, notation),
        data_chapter(derivation, notation),
        verdict_chapter(derivation),
        derivation_chapter(derivation, notation),
        *said_at(derivation, "chapter"),
        *trained,
        closing_chapter(derivation, validation),
    )
    return with_drawn(chapters, drawn)


def whole_document(
    spec: Spec,
    chapters: tuple[Block, ...],
    figures: tuple[Drawing, ...],
    subtitle: str = "Learning dynamics, derived by symreln",
) -> Document:
    """Return the document with its title, its figures, and its bibliography."""
    inner = (flat(content) for block, _ in walk(chapters) for content in contents(block))
    cited = {part.key for parts in inner for part in parts if isinstance(part, Citation)}
    return Document(
        title=spec.title or subtitle,
        subtitle=subtitle if spec.title else "",
        blocks=chapters,
        figures=figures,
        bibliography=tuple(
            Source(key=key, content=says, url=url)
            for key, (says, url) in _SOURCES.items()
            if key in cited
        ),
    )


def displayed_formulas(derivation: Derivation) -> str | None:
    """Return trajectories and loss as Jupyter draws them; None where the first page has none."""
    page = result_chapter(derivation, None, (), Notation.of(derivation.spec))
    equations = [block for block, _ in walk((page,)) if isinstance(block, Equation)]
    if not equations:  # what is integrated
        flows = [line.equation for line in derivation.ask(derivation_lines).main]
        equations = [equation(*rows) for rows in flows if r"\dot{" in "".join(rows)][-1:]
    # In the document they end sentences.
    bodies = (" \\\\\n".join(each.lines).rstrip(".,") for each in equations)
    shown = (f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$" for body in bodies)
    return "\n\n".join(shown) or None


#: What the method of a prediction from the matrices of all pathways says.
_MATRICES = "coupled matrices"


def _modes_figure(derivation: Derivation, method: str | None) -> Figure:
    """Return the figure of the strengths.

    Args:
        derivation: What is shown.
        method: How the prediction was computed that was confronted with training, in words; None
            where the figure shows the closed forms that are printed.
    """
    markers = " Markers: measured, where strengths can be attributed to a mode."
    modes = (mode for pathway in derivation.pathways for mode in pathway.modes)
    several = any(mode.multiplicity > 1 and not mode.is_null for mode in modes)
    return Figure(
        name="modes",
        caption=(
            "Predicted strengths: ",
            *inlines(_curves(derivation, method)),
            *inlines(_plateaus(derivation)),
            f".{' (2×): two equal modes.' * several}{markers * (method is not None)}",
        ),
        alt="Strength of every mode against time, one colour a pathway.",
    )


def _plateaus(derivation: Derivation) -> Content:
    groups = mode_orbits(derivation)
    settled = any(mode.d_eff is not None for group in groups for mode in group.learning)
    if derivation.later or is_linear(derivation) or not settled:
        return ()
    height = plateaus_latex(groups, decay=derivation.known.lowers_plateaus)
    return ("; thin lines are the plateaus ", Math(height))


def _curves(derivation: Derivation, method: str | None) -> Content:
    """Say whether the curves are the closed forms or the prediction, which may differ."""
    confronted = method is not None
    if is_linear(derivation):
        return phrase(r"$u^{\top} W_p(t)\, v$ of the weights")
    if derivation.later:
        return phrase(
            r"$u^{\top} W_p(t)\, v$ of the modes of the gates that hold; where these switch, "
            "curves end, and those of the next modes begin"
        )
    ahead = derivation.ask(head_starts_of)
    closed = derivation.closed and not (ahead is not None and ahead.outrun)
    if closed and (not confronted or own_curves(derivation).holds):
        curves: list[Inline] = ["closed forms"]
        if confronted and derivation.strength0 is None:
            curves.append(", from the mean of the starts that were followed")
        if some_driven(derivation):
            curves.append(", later stages from their effective starts")
        return tuple(curves)
    if confronted and not derivation.known.matrices.holds:
        return "single modes, moved by gradient descent"
    if confronted and method and _MATRICES not in method:
        return typeset(method)
    moved = "moved together by gradient descent" if confronted else "integrated together"
    return phrase(rf"$u^{{\top}} W_p(t)\, v$ of the coupled matrices of all pathways, {moved}")
