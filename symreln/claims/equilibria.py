r"""Coupled modes: their competition, in floats and in symbols, and where it comes to rest, exactly.

Coupled modes obey :math:`\tau\dot\pi_a = 2\pi_a(s_a - \sum_b \kappa_{ab}\pi_b)`. With
:math:`\pi_a = s_a \varphi_a` this is :math:`\tau\dot\varphi_a = 2 s_a \varphi_a \delta_a`,

.. math:: \delta_a = 1 - \sum_b F_{ab}\,\varphi_b, \qquad F_{aa} = d_a,
   \quad F_{ab} = \kappa_{ab}\, s_b / s_a,

and F is rational where all s² and d are; of conjugate modes nothing is decided here.

*Equilibria.* Those with support S solve F_SS phi_S = 1. With w_a = m_a s_a² the loss is
:math:`L_0 - w^T\varphi + \frac12 \varphi^T W F \varphi`. Where W F is symmetric,
:math:`\tau \dot L = -2 \sum_a m_a \pi_a (s_a \delta_a)^2 \le 0`; where it is positive definite
too, L is strictly convex and has one minimum phi* over phi >= 0, the equilibrium whose delta_a
are <= 0 outside its support. It attracts every positive start: with V = Σ_a (w_a/s_a)(phi_a −
phi*_a − phi*_a ln phi_a),

.. math:: \tau \dot V = -2 (\varphi-\varphi^*)^T W F (\varphi-\varphi^*)
   + 2 \sum_a w_a \varphi_a \delta_a(\varphi^*) \le 0.

Source: [Saxe2022] for the system; the function V is Goh's, for Lotka-Volterra systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.base.summaries import few
from symreln.claims.claim import Claim, Step
from symreln.claims.probes import mode_bases
from symreln.document.document_model import Block, Content, Math, Table
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import say, typeset
from symreln.document.words import Notation, decimal_cell, number_cell, scalar_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.linear import inverse
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.truth import Truth
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, ModeDerivation, StageDerivation

    Node = tuple[int, int]

#: Why nothing is decided of modes whose s² is no rational function of the parameters.
_CONJUGATE = "of conjugate modes some may win and others lose, which is integrated"
#: Modes of the table that are printed.
_MOST_MODES = 40


@record(eq=False)
class _ModeSystem:
    r"""tau dπ_a/dt = 2 π_a (s_a − Σ_b kappa_ab π_b) in floats.

    Attributes:
        labels: Strength of every mode with s > 0; null modes start at zero and stay there.
        s: Singular values, shape (modes,).
        kappa: Couplings, shape (modes, modes): d on the diagonal.
        multiplicity: Equal modes that an entry stands for, shape (modes,).
    """

    labels: tuple[str, ...]
    s: np.ndarray
    kappa: np.ndarray
    multiplicity: np.ndarray

    def loss(self, initial: float, strengths: np.ndarray) -> np.ndarray:
        """Return L0 − Σ m_a s_a π_a + ½ Σ m_a kappa_ab π_a π_b, shape (times,).

        Args:
            initial: Loss with all outputs zero.
            strengths: Shape (modes, times).
        """
        weighted = self.multiplicity[:, None] * strengths
        quadratic = np.einsum("at,ab,bt->t", weighted, self.kappa, strengths)
        return initial - self.s @ weighted + 0.5 * quadratic


def mode_system(stage: StageDerivation) -> _ModeSystem:
    """Return the system of a stage without free parameters, verdict `coupled modes`.

    Couplings are the numbers that K G is on equal modes, by its trace.
    """
    entries = [(p, m) for p, pathway in enumerate(stage.pathways) for m in pathway.modes]
    entries = [(p, mode) for p, mode in entries if not mode.is_null]
    bases = [mode_bases(pathway) for pathway in stage.pathways]
    kappa = np.diag([0.0 if m.d is None else m.d.to_float() for _, m in entries])
    for p, j in stage.verdict.couplings.coupled_pairs:
        target, source = (stage.pathways[place].effective for place in (p, j))
        cross = source.cross_sigma_x(target).to_numpy()
        for row, (_, a) in ((n, each) for n, each in enumerate(entries) if each[0] == p):
            for column, (_, b) in ((n, each) for n, each in enumerate(entries) if each[0] == j):
                (u, v), (u_j, v_j) = bases[p][a.label], bases[j][b.label]
                kappa[row, column] = np.sum((u.T @ u_j) * (v.T @ cross.T @ v_j)) / u.shape[1]
    return _ModeSystem(
        labels=tuple(mode.label for _, mode in entries),
        s=np.array([mode.s.to_float() for _, mode in entries]),
        kappa=kappa,
        multiplicity=np.array([mode.multiplicity for _, mode in entries], dtype=float),
    )


def symbolic_drives(
    stage: StageDerivation, symbols: Mapping[str, sp.Symbol]
) -> dict[sp.Symbol, sp.Expr] | None:
    """Return s_a − Σ_b kappa_ab π_b of strengths; None where an s² is not rational, or too long."""
    nodes = _learning(stage)
    matrix = _matrix(stage, nodes)
    if matrix is None:
        return None
    s, names = [], []
    for p, a in nodes:
        (mode,) = (m for m in stage.pathways[p].modes if m.class_index == a)
        s.append(mode.s.to_sympy(symbols))
        names.append(sp.Symbol(mode.label, positive=True))
    found = {}
    for row, name in enumerate(names):
        try:
            acting = [
                matrix.entry(row, column).to_sympy(symbols) * s[row] / s[column] * other
                for column, other in enumerate(names)
            ]
        except OverflowError:  # SymPy looks for factors of numbers beyond float64
            return None
        found[name] = s[row] - sp.Add(*acting)
    return found


def _learning(stage: StageDerivation) -> list[Node]:
    """Return (pathway, class) of all modes with s > 0."""
    spectra = enumerate(pathway.spectrum for pathway in stage.pathways)
    return [(p, a) for p, x in spectra for a, each in enumerate(x.classes) if not each.is_null]


def _matrix(stage: StageDerivation, nodes: list[Node]) -> ExactMatrix | None:
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
        squares: s² of every class, not zero.
        matrix: F; None where modes are conjugate.
        declared: The parameters' values.
        notation: How numbers are printed.
        phi: pi/s of every class at the equilibrium that attracts every positive start, zero of
            those that are not there; None where none was proven.
        undecided: Why there is none; empty where there is one.
    """

    modes: tuple[tuple[ModeDerivation, ...], ...]
    squares: tuple[Scalar, ...]
    matrix: ExactMatrix | None
    declared: Mapping[str, Fraction]
    notation: Notation
    phi: tuple[Scalar, ...] | None = None
    undecided: str = ""

    @cached_property
    def weights(self) -> tuple[Scalar, ...]:
        """W, one number a class."""
        pairs = zip(self.squares, self.modes, strict=True)
        return tuple(square * modes[0].multiplicity for square, modes in pairs)

    @cached_property
    def form(self) -> ExactMatrix:
        """W F, the quadratic form of the loss."""
        assert self.matrix is not None
        return self.matrix.T.scaled_columns(self.weights).T.reduced()

    @property
    def is_convex(self) -> bool:
        """Whether W F, which must be symmetric, is positive definite at the declared values."""
        rows = self.form.substitute(self.declared).to_fractions()
        for k, pivot_row in enumerate(rows):
            if pivot_row[k] <= 0:
                return False
            for row in rows[k + 1 :]:
                ratio = row[k] / pivot_row[k]
                row[:] = [a - ratio * b for a, b in zip(row, pivot_row, strict=True)]
        return True

    def drives(self, phi: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        """Return delta of every class."""
        assert self.matrix is not None
        column = self.matrix @ ExactMatrix.from_rows([[x] for x in phi], self.matrix.parameters)
        return tuple(1 - column.entry(place, 0) for place in range(len(phi)))

    def _solved(self, support: list[int]) -> tuple[Scalar, ...]:
        """Return the solution of delta = 0 on a support; W F must be definite."""
        phi = [square * 0 for square in self.squares]
        if support:
            right = ExactMatrix.from_rows(
                [[self.weights[place]] for place in support], self.form.parameters
            )
            found = inverse(self.form.select(support, support)) @ right
            for row, place in enumerate(support):
                phi[place] = found.entry(row, 0)
        return tuple(phi)

    def settled(self) -> tuple[Scalar, ...]:
        """Return the equilibrium that attracts all positive starts, by Murty's pivoting.

        W F must be symmetric and positive definite, which makes the search end: the class with
        the least index that is negative, or grows although it is absent, changes sides.
        """
        inside = set(range(len(self.squares)))
        while True:
            phi = self._solved(sorted(inside))
            drives = self.drives(phi)
            wrong = [
                place
                for place in range(len(phi))
                if (self._at(phi[place]) < 0 if place in inside else self._at(drives[place]) > 0)
            ]
            if not wrong:
                # Without classes whose strength is exactly 0.
                return self._solved([p for p, value in enumerate(phi) if self._at(value) > 0])
            inside ^= {wrong[0]}

    def _at(self, value: Scalar) -> Fraction:
        return value.substitute(self.declared).to_fraction()

    @property
    def gain(self) -> Scalar:
        """What the equilibrium takes off the loss: half of w·phi, since F phi = 1."""
        assert self.phi is not None
        pairs = zip(self.weights, self.phi, strict=True)
        return sum((w * x for w, x in pairs), start=self.squares[0] * 0) / 2

    @property
    def winners(self) -> dict[str, AlgebraicNumber]:
        """Strengths in the end of the modes that are there, by label."""
        return {} if self.phi is None else self._numbers(self.phi, there=True)

    @property
    def losers(self) -> dict[str, AlgebraicNumber]:
        """Shortfalls Σ kappa π − s in the end of the modes that are not there, by label."""
        return {} if self.phi is None else self._numbers(self.drives(self.phi), there=False)

    def _numbers(self, found: tuple[Scalar, ...], *, there: bool) -> dict[str, AlgebraicNumber]:
        assert self.phi is not None
        return {
            modes[0].label: AlgebraicNumber.rational(square * x * x, is_sqrt=True)
            for modes, square, x, phi in zip(self.modes, self.squares, found, self.phi, strict=True)
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
        winners, losers = self.winners, self.losers
        for label in self.labels:
            name, zero = Math(symbol_latex(label)), Math("0")
            if label in winners:
                cell = number_cell(winners[label], self.notation)
                yield (name, cell, decimal_cell(winners[label], self.declared), zero)
            else:
                yield (name, zero, zero, number_cell(losers[label], self.notation))

    def check(self) -> None:
        """Substitute the end into the drives of all modes.

        Raises:
            ArithmeticError: A drive is not what it should be: a bug of symreln.
        """
        assert self.phi is not None  # it was proven
        for phi, drive in zip(self.phi, self.drives(self.phi), strict=True):
            if self._at(drive) > 0 if phi.is_zero else not (drive.is_zero and self._at(phi) > 0):
                msg = "the derivation's own check failed: an equilibrium of coupled modes"
                raise ArithmeticError(msg)


@record(eq=False)
class _Equilibria(Claim):
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
    competitions: tuple[CompetitionEnd, ...]
    stages: int

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
        ends = [race for race in self.competitions if race.phi is not None]
        for race in ends:
            race.check()
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


def equilibria_of(derivation: Derivation) -> _Equilibria | None:
    """Return where coupled modes come to rest; None where no stage has any."""
    races = derivation.ask(races_of)
    if not races:
        return None
    loss = None
    if len(derivation.stages) == 1 and all(race.phi is not None for race in races):
        loss = derivation.initial_loss
        for race in races:
            loss = loss - race.gain
    return _Equilibria(
        loss=loss,
        least=derivation.least_loss,
        competitions=races,
        stages=len(derivation.stages),
    )


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
    pathways = stage.pathways
    race = CompetitionEnd(
        modes=tuple(
            tuple(mode for mode in pathways[p].modes if mode.class_index == a) for p, a in nodes
        ),
        squares=tuple(pathways[p].spectrum.classes[a].eigenvalue[0] for p, a in nodes),
        matrix=_matrix(stage, nodes),
        declared=derivation.spec.values,
        notation=Notation.of(derivation.spec),
    )
    why = _why_open(race, known=derivation.spec.has_values)
    return replace(race, undecided=why) if why else replace(race, phi=race.settled())


def _why_open(race: CompetitionEnd, *, known: bool) -> str:
    """Return why no equilibrium was proven to attract; "" where one is."""
    if race.matrix is None:
        return _CONJUGATE
    if not known:
        return "who wins depends on the parameters, and no value is declared"
    if race.form != race.form.T:
        return "the couplings are not symmetric, and no function that falls along the flow is known"
    if not race.is_convex:
        return "the couplings are singular, so that it may depend on the start; it is integrated"
    return ""
