"""Pathways with fewer hidden units than modes: which they learn, and the loss that stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sympy as sp
from flint import arb

from symreln.base.summaries import short_repr
from symreln.claims.claim import Claim, Step
from symreln.claims.solve import at_values
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Math
from symreln.document.numerals import decimal_latex
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import say, typeset
from symreln.document.words import SHORT
from symreln.errors import NotSupportedError
from symreln.exact.enclosure import ball, decimal_of, precision
from symreln.exact.truth import Truth
from symreln.laws.law import Match
from symreln.laws.width import SHOWN_BITS, Narrow, WidthMode, gain_of, narrow

if TYPE_CHECKING:
    from fractions import Fraction

    from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation

    Pairs = Sequence[tuple[ModeDerivation, ModeDerivation]]

#: Replacements, and comparisons of modes, that are printed.
_MOST_PRINTED = 6


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class NarrowPathway(Claim):
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

    @property
    def lacks(self) -> str:
        """How many units it has for how many modes, in words."""
        units = f"{self.units} hidden {'unit' if self.units == 1 else 'units'}"
        return f"pathway ‘{self.pathway.name}’ has {units} for {self.rank} modes"

    def comparisons(self, *, final: bool = False) -> Pairs:
        """Return the pairs of modes whose order in s decides which are learned first.

        The first of a pair has the larger s at the declared values, and what is learned first is
        the same wherever it has: modes with units, each beside every one that lacks some. Pairs
        that no parameter moves are left out.

        Args:
            final: Whether those are asked for whose order in s²/d decides which stay in the end.
        """
        if self.symbolic is None or self.found is None:
            return ()
        counts = self.found.least if final else self.found.plateau
        if counts is None:
            return ()
        modes = [mode for mode in self.symbolic.modes if not mode.is_null]
        return tuple(
            (modes[i], modes[j])
            for i, held in enumerate(counts)
            for j, other in enumerate(counts)
            if i != j and held and other < modes[j].multiplicity and _moves(modes[i], modes[j])
        )

    def values(self) -> dict[str, Any]:
        """Return which modes are learned first and in the end, equal ones counted by label.

        A rate is in units of 1/tau. "same_where" has the pairs of labels whose order decides,
        larger s first, and larger s²/d in the end; None where no parameter moves a mode, or the
        declared values make modes equal.
        """
        found = self.found
        labels = [] if found is None else [entry.label for entry in found.modes]

        def counted(counts: tuple[int, ...] | None) -> dict[str, int] | None:
            if counts is None:
                return None
            return {label: n for label, n in zip(labels, counts, strict=True) if n}

        def pairs(compared: Pairs) -> list[list[str]]:
            return [[first.label, second.label] for first, second in compared]

        return {
            "name": self.pathway.name,
            "units": self.units,
            "modes": self.rank,
            "undecided": self.undecided,
            "at_declared_values": self.declared,
            "same_where": None
            if self.symbolic is None
            else {"s": pairs(self.comparisons()), "s2_over_d": pairs(self.comparisons(final=True))},
            "first": counted(found and found.plateau),
            "least": counted(found and found.least),
            "replaced": []
            if found is None
            else [
                {"mode": labels[i], "by": labels[j], "rate": found.rate((i, j))}
                for i, j in found.escapes
            ],
        }

    def says(self) -> Iterator[Block]:
        """Say which modes it learns, for how long, and for which parameters that is the same."""
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
            "wide enough." + self._wherever(self.comparisons(), "s"),
            learned=typeset(_learned(found, found.plateau)),
        )
        final = self._wherever(self.comparisons(final=True), "s^2/d")
        if not found.escapes:
            yield say(
                "No other mode can replace one of them: none has a larger $s^2/d$, and the plateau "
                "is stable." + final
            )
            return
        rates = ", ".join(f"${_rate(found, escape)}$" for escape in found.escapes[:_MOST_PRINTED])
        yield say(
            "This plateau is a saddle: modes that are missing have a larger $s^2/d$ than some that "
            f"are learned. To first order replacements grow at the rates {rates}. In the end the "
            "modes with the largest $s^2/d$ are learned (Baldi and Hornik, 1989: every other "
            "choice is a saddle): {learned}." + final,
            learned=typeset(_learned(found, found.least)),
        )

    def _wherever(self, pairs: Pairs, what: str) -> str:
        """Say for which values of the parameters a choice is the same as at the declared ones."""
        if not self.declared:
            return ""
        if self.symbolic is None:
            return (
                " This is decided at the declared values of the parameters. Modes coincide or "
                "close there that do not elsewhere, so that other values may give another answer."
            )
        if not pairs:
            return " No parameter changes that."
        compared = ", ".join(
            f"${_compared(first, what)} > {_compared(second, what)}$"
            for first, second in pairs[:_MOST_PRINTED]
        )
        more = len(pairs) - _MOST_PRINTED
        others = f", and {more} more such comparisons of ${what}$ hold" if more > 0 else ""
        return (
            " This is decided at the declared values of the parameters, and the same wherever "
            f"{compared}{others}."
        )

    def steps(self) -> Iterator[Step]:
        """Yield what was decided of it, or that it was not."""
        decided = self.found is not None and not self.undecided
        what = f"{self.units} hidden units for {self.rank} modes, pathway {self.pathway.number}"
        later = "replaces some later" if self.found and self.found.escapes else "keeps them"
        yield Step(
            name="width",
            statement=f"{'At the declared values, with' if self.declared else 'With'} {what} "
            f"learns those with the largest s first, and {later}."
            if decided
            else f"What pathway {self.pathway.number} learns of its {self.rank} modes with "
            f"{self.units} hidden units.",
            check=self.undecided
            or "s and s²/d compared exactly: the plateau's determinants have these signs. That it "
            "is reached holds in the limit of small initial weights",
            outcome=Truth.PROVEN if decided else Truth.UNDECIDED,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Width(Claim):
    """What narrow pathways cost.

    Attributes:
        loss: Loss on the plateau, certified; None where a narrow pathway is undecided.
        least_loss: Least loss of these widths, likewise.
        pathways: The narrow pathways.
    """

    loss: arb | None
    least_loss: arb | None
    pathways: tuple[NarrowPathway, ...]

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
    if not pathways:
        return None
    if any(one.undecided for one in pathways):
        return _Width(loss=None, least_loss=None, pathways=pathways)
    with precision(SHOWN_BITS):
        plateau = least = ball(derivation.ask(at_values).final_loss.to_fraction())
        for one in pathways:
            assert one.found is not None
            assert one.found.plateau is not None
            everything = one.found.taken([entry.multiplicity for entry in one.found.modes])
            plateau = plateau + everything - one.found.taken(one.found.plateau)
            least = least + everything - one.found.taken(one.found.least)
    return _Width(loss=plateau, least_loss=least, pathways=pathways)


def _moves(first: ModeDerivation, second: ModeDerivation) -> bool:
    """Whether a parameter moves one of two modes' s or d."""
    numbers = [first.s, second.s, *(mode.d for mode in (first, second) if mode.d is not None)]
    return any(number.parameters for number in numbers)


def narrow_pathways(derivation: Derivation) -> tuple[NarrowPathway, ...]:
    """Return the pathways whose hidden units are fewer than the modes that they would learn."""
    units = derivation.known.units
    if units is None or all(_rank(p) <= _units(p, units) for p in derivation.pathways):
        return ()
    reason = _reason(derivation)
    source = derivation if reason else derivation.ask(at_values)
    return tuple(
        _narrow(pathway, _units(pathway, units), reason, whole)
        for pathway, whole in zip(source.pathways, derivation.pathways, strict=True)
        if _rank(pathway) > _units(pathway, units)
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


def _rank(pathway: PathwayDerivation) -> int:
    return sum(mode.multiplicity for mode in pathway.modes if not mode.is_null)


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
        entries = [_width_mode(pathway, mode) for mode in pathway.modes if not mode.is_null]
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


def _width_mode(pathway: PathwayDerivation, mode: ModeDerivation) -> WidthMode:
    assert mode.d is not None  # it closes
    return WidthMode(
        label=mode.label,
        multiplicity=mode.multiplicity,
        s=mode.s,
        d=mode.d,
        gain=gain_of(
            pathway.spectrum.classes[mode.class_index],
            pathway.spectrum.modes[mode.number - 1].root,
        ),
    )


def learned_counts(derivation: Derivation) -> dict[str, int]:
    """Return how many equal modes of an entry are learned first, where that is fewer than all.

    Labels of modes; nothing of pathways for which it is not decided.
    """
    return {
        entry.label: count
        for one in derivation.ask(narrow_pathways)
        if one.found is not None and one.found.plateau is not None
        for entry, count in zip(one.found.modes, one.found.plateau, strict=True)
        if count < entry.multiplicity
    }


def check_decided(derivation: Derivation) -> None:
    """Refuse numbers of pathways for which it is not decided what their few units learn.

    Raises:
        NotSupportedError: There is one.
    """
    for one in derivation.ask(narrow_pathways):
        if one.undecided:
            msg = (
                f"{one.lacks}, and which of them it learns is not decided: {one.undecided}. "
                f"{one.rank} units a pathway are enough"
            )
            raise NotSupportedError(msg)


def _compared(mode: ModeDerivation, what: str) -> str:
    """Return the LaTeX of s or s²/d of a mode, written out where that is short."""
    assert mode.strength is not None  # of closed modes every one has it
    s, d = mode.strength.s, mode.strength.d
    text = to_latex(s if what == "s" else sp.factor(s**2 / d))
    if len(text) <= SHORT:
        return text
    number = symbol_latex(mode.label).removeprefix(r"\pi")
    return f"s{number}" if what == "s" else f"s{number}^2/d{number}"


def _rate(found: Narrow, escape: tuple[int, int]) -> str:
    learned, other = (symbol_latex(found.modes[i].label) for i in escape)
    decimal = decimal_latex(*decimal_of(found.rate(escape), 21), digits=5)
    return rf"{decimal}/\tau\ ({other} \text{{ for }} {learned})"


def _learned(found: Narrow, counts: tuple[int, ...]) -> str:
    return ", ".join(
        entry.label
        + f" ({count} of {entry.multiplicity} equal ones)" * (count < entry.multiplicity)
        for entry, count in zip(found.modes, counts, strict=True)
        if count
    )


def _decimal(value: arb) -> Math:
    return Math(decimal_latex(*decimal_of(value, 21), digits=8))
