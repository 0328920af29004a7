"""The verdict, and every pathway with its modes, as findings."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

from symreln.base.records import record
from symreln.claims.balls import half_time
from symreln.claims.claim import DIGITS, Claim, numbered
from symreln.claims.derivation import Derivation, ModeDerivation, PathwayDerivation
from symreln.claims.pathway_orbits import mode_orbits
from symreln.claims.starts import starts_of, strength0_of
from symreln.document.mathtext import to_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.laws.law import Law
from symreln.verdict.judge import DiagonalisabilityVerdict, StageVerdict

#: Entries of singular vectors of a pathway up to which they are written.
_MOST_ENTRIES = 4096


def verdict_of(derivation: Derivation) -> dict[str, Any]:
    """Return which reduction holds, with its reasons, and the same of every stage."""

    def said(found: DiagonalisabilityVerdict | StageVerdict) -> dict[str, Any]:
        return {"level": found.level, "reasons": found.reasons}

    stages = [{"stage": stage.stage, **said(stage.verdict)} for stage in derivation.stages]
    return {**said(derivation.verdict), "stages": stages}


@record(eq=False)
class _Mode(Claim):
    """One mode, with its vectors, start and half-time.

    Attributes:
        derivation: With the mode.
        pathway: Its pathway.
        mode: The mode.
        original: A mode of another pathway with the same numbers and formulas, or None.
    """

    derivation: Derivation
    pathway: PathwayDerivation
    mode: ModeDerivation
    original: _Mode | None = None

    def values(self) -> dict[str, Any]:
        """Return its numbers, and where it starts and how it grows in closed form."""
        return {"label": self.mode.label, **self._shared, **self._vectors()}

    @cached_property
    def _shared(self) -> dict[str, Any]:
        """What an orbit of modes has in common."""
        if self.original is not None:
            return self.original._shared
        mode, law = self.mode, self.mode.strength
        start = Fraction(0) if mode.is_null else strength0_of(self.derivation, mode.label)
        numbers = {x: getattr(mode, x) for x in ("s", "d", "multiplicity", "d_eff", "family")}
        printed = None if law is None else law.printed
        found = {
            **numbers,
            "strength0": None if start is None else Scalar.of(start),
            "strength": None if printed is None else {"expr": printed, "latex": to_latex(printed)},
            "half_time": self._half_time(),
        }
        return found if law is None or law.form == Law.form else {**found, "form": law.form}

    def _half_time(self) -> dict[str, Any] | None:
        """Return the formula, where there is one, and at declared values the certified steps."""
        law = self.mode.strength
        if law is None or self.mode.is_null:
            return None
        found = half_time(self.derivation, self.mode, DIGITS)
        if found.decimal is None and (law.half_time is None or self.derivation.later):
            return None  # later: gates switch before, or there are no numbers
        return {"expr": law.half_time, **numbered(found.decimal)}

    def _vectors(self) -> dict[str, Any]:
        """Return u and v in decimals, a list a column, where there are not too many."""
        pathway = self.pathway
        entries = sum(pathway.spectrum.sigma_yx.shape) * len(pathway.modes)
        if self.mode.is_null or entries > _MOST_ENTRIES:
            return {}
        values = self.derivation.spec.values
        u, v = (each.to_numpy(values) for each in pathway.vectors[self.mode.label])
        return {} if u is None or v is None else {"u": u.T, "v": v.T}


@record(eq=False)
class _Pathway(Claim):
    """One pathway with its modes.

    Attributes:
        pathway: The pathway.
        modes: Its modes, by decreasing s.
    """

    pathway: PathwayDerivation
    modes: tuple[_Mode, ...]

    def values(self) -> dict[str, Any]:
        """Return what it sees, whether that has a joint eigenbasis, and its modes."""
        spec = self.pathway.effective.pathway
        then = [{"step": each.step, "gate": each.gate_text} for each in spec.then]
        return {
            "name": spec.name,
            "stage": spec.stage,
            "gate": spec.gate_text,
            **({"then": then} if then else {}),
            "samples": len(spec.open_samples),
            "inputs": len(spec.inputs),
            "outputs": len(spec.outputs),
            **({} if spec.hidden is None else {"hidden": spec.hidden}),
            "commutes": self.pathway.commutes,
            "commutator": self._commutator(),
            "modes": self.modes,
        }

    def _commutator(self) -> dict[str, Any] | None:
        found = self.pathway.spectrum.commutator
        if found is None:
            return None
        entry = {name: getattr(found, name) for name in ("row", "column", "value")}
        norm = AlgebraicNumber.rational(found.relative_norm_squared, is_sqrt=True)
        return {"relative_norm": norm, "witness": {"index_base": 0, **entry}}


def pathways_of(derivation: Derivation) -> tuple[_Pathway, ...]:
    """Return all pathways with their modes; of an orbit of modes what they share is found once."""
    modes: dict[int, tuple[_Mode, ...]] = {}
    factors = derivation.ask(starts_of).factors
    for group in mode_orbits(derivation):
        # Formulas of numbers without radicals hold symbols with the pathway's number.
        plain = all(
            number is None or number.is_radical
            for mode in group.first.modes
            for number in (mode.s, mode.d, mode.d_eff)
        )
        for pathway in group.pathways:
            found = []
            known = modes.get(group.first.number) or (None,) * len(pathway.modes)
            for mode, own in zip(pathway.modes, known, strict=True):
                alike = own and plain and factors.get(mode.label) == factors.get(own.mode.label)
                original = own if alike else None
                found.append(
                    _Mode(derivation=derivation, pathway=pathway, mode=mode, original=original)
                )
            modes[pathway.number] = tuple(found)
    return tuple(_Pathway(pathway=p, modes=modes[p.number]) for p in derivation.pathways)
