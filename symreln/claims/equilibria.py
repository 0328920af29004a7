"""Where coupled modes come to rest, exactly, and their system in floats and in symbols."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, reduce
from operator import sub
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.records import record
from symreln.base.summaries import few
from symreln.claims.claim import Claim, Step
from symreln.claims.probes import mode_bases
from symreln.document.document_model import Block, Content, Math, Table
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import say, typeset
from symreln.document.words import Notation, decimal_cell, number_cell, scalar_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.truth import Truth
from symreln.laws.competition import Competition
from symreln.laws.coupled_modes import ModeSystem
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, ModeDerivation, StageDerivation
    from symreln.specs.spec import Spec

    Node = tuple[int, int]

#: Why nothing is decided of modes whose s² is no rational function of the parameters.
_CONJUGATE = "of conjugate modes some may win and others lose, which is integrated"
#: Modes of the table that are printed.
_MOST_MODES = 40


def mode_system(stage: StageDerivation) -> ModeSystem:
    """Return the system of a stage without free parameters, verdict `coupled modes`.

    Couplings are the numbers that K G is on equal modes, by its trace.
    """
    entries = [(p, mode) for p, pathway in enumerate(stage.pathways) for mode in pathway.learning]
    bases = [mode_bases(pathway) for pathway in stage.pathways]
    kappa = np.diag([0.0 if m.d is None else m.d.to_float() for _, m in entries])
    for p, j in stage.verdict.couplings.coupled_pairs:
        target, source = (stage.pathways[place].effective for place in (p, j))
        cross = source.cross_sigma_x(target).to_numpy()
        for row, (_, a) in ((n, each) for n, each in enumerate(entries) if each[0] == p):
            for column, (_, b) in ((n, each) for n, each in enumerate(entries) if each[0] == j):
                (u, v), (u_j, v_j) = bases[p][a.label], bases[j][b.label]
                kappa[row, column] = np.sum((u.T @ u_j) * (v.T @ cross.T @ v_j)) / u.shape[1]
    return ModeSystem(
        labels=tuple(mode.label for _, mode in entries),
        s=np.array([mode.s.to_float() for _, mode in entries]),
        kappa=kappa,
        multiplicity=np.array([mode.multiplicity for _, mode in entries], dtype=float),
    )


def competition_matrix(stage: StageDerivation, nodes: list[Node]) -> ExactMatrix | None:
    """Return F of some classes; None where some of them are conjugate."""
    classes = [stage.pathways[p].spectrum.classes[a] for p, a in nodes]
    if any(each.degree > 1 or each.d is None for each in classes):
        return None
    place = {node: index for index, node in enumerate(nodes)}
    rows = [[each.eigenvalue[0] * 0 for each in classes] for _ in classes]
    for index, each in enumerate(classes):
        rows[index][index] = each.d[0] if each.d else rows[index][index]
    for c in stage.verdict.couplings.couplings:
        if c.target in place and c.source in place and c.factors is not None:
            rows[place[c.target]][place[c.source]] = c.factors[0][0]
    return ExactMatrix.from_rows(rows, classes[0].eigenvalue[0].parameters)


@record(eq=False)
class CompetitionEnd(Claim):
    """Modes that compete, and how the competition ends.

    Attributes:
        modes: The modes of every class.
        competition: Their law; None where modes are conjugate.
        spec: Theirs, with the parameters' values.
        phi: pi/s of every class at the equilibrium that attracts every positive start, zero of
            those that are not there; None where none was proven.
        undecided: Why there is none; empty where there is one.
    """

    modes: tuple[tuple[ModeDerivation, ...], ...]
    competition: Competition | None
    spec: Spec
    phi: tuple[Scalar, ...] | None = None
    undecided: str = ""

    @property
    def winners(self) -> dict[str, AlgebraicNumber]:
        """Strengths in the end of the modes that are there, by label."""
        return {} if self.phi is None else self._numbers(self.phi, there=True)

    @property
    def losers(self) -> dict[str, AlgebraicNumber]:
        """Shortfalls Σ kappa π − s in the end of the modes that are not there, by label."""
        if self.phi is None or self.competition is None:
            return {}
        return self._numbers(self.competition.drives(self.phi), there=False)

    def _numbers(self, found: tuple[Scalar, ...], *, there: bool) -> dict[str, AlgebraicNumber]:
        assert self.competition is not None  # what has an end has a law
        assert self.phi is not None
        each = zip(self.modes, self.competition.squares, found, self.phi, strict=True)
        return {
            modes[0].label: AlgebraicNumber.rational(square * x * x, is_sqrt=True)
            for modes, square, x, phi in each
            if phi.is_zero is not there
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
            "at_rest": None if self.phi is None else known,
        }

    def rows(self) -> Iterator[tuple[Content, ...]]:
        """Yield (strength, its end, decimal, shortfall) of every mode."""
        winners, losers, notation = self.winners, self.losers, Notation.of(self.spec)
        for label in self.labels:
            name, zero = Math(symbol_latex(label)), Math("0")
            if label in winners:
                cell = number_cell(winners[label], notation)
                yield (name, cell, decimal_cell(winners[label], self.spec.values), zero)
            else:
                yield (name, zero, zero, number_cell(losers[label], notation))


@record(eq=False)
class _Equilibria(Claim):
    """Where the coupled modes of all stages come to rest.

    Attributes:
        derivation: Whose they are.
        competitions: How every competition ends.
    """

    derivation: Derivation
    competitions: tuple[CompetitionEnd, ...]

    @cached_property
    def loss(self) -> Scalar | None:
        """Loss of the aligned modes in the end, exact. None where it was not proven."""
        ends, loss = _ended(self.competitions), self.derivation.initial_loss
        whole = len(self.derivation.stages) == 1 and len(ends) == len(self.competitions)
        return reduce(sub, (law.gain(phi) for law, phi in ends), loss) if whole else None

    def values(self) -> dict[str, Any]:
        """Return the loss and the competitions."""
        return {"loss": self.loss, "competitions": self.competitions}

    def says(self) -> Iterator[Block]:
        """Say where modes come to rest, and how that was proven stable."""
        ended = [race for race in self.competitions if race.phi is not None]
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
        staged = len(self.derivation.stages) > 1
        return say(
            f"{'Aligned modes' if whole else 'The aligned modes in this table'}"
            + ", their stage seeing what converged earlier stages leave," * staged
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
        spec, lowest = self.derivation.spec, self.derivation.least_loss
        declared, notation = spec.values, Notation.of(spec)
        loss, least = (scalar_latex(value, notation) for value in (self.loss, lowest))
        # Who stays is decided at the declared values, and so is what there is to compare.
        where = ", at the declared values" if declared and self.loss != lowest else ""
        if self.loss.substitute(declared) == lowest.substitute(declared):
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
        ends = _ended(self.competitions)
        for law, phi in ends:
            law.check(phi)
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


def _ended(races: Sequence[CompetitionEnd]) -> list[tuple[Competition, tuple[Scalar, ...]]]:
    """Return the competitions whose end is proven, with it."""
    found = ((race.competition, race.phi) for race in races)
    return [(law, phi) for law, phi in found if law is not None and phi is not None]


def equilibria_of(derivation: Derivation) -> _Equilibria | None:
    """Return where coupled modes come to rest; None where no stage has any."""
    races = derivation.ask(races_of)
    return _Equilibria(derivation=derivation, competitions=races) if races else None


def races_of(derivation: Derivation) -> tuple[CompetitionEnd, ...]:
    """Return the competitions of all stages of coupled modes; a mode alone is one of them."""
    return tuple(
        _race(derivation, stage, component)
        for stage in derivation.stages
        if stage.verdict.level is Level.COUPLED_MODES and not derivation.by_edges
        for component in sorted(sorted(part) for part in stage.verdict.components)
    )


def _race(derivation: Derivation, stage: StageDerivation, nodes: list[Node]) -> CompetitionEnd:
    """Return the competition of some classes of modes, as (pathway, class), in a stage."""
    spec, matrix = derivation.spec, competition_matrix(stage, nodes)
    modes = tuple(
        tuple(mode for mode in stage.pathways[p].modes if mode.class_index == a) for p, a in nodes
    )
    competition, phi, why = None, None, _CONJUGATE
    if matrix is not None:
        competition = Competition(
            squares=tuple(stage.pathways[p].spectrum.classes[a].eigenvalue[0] for p, a in nodes),
            counts=tuple(alike[0].multiplicity for alike in modes),
            matrix=matrix,
            declared=spec.values,
        )
        open_ = "who wins depends on the parameters, and no value is declared"
        why = competition.why_open if spec.has_values else open_
        phi = None if why else competition.settled()
    return CompetitionEnd(
        modes=modes,
        competition=competition,
        spec=spec,
        phi=phi,
        undecided=why,
    )
