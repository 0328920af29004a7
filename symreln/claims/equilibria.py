"""Where stages of coupled modes come to rest, and how that was proven."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symreln.base.records import record
from symreln.base.summaries import few
from symreln.claims.claim import Claim, Step
from symreln.document.model import Block, Content, Math, Table
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import say, typeset
from symreln.document.words import Notation, decimal_cell, number_cell, scalar_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.exact.truth import Truth
from symreln.laws.competition import Competition, Equilibrium
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, ModeDerivation, StageDerivation

#: Why nothing is decided of modes whose s² is no rational function of the parameters.
_CONJUGATE = "of conjugate modes some may win and others lose, which is integrated"
#: Modes of the table that are printed.
_MOST_MODES = 40


@record(eq=False)
class Race(Claim):
    """Modes that compete, and how the competition ends.

    Attributes:
        system: The competition; None where modes are conjugate.
        modes: The modes of every class.
        end: The equilibrium that attracts every positive start; None where none was proven.
        undecided: Why there is none; empty where there is one.
        declared: The parameters' values.
        notation: How numbers are printed.
    """

    system: Competition | None
    modes: tuple[tuple[ModeDerivation, ...], ...]
    end: Equilibrium | None
    undecided: str
    declared: Mapping[str, Fraction]
    notation: Notation

    @property
    def winners(self) -> dict[str, AlgebraicNumber]:
        """Strengths in the end of the modes that are there, by label."""
        return self._numbers(there=True)

    @property
    def losers(self) -> dict[str, AlgebraicNumber]:
        """Shortfalls Σ kappa π − s in the end of the modes that are not there, by label."""
        return self._numbers(there=False)

    def _numbers(self, *, there: bool) -> dict[str, AlgebraicNumber]:
        if self.end is None or self.system is None:
            return {}
        elements = self.end.phi if there else self.end.drives
        return {
            mode.label: self.system.strength(p, elements[p])
            for p, (mode,) in enumerate(self.modes)
            if self.end.support[p] is there
        }

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of all modes."""
        return tuple(mode.label for part in self.modes for mode in part)

    def values(self) -> dict[str, Any]:
        """Return where it comes to rest, "at_rest", which is None where "undecided" says why."""
        known = {"strengths": self.winners, "shortfall": self.losers}
        return {
            "modes": self.labels,
            "undecided": self.undecided,
            "at_rest": None if self.end is None else known,
        }

    def rows(self) -> Iterator[tuple[Content, ...]]:
        """Yield (strength, its end, decimal, shortfall) of every mode."""
        winners, losers = self.winners, self.losers
        for label in self.labels:
            name, zero = Math(symbol_latex(label)), Math("0")
            if label in winners:
                cell = number_cell(winners[label], self.notation)
                yield (name, cell, decimal_cell(winners[label], self.declared), zero)
            else:
                yield (name, zero, zero, number_cell(losers[label], self.notation))

    def check(self, end: Equilibrium) -> None:
        """Substitute the end into the drives of all modes.

        Raises:
            ArithmeticError: A drive is not what it should be: a bug of symreln.
        """
        assert self.system is not None  # whose equilibrium it is
        drives = self.system.drives(end.phi)
        values = self.declared
        if drives != end.drives or any(
            not drive.is_zero if there else drive.substitute(values).to_fraction() > 0
            for there, drive in zip(end.support, drives, strict=True)
        ):
            msg = "the derivation's own check failed: an equilibrium of coupled modes"
            raise ArithmeticError(msg)


@record(eq=False)
class Equilibria(Claim):
    """Where the coupled modes of all stages come to rest.

    Attributes:
        loss: Loss of the aligned modes in the end, exact. None where it was not proven.
        least: The least loss that the pathways can reach: below it by what modes would gain that
            would have to turn negative.
        competitions: How every competition ends.
        stages: How many training stages there are.
    """

    loss: Scalar | None
    least: Scalar
    competitions: tuple[Race, ...]
    stages: int

    def values(self) -> dict[str, Any]:
        """Return the loss and the competitions."""
        return {"loss": self.loss, "competitions": self.competitions}

    def says(self) -> Iterator[Block]:
        """Say where modes come to rest, and how that was proven stable."""
        ended = [race for race in self.competitions if race.end is not None]
        if ended:
            yield self._why(whole=len(ended) == len(self.competitions))
            yield Table(
                header=(
                    *("strength", Math(r"\pi^*"), "decimal"),
                    Math(r"\sum_b \kappa_{ab} \pi^*_b - s_a"),
                ),
                rows=tuple(row for race in ended for row in race.rows()),
                caption="Where coupled modes come to rest, at the declared values of parameters.",
                alignment="lccc",
                most=_MOST_MODES,
            )
        yield from self._says_loss()
        for race in self.competitions:
            if race.undecided:
                labels, why = typeset(few(race.labels)), typeset(race.undecided)
                template = "Where {labels} come to rest is not decided: {why}."
                yield say(template, labels=labels, why=why)

    def _why(self, *, whole: bool) -> Block:
        return say(
            f"{'Aligned modes' if whole else 'The aligned modes in this table'}"
            + ", their stage seeing what converged earlier stages leave," * (self.stages > 1)
            + " come to rest at the equilibrium below from every positive start. With $L$ a "
            r"function of the strengths, $m_a \kappa_{ab}$ is symmetric and positive definite "
            r"(checked exactly), so that $\tau \dot{L} = -2 \sum_a m_a \pi_a (s_a - \sum_b "
            r"\kappa_{ab} \pi_b)^2 \leq 0$, and $L$ has one minimum over $\pi \geq 0$: drives of "
            "the modes that stay vanish, those of the others are not positive. That it attracts is "
            r"shown by $\sum_a (m_a/2) (\pi_a - \pi^*_a - \pi^*_a \ln \pi_a)$, which falls along "
            "the flow (Goh, 1977, for species that compete)."
        )

    def _says_loss(self) -> Iterator[Block]:
        if self.loss is None:
            return
        declared, notation = self.competitions[0].declared, self.competitions[0].notation
        loss, least = (scalar_latex(value, notation) for value in (self.loss, self.least))
        # Who stays is decided at the declared values, and so is what there is to compare.
        where = ", at the declared values" if declared and self.loss != self.least else ""
        if self.loss.substitute(declared) == self.least.substitute(declared):
            end = "the least that the pathways can reach."
        else:
            end = (
                f"above the least that the pathways can reach, ${least}$. The least loss needs a "
                "negative strength or another direction, which an aligned positive start never "
                "reaches. Random weights have small components of the opposite sign. Where these "
                "lower the loss they grow in the end; the matrix reduction below contains them."
            )
        yield say(f"The loss of the modes at rest is ${loss}${where}, {end}")

    def steps(self) -> Iterator[Step]:
        """Check every end; say how it was proven."""
        ends = [(race, race.end) for race in self.competitions if race.end is not None]
        for race, end in ends:
            race.check(end)
        if ends:
            yield Step(
                name="equilibria",
                statement=f"{len(ends)} of {len(self.competitions)} competitions of modes come to "
                "rest at the equilibrium that is given, from every positive start of the aligned "
                "modes.",
                check="substitution: drives of winners cancel to 0, those of losers are not "
                "positive, by exact signs; the loss's form is symmetric, entry by entry, and "
                "positive definite, by its pivots",
            )
        for race in self.competitions:
            if race.undecided:
                yield Step(
                    name="equilibria",
                    statement=f"Where {', '.join(race.labels)} come to rest.",
                    check=race.undecided,
                    outcome=Truth.UNDECIDED,
                )


def equilibria_of(derivation: Derivation) -> Equilibria | None:
    """Return where coupled modes come to rest; None where no stage has any."""
    races = derivation.ask(races_of)
    if not races:
        return None
    return Equilibria(
        loss=_resting_loss(derivation, races),
        least=derivation.least_loss,
        competitions=races,
        stages=len(derivation.stages),
    )


def races_of(derivation: Derivation) -> tuple[Race, ...]:
    """Return the competitions of all stages of coupled modes; a mode alone is one of them."""
    return tuple(
        _race(derivation, stage, component)
        for stage in derivation.stages
        if stage.verdict.level is Level.COUPLED_MODES and not derivation.by_edges
        for component in sorted(sorted(part) for part in stage.verdict.components)
    )


def _resting_loss(derivation: Derivation, races: tuple[Race, ...]) -> Scalar | None:
    total = derivation.initial_loss
    for race in races:
        if race.end is None or race.system is None:
            return None
        total = total - race.system.gain(race.end)
    return total if len(derivation.stages) == 1 else None


def _race(derivation: Derivation, stage: StageDerivation, nodes: list[tuple[int, int]]) -> Race:
    """Return the competition of some classes of modes, as (pathway, class), in a stage."""
    system = _system(stage, nodes)
    why = _CONJUGATE if system is None else _why_open(system, derivation)
    return Race(
        system=system,
        modes=tuple(
            tuple(mode for mode in stage.pathways[p].modes if mode.class_index == a)
            for p, a in nodes
        ),
        end=None if why or system is None else system.settled(derivation.spec.values),
        undecided=why,
        declared=derivation.spec.values,
        notation=Notation.of(derivation.spec),
    )


def _system(stage: StageDerivation, nodes: list[tuple[int, int]]) -> Competition | None:
    """Return the competition of some classes; None where some of them are conjugate."""
    classes = [stage.pathways[p].spectrum.classes[a] for p, a in nodes]
    place = {node: index for index, node in enumerate(nodes)}
    if any(each.degree > 1 for each in classes):
        return None
    matrix = [[each.eigenvalue[0] * 0 for each in classes] for _ in classes]
    for index, each in enumerate(classes):
        assert each.d is not None
        matrix[index][index] = each.d[0]
    for c in stage.verdict.couplings.couplings:
        if c.target in place and c.source in place and c.factors is not None:
            matrix[place[c.target]][place[c.source]] = c.factors[0][0]
    return Competition(
        squares=tuple(each.eigenvalue[0] for each in classes),
        multiplicities=tuple(each.multiplicity for each in classes),
        matrix=matrix,
    )


def _why_open(system: Competition, derivation: Derivation) -> str:
    """Return why no equilibrium was proven to attract; "" where one is."""
    values = derivation.spec.values
    if not derivation.spec.has_values:
        return "who wins depends on the parameters, and no value is declared"
    if not system.has_lyapunov:
        return "the couplings are not symmetric, and no function that falls along the flow is known"
    if not system.is_convex(values):
        return "the couplings are singular, so that it may depend on the start; it is integrated"
    return ""
