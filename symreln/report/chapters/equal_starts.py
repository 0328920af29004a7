"""What modes that are closed by symmetry owe to equal starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.equal_starts import equal_starts, grouped, started_apart
from symreln.claims.widths import narrow_pathways
from symreln.document.model import Block, Inline, Math, Strong, prose
from symreln.document.symbols import symbol_latex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.derivation import Derivation, StageDerivation

#: Strengths that are named one by one.
MOST_NAMED = 12


def equal_start_blocks(derivation: Derivation, stage: StageDerivation) -> list[Block]:
    """Return what holds of a stage's modes that couple where their starts differ."""
    own = {mode.label for pathway in stage.pathways for mode in pathway.modes}
    found = [each for each in equal_starts(derivation) if each.labels[0] in own]
    blocks: list[Block] = [
        prose(
            *([Strong("Equal starts"), " are assumed. Of "] if index == 0 else ["Of "]),
            *_named(labels),
            f": {sentence}.",
        )
        for index, (labels, sentence) in enumerate(grouped(found))
    ]
    network = derivation.spec.network
    if (
        found
        and network is not None
        and network.layers == 2
        and not derivation.ask(narrow_pathways)
    ):
        blocks.append(
            prose(
                "The prediction that is confronted with training does not rest on them: it "
                "descends with the coupled matrices of all pathways, wherever each one starts."
            )
        )
    return blocks


def unequal_start_blocks(derivation: Derivation, kappas: Mapping[str, float]) -> list[Block]:
    """Return what is said where the prediction starts modes apart that are closed by symmetry.

    Args:
        derivation: What is confronted.
        kappas: κ of pathways by name; pathways without one start from half of the units.
    """
    labels = started_apart(derivation, kappas)
    if not labels:
        return []
    return [
        prose(
            "They differ between modes that are closed by symmetry, ",
            *_named(labels),
            ": closed forms and half-times of these are those of equal starts, and are not what "
            "is predicted here.",
        )
    ]


def _named(labels: tuple[str, ...]) -> list[str | Inline]:
    content: list[str | Inline] = []
    for label in labels[:MOST_NAMED]:
        content += [", " if content else "", Math(symbol_latex(label))]
    more = len(labels) - MOST_NAMED
    return [*content, f" and {more} more"] if more > 0 else content
