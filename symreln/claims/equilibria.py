"""Where stages of coupled modes come to rest, how that was proven, and what they conserve."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.base.summaries import few, short_repr
from symreln.claims.claim import Claim, Step
from symreln.claims.resting_points import MOST_NAMED, RestingPoints, resting_points, why_a_point
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Content, Math, Table, equation
from symreln.document.symbols import symbol_latex
from symreln.document.typeset import say, typeset
from symreln.document.words import Notation, decimal_cell, number_cell, scalar_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.exact.truth import Truth
from symreln.laws.competition import MOST_LISTED, Competition, Equilibrium
from symreln.laws.resting_line import RestingLine, groups_alike, resting_line, totals
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, ModeDerivation, StageDerivation

    Coefficients = Sequence[Scalar]

#: Modes up to which a singular competition is solved, by exact linear programming in seconds.
MOST_FOLLOWED = 48
#: Modes of the table, and conserved quantities, that are printed.
_MOST_MODES = 40
#: What a check that fails says.
_FAILED = "the derivation's own check failed:"


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Race(Claim):
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
        declared: The parameters' values.
        notation: How numbers are printed.
        strength0: Where the prediction starts every mode; None where that is not known.
    """

    system: Competition
    modes: tuple[tuple[ModeDerivation, ...], ...]
    groups: tuple[tuple[int, ...], ...]
    totals: Competition
    end: Equilibrium | None
    line: RestingLine | None
    undecided: str
    unstable: tuple[Equilibrium, ...] | None
    declared: Mapping[str, Fraction]
    notation: Notation
    strength0: Fraction | None

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

    def growing(self, found: Equilibrium) -> Iterator[str]:
        """Yield the labels of absent modes that grow when they are put in."""
        for g, there in enumerate(found.support):
            if not there and 1 in self.totals.signs(g, found.drives[g], self.declared):
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

    @cached_property
    def points(self) -> RestingPoints | None:
        """The line in the strengths themselves, or None without one."""
        if self.line is None:
            return None
        return resting_points(
            self.totals,
            self.line,
            [self.alike(group) for group in range(len(self.groups))],
            self.declared,
            self.strength0,
        )

    @cached_property
    def conserved(self) -> tuple[tuple[sp.Expr, sp.Expr], ...]:
        """(Σ C_a ln π_a, its constant rate times tau) for every C with Cᵀkappa = 0.

        C_a = c_a/s_a with cᵀF = 0, in units of the first s that occurs.
        """
        squares = [c.eigenvalue[0] for c in self.system.classes]

        def root(square: Scalar) -> sp.Expr:
            return AlgebraicNumber.rational(square, is_sqrt=True).to_sympy(self.notation.symbols)

        found = []
        for row in self.system.conserved:
            first = next(p for p, c in enumerate(row) if not c.is_zero)
            terms = [
                c.to_sympy(self.notation.symbols)
                * root(squares[first] / square)
                * sp.log(sp.Symbol(mode.label, positive=True))
                for c, square, (mode, *_) in zip(row, squares, self.modes, strict=True)
            ]
            rate = (
                2
                * sum(row[1:], start=row[0]).to_sympy(self.notation.symbols)
                * root(squares[first])
            )
            found.append((sp.Add(*terms), rate))
        return tuple(found)

    @cached_property
    def rests(self) -> tuple[Equilibrium, ...]:
        """The end, or a point of the line and those one step along each direction."""
        if self.line is None:
            return () if self.end is None else (self.end,)
        names = self.totals.classes[0].minpoly[0].parameters
        point, drives = self.line.point, self.line.drives
        moves = ((Fraction(0),) * len(point), *self.line.directions)
        return tuple(
            Equilibrium(
                support=self.line.support,
                phi=_constants(names, map(Fraction.__add__, point, move)),
                drives=_constants(names, drives),
            )
            for move in moves
        )

    @property
    def gain(self) -> Scalar | None:
        """What the end takes off the loss, on a line at ``declared``; None without an end."""
        return self.totals.gain(self.rests[0]) if self.rests else None

    def values(self) -> dict[str, Any]:
        """Return where it comes to rest: "at_rest", or the "line" of which the start picks a point.

        Both are None where "undecided" says why; "unstable" is None where not every choice of
        survivors was tried.
        """
        return {
            "modes": self.labels,
            "undecided": self.undecided,
            "at_rest": None if self.end is None else self._point(self.end),
            "line": self.points,
            "unstable": None if self.unstable is None else [*map(self._point, self.unstable)],
            "conserved": [{"sum": total, "rate_times_tau": rate} for total, rate in self.conserved],
        }

    def _point(self, found: Equilibrium) -> dict[str, Any]:
        """Return an equilibrium.

        "shortfall" is Σ kappa π* − s of a mode that is absent, "grows" are the absent modes that
        grow; "totals" are of modes that are alike and share their sum in the ratio of their starts.
        """
        known = list(self.strengths(found))
        shared = [
            {"modes": [mode.label for mode in modes], "total": value}
            for modes, value in known
            if len(modes) > 1
        ]
        more = (
            {"shortfall": {mode.label: value for mode, value in self.losers(found)}}
            if self.end is found
            else {"grows": list(self.growing(found))}
        )
        alone = {modes[0].label: value for modes, value in known if len(modes) == 1}
        return {"strengths": alone} | ({"totals": shared} if shared else {}) | more

    def rows(self) -> Iterator[tuple[Content, ...]]:
        """Yield (strength, its end, decimal, shortfall) of every mode, sums where modes share."""
        assert self.end is not None
        found: dict[str, tuple[Content, ...]] = {}
        for modes, strength in self.strengths(self.end):
            name = " + ".join(symbol_latex(mode.label) for mode in modes)
            cell = number_cell(strength, self.notation)
            decimal = decimal_cell(strength, self.declared)
            found[modes[0].label] = (Math(name), cell, decimal, Math("0"))
        for mode, shortfall in self.losers(self.end):
            cell = number_cell(shortfall, self.notation)
            found[mode.label] = (Math(symbol_latex(mode.label)), Math("0"), Math("0"), cell)
        return (found[label] for label in self.labels if label in found)

    def check(self) -> None:
        """Substitute where it comes to rest, and the conserved sums, into the flow.

        Raises:
            ArithmeticError: A drive is not what it should be, a direction of the line costs loss,
                or a strength is left in the derivative of a conserved sum: a bug of symreln.
        """
        for found in self.rests:
            self._check(found)
        for move in () if self.line is None else self.line.directions:
            squares = (self.totals.weights[a][a] for a in range(len(move)))
            costs = (w.substitute(self.declared) * n for w, n in zip(squares, move, strict=True))
            if not sum(costs, start=Scalar.of(0)).is_zero:
                msg = f"{_FAILED} the loss along a line of equilibria"
                raise ArithmeticError(msg)
        for row in self.system.conserved:
            for column in zip(*self.system.matrix, strict=True):
                terms = (c * f for c, f in zip(row, column, strict=True))
                if not sum(terms, start=row[0] * 0).is_zero:
                    msg = f"{_FAILED} a conserved quantity of coupled modes"
                    raise ArithmeticError(msg)

    def _check(self, found: Equilibrium) -> None:
        """Substitute an equilibrium into the drives of every single mode, those alike sharing."""
        values = {} if self.line is None else self.declared
        group_of = {p: g for g, group in enumerate(self.groups) for p in group}
        places = [group_of[p] for p in range(len(self.system.classes))]
        parts = [[c / len(self.groups[g]) for c in found.phi[g]] for g in places]
        for p, (g, drive) in enumerate(zip(places, _drives(self.system, parts), strict=True)):
            there = found.support[g]
            wrong = any(
                d.substitute(values) != e.substitute(values)
                for d, e in zip(drive, found.drives[g], strict=True)
            )
            if there:
                wrong = wrong or any(not e.is_zero for e in found.drives[g])
            elif 1 in self.system.signs(p, tuple(drive), self.declared):
                wrong = True
            if wrong:
                what = "an equilibrium" if self.line is None else "a line of equilibria"
                msg = f"{_FAILED} {what} of coupled modes"
                raise ArithmeticError(msg)


def _constants(
    names: tuple[str, ...], values: Iterable[Fraction]
) -> tuple[tuple[Scalar, ...], ...]:
    return tuple((Scalar(names, value.numerator) / value.denominator,) for value in values)


def _drives(system: Competition, phi: Sequence[Coefficients]) -> list[Coefficients]:
    """Return delta of every class, from its d and the factors that act on it."""
    found = []
    for p, mode_class in enumerate(system.classes):
        field = system.fields[p]
        own = mode_class.d
        assert own is not None
        drive = field.constant(1)
        drive = field.add(drive, field.scale(field.multiply(own, tuple(phi[p])), -1))
        for (target, source), factors in system.factors.items():
            if target == p:
                for value, factor in zip(phi[source], factors, strict=True):
                    drive = field.add(drive, field.scale(factor, -value))
        found.append(drive)
    return found


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Equilibria(Claim):
    """Where the coupled modes of all stages come to rest.

    Attributes:
        loss: Loss of the aligned modes in the end, exact; at the declared values of parameters
            where some couplings are singular. None where it was not proven.
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
        """Say where modes come to rest, how that was proven stable, and what they conserve."""
        ended = [race for race in self.competitions if race.end is not None]
        lines = [race.points for race in self.competitions if race.points is not None]
        if ended:
            yield self._why(ended)
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
        listed = [r.unstable for r in ended if r.unstable is not None and len(r.modes) > 1]
        if listed:
            yield say(
                "Of the modes that compete, every choice of survivors was tried where they are "
                f"few: {sum(map(len, listed))} more equilibria have positive strengths, and in "
                "each some mode that is absent grows as soon as it is there. They are in "
                "derivation.json."
            )
        for points in lines:
            yield from points.says()
        if lines:
            yield why_a_point()
        yield from self._sharing()
        yield from self._says_loss()
        for race in self.competitions:
            if race.undecided:
                labels, why = typeset(few(race.labels)), typeset(race.undecided)
                template = "Where {labels} come to rest is not decided: {why}."
                yield say(template, labels=labels, why=why)
        yield from self._conserved()

    def _why(self, ended: list[Race]) -> Block:
        whole = len(ended) == len(self.competitions)
        definite = all(race.totals.is_convex(race.declared) for race in ended)
        return say(
            f"{'Aligned modes' if whole else 'The aligned modes in this table'}"
            + ", their stage seeing what converged earlier stages leave," * (self.stages > 1)
            + " come to rest at the equilibrium below from every positive start. With $L$ a "
            "function of the strengths"
            + ", of modes with equal couplings that of their sum"
            * any(race.shared for race in ended)
            + r", $m_a \kappa_{ab}$ is symmetric and positive "
            + (
                "definite (checked exactly)"
                if definite
                else "semidefinite, definite on the modes that stay (checked exactly)"
            )
            + r", so that $\tau \dot{L} = -2 \sum_a m_a \pi_a (s_a - \sum_b \kappa_{ab} \pi_b)^2 "
            r"\leq 0$, and $L$ has one minimum over $\pi \geq 0$: drives of the modes that stay "
            "vanish, those of the others are not positive. That it attracts is shown by "
            r"$\sum_a (m_a/2) (\pi_a - \pi^*_a - \pi^*_a \ln \pi_a)$, which falls along the flow "
            "(Goh, 1977, for species that compete)."
        )

    def _sharing(self) -> Iterator[Block]:
        """Say how modes that are alike share the end of their sum."""
        groups = [modes for race in self.competitions for modes in race.shared]
        if not groups:
            return
        named = [f"${' : '.join(symbol_latex(mode.label) for mode in modes)}$" for modes in groups]
        yield say(
            "Modes with equal $s$ and equal couplings keep their ratios for ever: "
            f"{few(named, MOST_NAMED)}. Their sum obeys the equation of one of them, and is what "
            "is given for them; each has the share of it that it started with,"
        )
        yield equation(
            r"\pi_a(t) = \frac{\pi_a(0)}{\sum_{b \sim a} \pi_b(0)} \sum_{b \sim a} \pi_b(t)."
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

    def _conserved(self) -> Iterator[Block]:
        sums = [
            rf"\tau \frac{{d}}{{dt}} \Bigl( {to_latex(total)} \Bigr) &= {to_latex(rate)}"
            for race in self.competitions
            for total, rate in race.conserved
        ]
        if sums:
            yield say(
                r"A combination $C^{\top} \kappa = 0$ makes $\sum_a C_a \ln \pi_a$ grow at the "
                r"constant rate $2\, C^{\top} s/\tau$; where that is 0 it is conserved:"
            )
            yield equation(*sums[:_MOST_MODES])

    def steps(self) -> Iterator[Step]:
        """Check every end, line and conserved sum; say how they were proven."""
        races = self.competitions
        for race in races:
            race.check()
        ended = [race for race in races if race.end is not None]
        lines = [race for race in races if race.line is not None]
        definite = all(race.totals.is_convex(race.declared) for race in ended)
        proven = {
            "equilibria": ended
            and (
                f"{len(ended)} of {len(races)} competitions of modes come to rest at the "
                "equilibrium that is given, from every positive start of the aligned modes; where "
                "modes have equal s and couplings, it is that of their sum.",
                "substitution: drives of winners cancel to 0, those of losers are not positive, by "
                "exact signs; the loss's form is symmetric, entry by entry, and positive "
                f"{'definite' if definite else 'semidefinite'}, by its pivots",
            ),
            "lines of equilibria": lines
            and (
                f"{len(lines)} of {len(races)} competitions of modes come to rest on the line (or "
                "plane) of equilibria that is given, at the one point that the conserved sums of "
                "the start leave.",
                "substitution: couplings times directions cancel to 0, drives as above; the form "
                "is positive semidefinite, by its pivots; that no more modes stay, by exact linear "
                "programming",
            ),
            "modes that share": any(race.shared for race in races)
            and (
                "The ratios of modes with equal s and couplings never change.",
                "equal s, and equal rows and columns of couplings, entry by entry",
            ),
            "conserved quantities": any(race.system.conserved for race in races)
            and (
                "The printed sums of logarithms grow at the printed constant rates.",
                "their derivatives along the flow: the strengths' coefficients cancel to 0",
            ),
        }
        for name, said in proven.items():
            if said:
                statement, check = said
                yield Step(name=name, statement=statement, check=check)
        for race in races:
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
        least=derivation.final_loss,
        competitions=races,
        stages=len(derivation.stages),
    )


def races_of(derivation: Derivation) -> tuple[Race, ...]:
    """Return the competitions of all stages of coupled modes; a mode alone is one of them."""
    return tuple(
        _race(derivation, stage, component)
        for stage in derivation.stages
        if stage.verdict.level is Level.COUPLED_MODES
        for component in sorted(sorted(part) for part in stage.verdict.components)
    )


def _resting_loss(derivation: Derivation, races: tuple[Race, ...]) -> Scalar | None:
    if len(derivation.stages) > 1:
        return None
    singular = any(race.line is not None for race in races)
    values = derivation.spec.values if singular else {}
    total = derivation.initial_loss.substitute(values)
    for race in races:
        gain = race.gain
        if gain is None:
            return None
        total = total - gain.substitute(values)
    return total


def competition_of(stage: StageDerivation, nodes: Sequence[tuple[int, int]]) -> Competition:
    """Return the competition of some classes of modes, as (pathway, class), in a stage."""
    place = {node: index for index, node in enumerate(nodes)}
    return Competition(
        classes=tuple(stage.pathways[p].spectrum.classes[a] for p, a in nodes),
        factors={
            (place[c.target], place[c.source]): c.factors
            for c in stage.verdict.couplings.couplings
            if c.target in place and c.source in place and c.factors is not None
        },
    )


def _race(derivation: Derivation, stage: StageDerivation, nodes: list[tuple[int, int]]) -> Race:
    system = competition_of(stage, nodes)
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
        declared=derivation.spec.values,
        notation=Notation.of(derivation.spec),
        strength0=derivation.strength0,
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
    if not derivation.spec.has_values:
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
