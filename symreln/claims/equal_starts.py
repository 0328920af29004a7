"""What is left of modes that are closed by symmetry when their starts are not equal.

Closed by symmetry, modes that couple stay equal because they start equal. Started apart, each
aligned mode follows the competitive system of :mod:`symreln.dynamics.competition`, if every single
coupling maps modes to modes. Where that system's couplings are definite, it comes to rest at one
point from every positive start: the heights s/d_eff hold, the course there does not. Where they
are singular the start decides. Where no single coupling is proven to map modes to modes, but only
the sum of all, modes that start apart may not even keep to their directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symreln.dynamics.competition import Competition
from symreln.truth import Truth
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from symreln.claims.derivation import Derivation, StageDerivation

    Node = tuple[int, int]

#: What is said of the heights from unequal starts, after "their couplings are …".
SAYS = {
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
class EqualStart:
    """Modes that have to start equal for what is printed of them.

    Attributes:
        labels: Symbols of their strengths.
        heights: Whether s/d_eff is where unequal positive starts come to rest as well.
        reason: Why that is undecided; empty where it is decided.
    """

    labels: tuple[str, ...]
    heights: Truth
    reason: str

    @property
    def sentence(self) -> str:
        """What holds of them from unequal starts, as it stands after a colon."""
        return SAYS.get(self.heights) or (
            f"{self.reason}; what is printed of them is proven for equal starts alone"
        )


def equal_starts(derivation: Derivation) -> tuple[EqualStart, ...]:
    """Return the modes of stages closed by symmetry that have to start equal."""
    values = derivation.spec.values
    known = all(parameter.value is not None for parameter in derivation.spec.parameters)
    return tuple(
        _of(stage, sorted(component), values if known else None)
        for stage in derivation.stages
        if stage.verdict.level is Level.CLOSED_BY_SYMMETRY
        for component in sorted(stage.verdict.components, key=sorted)
        if len(component) > 1
    )


def _of(
    stage: StageDerivation, nodes: list[Node], values: Mapping[str, Fraction] | None
) -> EqualStart:
    labels = tuple(
        mode.label for p, a in nodes for mode in stage.pathways[p].modes if mode.class_index == a
    )
    heights, reason = _decided(stage, nodes, values)
    return EqualStart(labels=labels, heights=heights, reason=reason)


def _decided(
    stage: StageDerivation, nodes: list[Node], values: Mapping[str, Fraction] | None
) -> tuple[Truth, str]:
    place = {node: index for index, node in enumerate(nodes)}
    acting = [c for c in stage.verdict.couplings.couplings if c.source in place]
    if any(c.target not in place and not c.target_class.is_null for c in acting):
        return Truth.UNDECIDED, "what they do to other modes cancels while they are equal"
    if any(c.target not in place or c.factors is None for c in acting):
        return Truth.UNDECIDED, (
            "no single coupling is proven to map modes to modes, only the sum of all is, and that "
            "takes equal strengths"
        )
    if values is None:
        return Truth.UNDECIDED, "what unequal starts come to depends on parameters without a value"
    system = Competition(
        classes=tuple(stage.pathways[p].spectrum.classes[a] for p, a in nodes),
        factors={
            (place[c.target], place[c.source]): c.factors for c in acting if c.factors is not None
        },
    )
    if not system.has_lyapunov:
        return Truth.UNDECIDED, "the couplings are not symmetric"
    return (Truth.PROVEN if system.is_convex(values) else Truth.REFUTED), ""


def grouped(found: Sequence[EqualStart]) -> list[tuple[tuple[str, ...], str]]:
    """Return (labels, what holds of them from unequal starts), equal sentences together."""
    groups: dict[str, tuple[str, ...]] = {}
    for each in found:
        groups[each.sentence] = groups.get(each.sentence, ()) + each.labels
    return [(labels, sentence) for sentence, labels in groups.items()]


def started_apart(derivation: Derivation, kappas: Mapping[str, float]) -> tuple[str, ...]:
    """Return the labels of modes that have to start equal and whose pathways' κ differ.

    Args:
        derivation: The derivation.
        kappas: κ by a pathway's name.
    """
    name_of = {mode.label: path.name for path in derivation.pathways for mode in path.modes}
    return tuple(
        label
        for each in equal_starts(derivation)
        if len({kappas.get(name_of[label]) for label in each.labels}) > 1
        for label in each.labels
    )


def equal_starts_to_json(derivation: Derivation) -> dict[str, Any]:
    """Return the entry "equal_starts" of derivation.json; nothing where none is assumed.

    "heights_from_unequal_starts" is "proven", "refuted" or "undecided".
    """
    found = equal_starts(derivation)
    if not found:
        return {}
    return {
        "equal_starts": [
            {
                "modes": list(each.labels),
                "heights_from_unequal_starts": each.heights.value,
                "meaning": each.sentence,
            }
            for each in found
        ]
    }
