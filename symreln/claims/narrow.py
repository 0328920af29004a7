"""Pathways with fewer hidden units than modes: which they learn, and the loss that stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import arb

from symreln.base.records import record
from symreln.claims.claim import Claim
from symreln.claims.derivation import Derivation, PathwayDerivation
from symreln.claims.solve import at_values
from symreln.document.document_model import Block, Math
from symreln.document.numerals import decimal_latex
from symreln.document.typeset import say, typeset
from symreln.errors import NotSupportedError
from symreln.exact.enclosure import ball, decimal_of, precision
from symreln.laws.law import Match
from symreln.laws.width import SHOWN_BITS, Narrow, WidthMode


@record(eq=False)
class NarrowPathway(Claim):
    """A pathway whose units do not suffice for its modes.

    Attributes:
        pathway: The pathway, at the declared values.
        units: Its hidden units H.
        rank: How many modes learn something, multiplicities counted.
        found: Which modes are learned; None where that is not decided.
        undecided: Why not; empty where it is.
        declared: Whether what is learned is decided at declared values of parameters.
    """

    pathway: PathwayDerivation
    units: int
    rank: int
    found: Narrow | None
    undecided: str
    declared: bool = False

    @property
    def lacks(self) -> str:
        """How many units it has for how many modes, in words."""
        units = f"{self.units} hidden {'unit' if self.units == 1 else 'units'}"
        return f"pathway ‘{self.pathway.name}’ has {units} for {self.rank} modes"

    def values(self) -> dict[str, Any]:
        """Return which modes are learned first and in the end, equal ones counted by label."""
        found = self.found
        labels = [] if found is None else [entry.label for entry in found.modes]

        def counted(counts: tuple[int, ...] | None) -> dict[str, int] | None:
            if counts is None:
                return None
            return {label: n for label, n in zip(labels, counts, strict=True) if n}

        return {
            "name": self.pathway.name,
            "units": self.units,
            "modes": self.rank,
            "undecided": self.undecided,
            "at_declared_values": self.declared,
            "first": counted(found and found.plateau),
            "least": counted(found and found.least),
            "replaced": []
            if found is None
            else [{"mode": labels[i], "by": labels[j]} for i, j in found.escapes],
        }

    def says(self) -> Iterator[Block]:
        """Say which modes it learns, and whether others replace them."""
        units = "1 hidden unit" if self.units == 1 else f"{self.units} hidden units"
        start = f"Pathway {self.pathway.number} has {units} for {self.rank} modes. "
        found = self.found
        if found is None or found.plateau is None:
            yield say(
                start + "Which of them it learns is not decided: {why}. Its formulas hold for a "
                "pathway that is wide enough.",
                why=typeset(self.undecided),
            )
            return
        yield say(
            start + "In the limit of small initial weights it first learns those with the largest "
            "$s$: {learned}. The others stay near 0; their formulas hold for a pathway that is "
            "wide enough."
            + " This is decided at the declared values of the parameters."
            * self.declared,
            learned=typeset(_learned(found, found.plateau)),
        )
        if not found.escapes:
            yield say(
                "No other mode can replace one of them: none has a larger $s^2/d$, and the plateau "
                "is stable."
            )
            return
        yield say(
            "This plateau is a saddle: modes that are missing have a larger $s^2/d$ than some that "
            "are learned, and replace them. In the end the modes with the largest $s^2/d$ are "
            "learned (Baldi and Hornik, 1989: every other choice is a saddle): {learned}.",
            learned=typeset(_learned(found, found.least)),
        )


@record(eq=False)
class _Width(Claim):
    """What narrow pathways learn, and at which loss.

    Attributes:
        derivation: Whose they are.
        pathways: The narrow pathways.
    """

    derivation: Derivation
    pathways: tuple[NarrowPathway, ...]

    def _loss(self, learned: Callable[[Narrow], tuple[int, ...]]) -> arb | None:
        """Return the loss where some modes are learned; None where that is not decided."""
        if any(one.undecided for one in self.pathways):
            return None
        with precision(SHOWN_BITS):
            loss = ball(self.derivation.ask(at_values).least_loss.to_fraction())
            for found in (one.found for one in self.pathways):
                assert found is not None
                everything = found.taken([entry.mode.multiplicity for entry in found.modes])
                loss = loss + everything - found.taken(learned(found))
        return loss

    @cached_property
    def loss(self) -> arb | None:
        """Loss on the plateau, certified; None where a narrow pathway is undecided."""
        return self._loss(lambda found: found.plateau or ())

    @cached_property
    def least_loss(self) -> arb | None:
        """Least loss of these widths, likewise."""
        return self._loss(lambda found: found.least)

    def values(self) -> dict[str, Any]:
        """Return both losses and the pathways."""
        return {"loss": self.loss, "least_loss": self.least_loss, "pathways": self.pathways}

    def says(self) -> Iterator[Block]:
        """Say what narrow pathways learn, and the loss that stays."""
        for one in self.pathways:
            yield from one.says()
        if self.loss is None or self.least_loss is None:
            return
        declared = any(one.declared for one in self.pathways)
        left = any(one.found is not None and one.found.escapes for one in self.pathways)
        end = (
            "In the end it falls to the least of these widths, {least}."
            if left
            else "That is the least of these widths, and stays."
        )
        yield say(
            f"With these widths the loss comes{' at the declared values' * declared} to {{loss}}. "
            + end,
            loss=_decimal(self.loss),
            least=_decimal(self.least_loss),
        )


def width_of(derivation: Derivation) -> _Width | None:
    """Return what narrow pathways learn, and at what loss; None where all are wide enough."""
    pathways = derivation.ask(narrow_pathways)
    return _Width(derivation=derivation, pathways=pathways) if pathways else None


def narrow_pathways(derivation: Derivation) -> tuple[NarrowPathway, ...]:
    """Return the pathways whose hidden units are fewer than the modes that they would learn."""
    units = derivation.known.units
    if units is None or all(p.rank <= _units(p, units) for p in derivation.pathways):
        return ()
    reason = _reason(derivation)
    source = derivation if reason else derivation.ask(at_values)
    return tuple(
        _narrow(pathway, _units(pathway, units), reason, whole)
        for pathway, whole in zip(source.pathways, derivation.pathways, strict=True)
        if pathway.rank > _units(pathway, units)
    )


def own_curves(derivation: Derivation) -> Match:
    """Say whether every strength has a curve of its own from t = 0, and why or why not."""
    why, narrow_ones = "", derivation.ask(narrow_pathways)
    if derivation.spec.switches:
        why = "gates switch at given steps, and strengths have no curve of their own from t = 0"
    elif narrow_ones:
        why = f"{narrow_ones[0].lacks}, and learns equal ones in part and in any rotation"
    return Match(holds=not why, why=why or "gates stay, and every mode has a hidden unit")


def _units(pathway: PathwayDerivation, units: Fraction) -> int:
    own = pathway.effective.pathway.hidden
    return max(1, round(units)) if own is None else own


def _reason(derivation: Derivation) -> str:
    """Say why it is not decided what narrow pathways learn; empty where it is."""
    plain = derivation.known.plain
    if not plain.holds:
        return f"it is derived for {plain.why}"
    if not derivation.spec.has_values:
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
        exact = pathway.spectrum.modes
        entries = [WidthMode(label=m.label, mode=exact[m.number - 1]) for m in pathway.learning]
        found = Narrow.of(entries, units)
        if found is not None and found.plateau is None:
            reason = "modes with equal s and different s²/d compete for its last unit"
    numbers = [n for mode in whole.learning for n in (mode.s, mode.d)]
    return NarrowPathway(
        pathway=pathway,
        units=units,
        rank=pathway.rank,
        found=found,
        undecided=reason,
        declared=not reason and any(n.parameters for n in numbers if n is not None),
    )


def learned_counts(derivation: Derivation, *, least: bool = False) -> dict[str, int]:
    """Return how many equal modes of an entry are learned first, where that is fewer than all.

    Labels of modes; nothing of pathways for which it is not decided.

    Args:
        derivation: Whose pathways are asked for.
        least: Whether those at the least loss are meant, which they come to in the end.
    """
    return {
        entry.label: count
        for one in derivation.ask(narrow_pathways)
        if one.found is not None and one.found.plateau is not None
        for entry, count in zip(
            one.found.modes, one.found.least if least else one.found.plateau, strict=True
        )
        if count < entry.mode.multiplicity
    }


def check_decided(derivation: Derivation) -> None:
    """Refuse numbers of pathways whose few units have no closed forms, or none that is decided.

    Raises:
        NotSupportedError: There is one.
    """
    for one in derivation.ask(narrow_pathways):
        why = f"which of them it learns is not decided: {one.undecided}"
        if one.found is not None and one.found.escapes:
            why = "modes that are missing replace some that are learned, without a closed form"
        elif not one.undecided:
            continue
        msg = f"{one.lacks}, and {why}. {one.rank} units a pathway are enough"
        raise NotSupportedError(msg)


def _learned(found: Narrow, counts: tuple[int, ...]) -> str:
    return ", ".join(
        entry.label
        + f" ({count} of {entry.mode.multiplicity} equal ones)" * (count < entry.mode.multiplicity)
        for entry, count in zip(found.modes, counts, strict=True)
        if count
    )


def _decimal(value: arb) -> Math:
    return Math(decimal_latex(*decimal_of(value, 21), digits=8))
