"""How the ends of coupled modes were proven, checked by another route than they were found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.derivation import Step
from symreln.exact.scalar import Scalar
from symreln.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from symreln.claims.equilibria import Race
    from symreln.dynamics.competition import Competition

    Coefficients = Sequence[Scalar]


def equilibrium_steps(found: tuple[Race, ...]) -> list[Step]:
    """Return how the ends of the competitions were proven.

    Raises:
        ArithmeticError: A check failed: a bug of symreln.
    """
    for race in found:
        check_end(race)
        check_line(race)
        check_conserved(race)
    return [
        *_ends(found),
        *_lines(found),
        *_sums(found),
        *(
            Step(
                name="equilibria",
                statement="Where " + ", ".join(race.labels) + " come to rest.",
                check=race.undecided,
                outcome=Truth.UNDECIDED,
            )
            for race in found
            if race.undecided
        ),
    ]


def _ends(found: tuple[Race, ...]) -> Iterator[Step]:
    """Yield the step about competitions with one equilibrium, where there are any."""
    ended = sum(race.end is not None for race in found)
    if not ended:
        return
    definite = all(race.end is None or race.totals.is_convex(race.values) for race in found)
    form = "positive definite" if definite else "positive semidefinite"
    yield Step(
        name="equilibria",
        statement=(
            f"{ended} of {len(found)} competitions of modes come to rest at the equilibrium that "
            "is given, from every positive start of the aligned modes; where modes are alike, it "
            "is that of their sum."
        ),
        check=(
            "substitution: drives of winners cancel to 0, those of losers are not positive, by "
            "exact signs; the loss's form is symmetric, entry by entry, and "
            f"{form}, by its pivots"
        ),
        outcome=Truth.PROVEN,
    )


def _lines(found: tuple[Race, ...]) -> Iterator[Step]:
    """Yield the step about competitions with a line of equilibria, where there are any."""
    lines = sum(race.line is not None for race in found)
    if not lines:
        return
    yield Step(
        name="lines of equilibria",
        statement=(
            f"{lines} of {len(found)} competitions of modes come to rest on the line (or plane) of "
            "equilibria that is given, at the one point that the conserved sums of the start leave."
        ),
        check=(
            "substitution: couplings times directions cancel to 0, drives as above; the form is "
            "positive semidefinite, by its pivots; that no more modes stay, by exact linear "
            "programming"
        ),
        outcome=Truth.PROVEN,
    )


def _sums(found: tuple[Race, ...]) -> Iterator[Step]:
    """Yield the steps about what never changes along the flow, where there is anything."""
    if any(race.shared for race in found):
        yield Step(
            name="modes that share",
            statement="The ratios of modes that are called alike never change.",
            check="equal s, and equal rows and columns of couplings, entry by entry",
            outcome=Truth.PROVEN,
        )
    if any(race.system.conserved for race in found):
        yield Step(
            name="conserved quantities",
            statement="The printed sums of logarithms grow at the printed constant rates.",
            check="their derivatives along the flow: the strengths' coefficients cancel to 0",
            outcome=Truth.PROVEN,
        )


def check_end(race: Race) -> None:
    """Substitute the end into the drives of every single mode, sharing alike.

    Raises:
        ArithmeticError: A drive does not vanish where it should, or is positive elsewhere.
    """
    if race.end is None:
        return
    group_of = {p: g for g, group in enumerate(race.groups) for p in group}
    parts = [
        [c / len(race.groups[group_of[p]]) for c in race.end.phi[group_of[p]]]
        for p in range(len(race.system.classes))
    ]
    for p, drive in enumerate(drives(race.system, parts)):
        g = group_of[p]
        there = race.end.support[g]
        wrong = tuple(drive) != race.end.drives[g] or (there and any(not c.is_zero for c in drive))
        if wrong or (not there and 1 in race.system.signs(p, tuple(drive), race.values)):
            msg = "the derivation's own check failed: an equilibrium of coupled modes"
            raise ArithmeticError(msg)


def drives(system: Competition, phi: Sequence[Coefficients]) -> list[Coefficients]:
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


def check_line(race: Race) -> None:
    """Substitute a line of equilibria into the drives: its point, and its point plus directions.

    Raises:
        ArithmeticError: A drive differs from what it should be, or a direction costs loss.
    """
    line, system = race.line, race.totals
    if line is None:
        return
    shifted = [tuple(p + n for p, n in zip(line.point, n, strict=True)) for n in line.directions]
    names = system.classes[0].minpoly[0].parameters
    for point in (line.point, *shifted):
        phi = [(Scalar(names, value.numerator) / value.denominator,) for value in point]
        found = [drive[0].substitute(race.values).to_fraction() for drive in drives(system, phi)]
        if tuple(found) != line.drives:
            msg = "the derivation's own check failed: a line of equilibria of coupled modes"
            raise ArithmeticError(msg)
    weights = [
        system.weights[a][a].substitute(race.values).to_fraction() for a in range(len(line.point))
    ]
    costs = [sum(w * n for w, n in zip(weights, n, strict=True)) for n in line.directions]
    signs = all(
        (drive == 0) if there else (drive <= 0)
        for there, drive in zip(line.support, line.drives, strict=True)
    )
    if any(costs) or not signs:
        msg = "the derivation's own check failed: the loss along a line of equilibria"
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
