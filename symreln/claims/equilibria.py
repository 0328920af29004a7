"""What a stage of coupled modes comes to rest at, for the document and for JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

from symreln.base.summaries import short_repr
from symreln.dynamics.competition import MOST_LISTED, Competition, Equilibrium
from symreln.dynamics.resting_line import RestingLine, groups_alike, resting_line, totals
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from symreln.claims.derivation import Derivation, ModeDerivation, StageDerivation


#: Modes up to which a singular competition is solved, by exact linear programming in seconds.
MOST_FOLLOWED = 48


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Race:
    """Modes that compete, and how the competition ends.

    Attributes:
        system: The competition.
        modes: The modes of every class, one a root.
        groups: Its classes, those together whose modes are alike: they share what their sum comes
            to by their starts.
        totals: The competition in which the sum over each group is one mode.
        end: The equilibrium of ``totals`` that attracts every positive start; None where none was
            proven.
        line: The equilibria of ``totals`` of which the start picks one; None where ``end`` is
            there, or none was proven.
        undecided: Why there is neither; empty where there is one.
        unstable: The other equilibria with positive strengths, each with a mode that grows when
            it is put in; None where they were not listed.
        values: The parameters' values.
    """

    system: Competition
    modes: tuple[tuple[ModeDerivation, ...], ...]
    groups: tuple[tuple[int, ...], ...]
    totals: Competition
    end: Equilibrium | None
    line: RestingLine | None
    undecided: str
    unstable: tuple[Equilibrium, ...] | None
    values: Mapping[str, Fraction]

    def strengths(
        self, found: Equilibrium
    ) -> Iterator[tuple[tuple[ModeDerivation, ...], AlgebraicNumber]]:
        """Yield (modes that are alike, their sum) of those that are there."""
        for g, there in enumerate(found.support):
            for root, modes in enumerate(self.alike(g)) if there else ():
                yield modes, self.totals.strength(g, found.phi[g], root)

    def losers(self, found: Equilibrium) -> Iterator[tuple[ModeDerivation, AlgebraicNumber]]:
        """Yield (mode, |s − Σ kappa pi|) of the modes that are not there."""
        for g, there in enumerate(found.support):
            for root, modes in enumerate(self.alike(g)) if not there else ():
                shortfall = self.totals.strength(g, found.drives[g], root)
                yield from ((mode, shortfall) for mode in modes)

    def growing(self, found: Equilibrium, values: Mapping[str, Fraction]) -> Iterator[str]:
        """Yield the labels of absent modes that grow when they are put in."""
        for g, there in enumerate(found.support):
            if not there and 1 in self.totals.signs(g, found.drives[g], values):
                yield from (mode.label for modes in self.alike(g) for mode in modes)

    def alike(self, group: int) -> tuple[tuple[ModeDerivation, ...], ...]:
        """Return, for every root of a group's classes, its modes."""
        return tuple(zip(*(self.modes[p] for p in self.groups[group]), strict=True))

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of all modes."""
        return tuple(mode.label for part in self.modes for mode in part)

    @property
    def shared(self) -> tuple[tuple[ModeDerivation, ...], ...]:
        """Modes that are alike and more than one."""
        return tuple(
            modes
            for g, group in enumerate(self.groups)
            if len(group) > 1
            for modes in self.alike(g)
        )

    @property
    def gain(self) -> Scalar | None:
        """What the end takes off the loss, on a line at ``values``; None without an end."""
        if self.end is not None:
            return self.totals.gain(self.end)
        return None if self.line is None else self.totals.gain(self._on_line(self.line))

    def _on_line(self, line: RestingLine) -> Equilibrium:
        names = self.totals.classes[0].minpoly[0].parameters
        return Equilibrium(
            support=line.support,
            phi=tuple(
                (Scalar(names, value.numerator) / value.denominator,) for value in line.point
            ),
            drives=tuple(
                (Scalar(names, value.numerator) / value.denominator,) for value in line.drives
            ),
        )


def races_of(derivation: Derivation) -> tuple[Race, ...]:
    """Return the competitions of all stages of coupled modes; a mode alone is one of them."""
    return tuple(
        _race(derivation, stage, component)
        for stage in derivation.stages
        if stage.verdict.level is Level.COUPLED_MODES
        for component in sorted(sorted(part) for part in stage.verdict.components)
    )


def resting_loss(derivation: Derivation) -> Scalar | None:
    """Return the loss of the aligned modes in the end, or None where it was not proven.

    Above the least loss by what modes would gain that would have to turn negative. At the declared
    values of parameters where some couplings are singular: a line of equilibria is known there.
    """
    found = derivation.ask(races_of)
    gains = [race.gain for race in found]
    if len(derivation.stages) > 1 or not gains or any(gain is None for gain in gains):
        return None
    values = derivation.spec.values if any(race.line is not None for race in found) else {}
    total = derivation.initial_loss.substitute(values)
    for gain in gains:
        assert gain is not None
        total = total - gain.substitute(values)
    return total


def _race(derivation: Derivation, stage: StageDerivation, nodes: list[tuple[int, int]]) -> Race:
    place = {node: index for index, node in enumerate(nodes)}
    system = Competition(
        classes=tuple(stage.pathways[p].spectrum.classes[a] for p, a in nodes),
        factors={
            (place[c.target], place[c.source]): c.factors
            for c in stage.verdict.couplings.couplings
            if c.target in place and c.source in place and c.factors is not None
        },
    )
    groups = groups_alike(system)
    summed = totals(system, groups)
    end, line, reason = _end(summed, derivation)
    return Race(
        system=system,
        modes=tuple(_modes(stage, p, a) for p, a in nodes),
        groups=groups,
        totals=summed,
        end=end,
        line=line,
        undecided=reason,
        unstable=None if end is None else _unstable(summed, end, derivation.spec.values),
        values=derivation.spec.values,
    )


def _modes(stage: StageDerivation, p: int, a: int) -> tuple[ModeDerivation, ...]:
    pathway = stage.pathways[p]
    found = [
        (pathway.spectrum.modes[m.number - 1].root, m) for m in pathway.modes if m.class_index == a
    ]
    return tuple(mode for _, mode in sorted(found, key=lambda entry: entry[0]))


def _end(
    system: Competition, derivation: Derivation
) -> tuple[Equilibrium | None, RestingLine | None, str]:
    """Return (the only end, the line of ends, why there is neither)."""
    values = derivation.spec.values
    if any(parameter.value is None for parameter in derivation.spec.parameters):
        return None, None, "who wins depends on the parameters, and no value is declared"
    if not system.has_lyapunov:
        reason = "the couplings are not symmetric, and no function that falls along the flow is"
        return None, None, f"{reason} known"
    if system.is_convex(values):
        end = system.settled(values)
        reason = "of conjugate modes some win and others lose, which is not solved exactly here"
        return end, None, "" if end is not None else reason
    if any(c.degree > 1 for c in system.classes):
        reason = "the couplings are singular, and squares of singular values are not rational"
        return None, None, f"{reason}: which equilibrium the start picks is not solved here"
    if len(system.classes) > MOST_FOLLOWED:
        reason = f"the couplings are singular, and {len(system.classes)} modes compete: up to"
        return None, None, f"{reason} {MOST_FOLLOWED} are followed to the equilibrium they pick"
    line = resting_line(system, values)
    if line is None:
        return None, None, "the couplings are singular, and which modes stay was not found"
    if line.directions:
        return None, line, ""
    return system.equilibrium(line.support), None, ""


def _unstable(
    system: Competition, end: Equilibrium, values: Mapping[str, Fraction]
) -> tuple[Equilibrium, ...] | None:
    """Return the other equilibria, or None where not every choice of survivors is tried.

    Only of a definite form: there every one of them has a mode that grows when it is put in.
    """
    classes = system.classes
    simple = len(classes) <= MOST_LISTED and all(c.degree == 1 for c in classes)
    if not simple or not system.is_convex(values):
        return None
    return tuple(f for f in system.feasible(values) if f.support != end.support)


def conserved_sums(race: Race, symbols: Mapping[str, sp.Symbol]) -> list[tuple[sp.Expr, sp.Expr]]:
    """Return (Σ C_a ln π_a, its constant rate times tau) for every C with Cᵀkappa = 0.

    C_a = c_a/s_a with cᵀF = 0, in units of the first s that occurs.
    """
    squares = [c.eigenvalue[0] for c in race.system.classes]
    found = []
    for row in race.system.conserved:
        first = next(p for p, c in enumerate(row) if not c.is_zero)
        terms = [
            c.to_sympy(symbols)
            * AlgebraicNumber.rational(squares[first] / square, is_sqrt=True).to_sympy(symbols)
            * sp.log(sp.Symbol(mode.label, positive=True))
            for c, square, (mode, *_) in zip(row, squares, race.modes, strict=True)
        ]
        unit = AlgebraicNumber.rational(squares[first], is_sqrt=True).to_sympy(symbols)
        rate = 2 * sum(row[1:], start=row[0]).to_sympy(symbols) * unit
        found.append((sp.Add(*terms), rate))
    return found
