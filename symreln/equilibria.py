"""What a stage of coupled modes comes to rest at, for the document and for JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

from symreln.dynamics.competition import MOST_LISTED, Competition, Equilibrium
from symreln.exact.algebraic import AlgebraicNumber
from symreln.truth import Truth
from symreln.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from symreln.derivation import Derivation, ModeDerivation, StageDerivation, Step
    from symreln.exact.scalar import Scalar


@dataclass(frozen=True, kw_only=True, eq=False)
class Race:
    """Modes that compete, and how the competition ends.

    Attributes:
        system: The competition.
        modes: The modes of every class, one a root.
        end: The equilibrium that attracts every positive start; None where none was proven.
        undecided: Why there is none; empty where there is one.
        unstable: The other equilibria with positive strengths, each with a mode that grows when
            it is put in; None where they were not listed.
    """

    system: Competition
    modes: tuple[tuple[ModeDerivation, ...], ...]
    end: Equilibrium | None
    undecided: str
    unstable: tuple[Equilibrium, ...] | None

    def strengths(self, found: Equilibrium) -> Iterator[tuple[ModeDerivation, AlgebraicNumber]]:
        """Yield (mode, strength) of the modes that are there."""
        for p, there in enumerate(found.support):
            for root, mode in enumerate(self.modes[p]) if there else ():
                yield mode, self.system.strength(p, found.phi[p], root)

    def losers(self, found: Equilibrium) -> Iterator[tuple[ModeDerivation, AlgebraicNumber]]:
        """Yield (mode, |s − Σ kappa pi|) of the modes that are not there."""
        for p, there in enumerate(found.support):
            for root, mode in enumerate(self.modes[p]) if not there else ():
                yield mode, self.system.strength(p, found.drives[p], root)

    def growing(self, found: Equilibrium, values: Mapping[str, Fraction]) -> Iterator[str]:
        """Yield the labels of absent modes that grow when they are put in."""
        for p, there in enumerate(found.support):
            if not there and 1 in self.system.signs(p, found.drives[p], values):
                yield from (mode.label for mode in self.modes[p])

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of all modes."""
        return tuple(mode.label for part in self.modes for mode in part)

    @property
    def gain(self) -> Scalar | None:
        """What the end takes off the loss, or None without an end."""
        return None if self.end is None else self.system.gain(self.end)


def races(derivation: Derivation) -> tuple[Race, ...]:
    """Return the competitions of all stages of coupled modes; a mode alone is one of them."""
    return tuple(
        _race(derivation, stage, component)
        for stage in derivation.stages
        if stage.verdict.level is Level.COUPLED_MODES
        for component in sorted(sorted(part) for part in stage.verdict.components)
    )


def resting_loss(derivation: Derivation) -> Scalar | None:
    """Return the loss of the aligned modes in the end, or None where it was not proven.

    Above the least loss by what modes would gain that would have to turn negative.
    """
    found = derivation.races
    gains = [race.gain for race in found]
    if len(derivation.stages) > 1 or not gains or any(gain is None for gain in gains):
        return None
    total = derivation.initial_loss
    for gain in gains:
        assert gain is not None
        total = total - gain
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
    modes = tuple(_modes(stage, p, a) for p, a in nodes)
    values = derivation.spec.values
    reason = _reason(system, derivation)
    end = None if reason else system.settled(values)
    if not reason and end is None:
        reason = "of conjugate modes some win and others lose, which is not solved exactly here"
    simple = len(nodes) <= MOST_LISTED and all(c.degree == 1 for c in system.classes)
    others = None
    if end is not None and simple:
        others = tuple(f for f in system.feasible(values) if f.support != end.support)
    return Race(system=system, modes=modes, end=end, undecided=reason, unstable=others)


def _modes(stage: StageDerivation, p: int, a: int) -> tuple[ModeDerivation, ...]:
    pathway = stage.pathways[p]
    found = [
        (pathway.spectrum.modes[m.number - 1].root, m) for m in pathway.modes if m.class_index == a
    ]
    return tuple(mode for _, mode in sorted(found, key=lambda entry: entry[0]))


def _reason(system: Competition, derivation: Derivation) -> str:
    """Say why no equilibrium is singled out; empty where one is."""
    if any(parameter.value is None for parameter in derivation.spec.parameters):
        return "who wins depends on the parameters, and no value is declared"
    if not system.has_lyapunov:
        return "the couplings are not symmetric, and no function that falls along the flow is known"
    if not system.is_convex(derivation.spec.values):
        return "the couplings are singular: equilibria are not isolated, the start picks one"
    return ""


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


def equilibrium_steps(found: tuple[Race, ...]) -> list[Step]:
    """Return how the ends of the competitions were proven.

    Raises:
        ArithmeticError: A check failed: a bug of symreln.
    """
    from symreln.derivation import Step

    steps = []
    ended = [race for race in found if race.end is not None]
    if ended:
        for race in ended:
            check_end(race)
        steps.append(
            Step(
                name="equilibria",
                statement=(
                    f"{len(ended)} of {len(found)} competitions of modes come to rest at the "
                    "printed equilibrium from every positive start of the aligned modes."
                ),
                check=(
                    "substitution: drives of winners cancel to 0, those of losers are not "
                    "positive, by exact signs; the loss's form is symmetric, entry by entry, and "
                    "positive definite, by its pivots"
                ),
                outcome=Truth.PROVEN,
            )
        )
    if any(race.system.conserved for race in found):
        for race in found:
            check_conserved(race)
        steps.append(
            Step(
                name="conserved quantities",
                statement="The printed sums of logarithms grow at the printed constant rates.",
                check="their derivatives along the flow: the strengths' coefficients cancel to 0",
                outcome=Truth.PROVEN,
            )
        )
    steps += [
        Step(
            name="equilibria",
            statement="Where " + ", ".join(race.labels) + " come to rest.",
            check=race.undecided,
            outcome=Truth.UNDECIDED,
        )
        for race in found
        if race.end is None
    ]
    return steps


def check_end(race: Race) -> None:
    """Substitute the end into the drives, by another route than the one that found it.

    Raises:
        ArithmeticError: A drive does not vanish on the support.
    """
    assert race.end is not None
    system = race.system
    for p, there in enumerate(race.end.support):
        field = system.fields[p]
        drive = field.constant(1)
        own = system.classes[p].d
        assert own is not None
        drive = field.add(drive, field.scale(field.multiply(own, race.end.phi[p]), -1))
        for (target, source), factors in system.factors.items():
            if target == p:
                for value, factor in zip(race.end.phi[source], factors, strict=True):
                    drive = field.add(drive, field.scale(factor, -value))
        if drive != race.end.drives[p] or (there and any(not c.is_zero for c in drive)):
            msg = "the derivation's own check failed: an equilibrium of coupled modes"
            raise ArithmeticError(msg)


def check_conserved(race: Race) -> None:
    """Put the flow into the derivative of every conserved sum: Σ_a c_a F_ab is 0 for all b.

    Raises:
        ArithmeticError: A strength is left in a derivative.
    """
    for row in race.system.conserved:
        for column in zip(*race.system.matrix, strict=True):
            if not sum((c * f for c, f in zip(row, column, strict=True)), start=row[0] * 0).is_zero:
                msg = "the derivation's own check failed: a conserved quantity of coupled modes"
                raise ArithmeticError(msg)
