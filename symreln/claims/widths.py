"""Pathways with fewer hidden units than modes, for the document, JSON and the prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from symreln.base.summaries import short_repr
from symreln.claims.solve import at_values
from symreln.dynamics.initial import pathway_units
from symreln.dynamics.width import SHOWN_BITS, Narrow, WidthMode, narrow
from symreln.errors import NotSupportedError
from symreln.exact.enclosure import ball, precision
from symreln.truth import Truth

if TYPE_CHECKING:
    from flint import arb

    from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation, Step
    from symreln.spec.model import NetworkSpec


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class NarrowPathway:
    """A pathway whose units do not suffice for its modes.

    Attributes:
        pathway: The pathway, at the declared values.
        units: Its hidden units H.
        rank: How many modes learn something, multiplicities counted.
        found: Which modes are learned; None where that is not decided.
        undecided: Why not; empty where it is.
        symbolic: The pathway for all values of the parameters, where its modes depend on them and
            are as many entries as at the declared values and all closed; else None.
        declared: Whether what is learned is decided at declared values alone.
    """

    pathway: PathwayDerivation
    units: int
    rank: int
    found: Narrow | None
    undecided: str
    symbolic: PathwayDerivation | None = None
    declared: bool = False

    def comparisons(self) -> tuple[tuple[ModeDerivation, ModeDerivation], ...]:
        """Return the pairs of modes whose order in s decides which are learned first.

        The first of a pair has the larger s at the declared values, and what is learned first is
        the same wherever it has: modes with units, each beside every one that lacks some. Pairs
        that no parameter moves are left out.
        """
        return self._pairs(None if self.found is None else self.found.plateau)

    def final_comparisons(self) -> tuple[tuple[ModeDerivation, ModeDerivation], ...]:
        """Return the pairs whose order in s²/d decides which are there in the end."""
        return self._pairs(None if self.found is None else self.found.least)

    def _pairs(
        self, counts: tuple[int, ...] | None
    ) -> tuple[tuple[ModeDerivation, ModeDerivation], ...]:
        if self.symbolic is None or self.found is None or counts is None:
            return ()
        modes = [mode for mode in self.symbolic.modes if not mode.is_null]
        return tuple(
            (modes[i], modes[j])
            for i, held in enumerate(counts)
            for j, other in enumerate(counts)
            if i != j and held and other < modes[j].multiplicity and _moves(modes[i], modes[j])
        )


def _moves(first: ModeDerivation, second: ModeDerivation) -> bool:
    """Whether a parameter moves one of two modes' s or d."""
    numbers = [first.s, second.s, *(mode.d for mode in (first, second) if mode.d is not None)]
    return any(number.parameters for number in numbers)


def narrow_pathways(derivation: Derivation) -> tuple[NarrowPathway, ...]:
    """Return the pathways whose hidden units are fewer than the modes that they would learn."""
    network = derivation.spec.network
    if network is None or network.layers == 1:
        return ()
    if all(_rank(p) <= _units(p, network) for p in derivation.pathways):
        return ()
    reason = _reason(derivation)
    source = derivation if reason else derivation.ask(at_values)
    return tuple(
        _narrow(pathway, _units(pathway, network), reason, whole)
        for pathway, whole in zip(source.pathways, derivation.pathways, strict=True)
        if _rank(pathway) > _units(pathway, network)
    )


def _units(pathway: PathwayDerivation, network: NetworkSpec) -> int:
    own = pathway.effective.pathway.hidden
    return max(1, round(pathway_units(network))) if own is None else own


def _rank(pathway: PathwayDerivation) -> int:
    return sum(mode.multiplicity for mode in pathway.modes if not mode.is_null)


def _reason(derivation: Derivation) -> str:
    """Say why it is not decided what narrow pathways learn; empty where it is."""
    network = derivation.spec.network
    assert network is not None
    if network.unusual:
        return "it is derived for two layers that start alike, without weight decay"
    if any(parameter.value is None for parameter in derivation.spec.parameters):
        return "the order of the modes depends on parameters, and no value is declared"
    exact = derivation.ask(at_values)
    if not exact.closed or any(stage.verdict.d_eff for stage in exact.stages):
        return "its modes couple, and a mode that is missing changes what the others reach"
    if len(exact.stages) > 1:
        return "later stages would learn what is missing"
    return ""


def _narrow(
    pathway: PathwayDerivation, units: int, reason: str, whole: PathwayDerivation
) -> NarrowPathway:
    """Decide what a pathway learns; ``whole`` is the same for all values of the parameters."""
    found = None
    if not reason:
        entries = [
            WidthMode(
                mode=mode,
                mode_class=pathway.spectrum.classes[mode.class_index],
                root=pathway.spectrum.modes[mode.number - 1].root,
            )
            for mode in pathway.modes
            if not mode.is_null
        ]
        found = narrow(entries, units)
        if found is not None and found.plateau is None:
            reason = "modes with equal s and different s²/d compete for its last unit"
    modes = [mode for mode in whole.modes if not mode.is_null]
    moved = not reason and any(_moves(mode, mode) for mode in modes)
    counts = [mode.multiplicity for mode in pathway.modes if not mode.is_null]
    alike = counts == [mode.multiplicity for mode in modes]
    closed = all(mode.strength is not None for mode in modes)
    return NarrowPathway(
        pathway=pathway,
        units=units,
        rank=_rank(pathway),
        found=found,
        undecided=reason,
        symbolic=whole if moved and alike and closed else None,
        declared=moved,
    )


def learned_counts(derivation: Derivation) -> dict[str, int]:
    """Return how many equal modes of an entry are learned first, where that is fewer than all.

    Labels of modes; nothing of pathways for which it is not decided.
    """
    return {
        entry.mode.label: count
        for one in derivation.ask(narrow_pathways)
        if one.found is not None and one.found.plateau is not None
        for entry, count in zip(one.found.modes, one.found.plateau, strict=True)
        if count < entry.mode.multiplicity
    }


def check_decided(derivation: Derivation) -> None:
    """Refuse numbers of pathways for which it is not decided what their few units learn.

    Raises:
        NotSupportedError: There is one.
    """
    for one in derivation.ask(narrow_pathways):
        if one.undecided:
            msg = (
                f"pathway ‘{one.pathway.name}’ has {one.units} hidden units for {one.rank} modes, "
                f"and which of them it learns is not decided: {one.undecided}. {one.rank} units a "
                "pathway are enough"
            )
            raise NotSupportedError(msg)


def losses(derivation: Derivation) -> tuple[arb, arb] | None:
    """Return (loss on the plateau, least loss of the widths) as certified balls.

    None where a narrow pathway is undecided.
    """
    if any(one.undecided for one in derivation.ask(narrow_pathways)):
        return None
    with precision(SHOWN_BITS):
        whole = ball(derivation.ask(at_values).final_loss.to_fraction())
        plateau = least = whole
        for one in derivation.ask(narrow_pathways):
            assert one.found is not None
            assert one.found.plateau is not None
            everything = one.found.taken([entry.mode.multiplicity for entry in one.found.modes])
            plateau = plateau + everything - one.found.taken(one.found.plateau)
            least = least + everything - one.found.taken(one.found.least)
    return plateau, least


def width_steps(derivation: Derivation) -> list[Step]:
    """Return what was proven of narrow pathways."""
    from symreln.claims.derivation import Step

    steps = []
    for one in derivation.ask(narrow_pathways):
        decided = one.found is not None and not one.undecided
        steps.append(
            Step(
                name="width",
                statement=(
                    ("At the declared values, with " if one.declared else "With ")
                    + f"{one.units} hidden units for {one.rank} modes, pathway "
                    f"{one.pathway.number} learns those with the largest s first, and "
                    + (
                        "replaces some later."
                        if one.found is not None and one.found.escapes
                        else "keeps them."
                    )
                    if decided
                    else f"What pathway {one.pathway.number} learns of its {one.rank} modes with "
                    f"{one.units} hidden units."
                ),
                check=one.undecided
                or "s and s²/d compared exactly: the plateau's determinants have these signs. That "
                "it is reached holds in the limit of small initial weights",
                outcome=Truth.PROVEN if decided else Truth.UNDECIDED,
            )
        )
    return steps
