"""What is left of modes that are closed by symmetry when their starts are not equal.

Closed by symmetry, modes that couple stay equal because they start equal. Started apart, each
aligned mode follows the competitive system of :mod:`symreln.laws.competition`, if every single
coupling maps modes to modes. Where that system's couplings are definite, it comes to rest at one
point from every positive start: the plateaus s/d_eff hold, the course there does not. Where they
are singular the start decides. Where no single coupling is proven to map modes to modes, but only
the sum of all, modes that start apart may not even keep to their directions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from symreln.claims.claim import Claim
from symreln.claims.equilibria import competition_of
from symreln.claims.orbits import listed_symbols
from symreln.claims.widths import narrow_pathways
from symreln.document.model import Block, Content, Math
from symreln.document.typeset import say
from symreln.exact.truth import Truth
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.claims.derivation import Derivation, StageDerivation

    Node = tuple[int, int]

#: Strengths that are named one by one.
_MOST_NAMED = 12
#: What is said of the plateaus from unequal starts, after "their couplings are …".
_SAYS = {
    Truth.PROVEN: (
        "their couplings are definite, so the plateaus hold from every positive aligned start; "
        "closed forms, half-times and the loss in between hold from equal starts alone"
    ),
    Truth.REFUTED: (
        "their couplings are singular, so from unequal starts the plateaus differ too, in the way "
        "that the starts decide; everything that is printed of them holds from equal starts alone"
    ),
}


@dataclass(frozen=True, kw_only=True)
class _EqualStart:
    """Modes that have to start equal for what is printed of them.

    Attributes:
        modes: Symbols of their strengths.
        heights_from_unequal_starts: Whether s/d_eff is where unequal positive starts come to rest
            as well.
        meaning: What holds of them from unequal starts, as it stands after a colon.
    """

    modes: tuple[str, ...]
    heights_from_unequal_starts: Truth
    meaning: str


@dataclass(frozen=True, kw_only=True)
class _EqualStarts(Claim):
    """What the modes of a stage that is closed by symmetry owe to equal starts.

    Attributes:
        stage: Which stage.
        found: Its modes that have to start equal, those together that couple.
        assumed: Whether the prediction that is confronted with training rests on them.
        derivation: Whose modes they are.
    """

    stage: int
    found: tuple[_EqualStart, ...]
    assumed: bool
    derivation: Derivation = field(metadata={"prose": True}, repr=False)

    def says(self) -> Iterator[Block]:
        """Say what holds of the stage's modes where their starts differ."""
        groups: dict[str, tuple[str, ...]] = {}
        for each in self.found:
            groups[each.meaning] = groups.get(each.meaning, ()) + each.modes
        for index, (meaning, labels) in enumerate(groups.items()):
            yield say(
                f"{'' if index else '**Equal starts** are assumed. '}Of {{labels}}: {meaning}.",
                labels=_symbols(self.derivation, labels),
            )
        if not self.assumed:
            yield say(
                "The closed forms need equal starts. The integrated reduction follows the coupled "
                "matrices of all pathways from any start, and does not need them."
            )


def equal_starts(derivation: Derivation) -> tuple[_EqualStarts, ...]:
    """Return what stages closed by symmetry owe to equal starts, where modes couple."""
    two_layers = derivation.tau is not None and derivation.known.matrices.holds
    found = []
    for stage in derivation.stages:
        components = sorted(stage.verdict.components, key=sorted)
        coupled = [sorted(component) for component in components if len(component) > 1]
        if stage.verdict.level is Level.CLOSED_BY_SYMMETRY and coupled:
            found.append(
                _EqualStarts(
                    stage=stage.stage,
                    found=tuple(_of(derivation, stage, nodes) for nodes in coupled),
                    derivation=derivation,
                    assumed=not two_layers or bool(derivation.ask(narrow_pathways)),
                )
            )
    return tuple(found)


def _of(derivation: Derivation, stage: StageDerivation, nodes: list[Node]) -> _EqualStart:
    known = derivation.spec.has_values
    plateaus, reason = _decided(stage, nodes, derivation.spec.values if known else None)
    return _EqualStart(
        modes=tuple(
            mode.label
            for p, a in nodes
            for mode in stage.pathways[p].modes
            if mode.class_index == a
        ),
        heights_from_unequal_starts=plateaus,
        meaning=_SAYS.get(plateaus)
        or f"{reason}; their formulas are proven for equal starts alone",
    )


def _decided(
    stage: StageDerivation, nodes: list[Node], values: Mapping[str, Fraction] | None
) -> tuple[Truth, str]:
    acting = [c for c in stage.verdict.couplings.couplings if c.source in nodes]
    if any(c.target not in nodes and not c.target_class.is_null for c in acting):
        return Truth.UNDECIDED, "what they do to other modes cancels while they are equal"
    if any(c.target not in nodes or c.factors is None for c in acting):
        return Truth.UNDECIDED, (
            "only the sum of their couplings is proven to map modes to modes, and the sum needs "
            "equal strengths"
        )
    if values is None:
        return Truth.UNDECIDED, "what unequal starts come to depends on parameters without a value"
    system = competition_of(stage, nodes)
    if not system.has_lyapunov:
        return Truth.UNDECIDED, "the couplings are not symmetric"
    return (Truth.PROVEN if system.is_convex(values) else Truth.REFUTED), ""


def started_apart(derivation: Derivation, kappas: Mapping[str, float]) -> tuple[str, ...]:
    """Return the labels of modes that have to start equal and whose pathways' κ differ.

    Args:
        derivation: The derivation.
        kappas: κ by a pathway's name; pathways without one start from half of the units.
    """
    name_of = {mode.label: path.name for path in derivation.pathways for mode in path.modes}
    return tuple(
        label
        for stage in derivation.ask(equal_starts)
        for each in stage.found
        if len({kappas.get(name_of[label]) for label in each.modes}) > 1
        for label in each.modes
    )


def unequal_starts(derivation: Derivation, kappas: Mapping[str, float]) -> list[Block]:
    """Return what is said where the prediction starts modes apart that are closed by symmetry."""
    labels = started_apart(derivation, kappas)
    if not labels:
        return []
    return [
        say(
            "They differ between modes that are closed by symmetry, {labels}. The closed forms and "
            "half-times of these modes hold for equal starts, and are not the prediction here.",
            labels=_symbols(derivation, labels),
        )
    ]


def _symbols(derivation: Derivation, labels: Sequence[str]) -> Content:
    symbols = listed_symbols(derivation, labels)
    content = [part for symbol in symbols[:_MOST_NAMED] for part in (", ", Math(symbol))]
    more = len(symbols) - _MOST_NAMED
    return (*content[1:], f" and {more} more" if more > 0 else "")
