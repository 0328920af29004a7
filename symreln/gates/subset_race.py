"""Gates open on subsets of a label's values, raced over a parameter: exact, for all its values.

Beside :mod:`symreln.gates.race` it takes the subsets' gates, whether a unit can keep them or not,
each with the largest singular value of R diag(g) Xᵀ/P. Boundaries are of speed, where two of these
cross, and of existence, where a subset's fastest direction starts or stops having its gate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from symreln.errors import LimitReachedError, NotSupportedError
from symreln.gates import critical
from symreln.gates.chambers import over
from symreln.gates.confronted import confront, confronted_points
from symreln.gates.consistent import Pair, Vector, opening
from symreln.gates.line import only_parameter
from symreln.gates.orbits import moved_gates
from symreln.gates.race import Course, Race, RacePiece, Runner, boundaries_of
from symreln.gates.subsets import label_values

if TYPE_CHECKING:
    from flint import fmpz_mpoly

    from symreln.exact.domain import Range
    from symreln.exact.matrix import ExactMatrix
    from symreln.gates.confronted import RacePoint
    from symreln.gates.entrants import Entrant
    from symreln.spec.model import Dataset, Spec

#: Degree of growth rates over Q(parameter) above which the race is refused: where two of degree 8
#: cross is decided by a polynomial of degree in the hundreds, and takes longer than anyone waits.
MOST_DEGREE = 4

Json = dict[str, Any]


def subset_race(dataset: Dataset, residual: ExactMatrix, label: str, limits: Range) -> Race:
    """Return who of the gates by subset is fastest, for all values of the one parameter.

    Args:
        dataset: X, shape (n_x, P), and the label; one parameter in X and R together.
        residual: R, shape (n_y, P): the targets, or what a converged stage leaves.
        label: Name of the label.
        limits: The parameter's range.

    Raises:
        InputError: The label does not fit; no parameter occurs, or several do.
        NotSupportedError: Growth rates of a degree above ``MOST_DEGREE``.
    """
    name = only_parameter(dataset.inputs, residual)
    gates = _subset_gates(dataset, label)
    course = _Subsets(over(dataset.inputs, name), over(residual, name), limits, list(gates))
    run = course.run()
    return Race(
        parameter=name, pieces=run, boundaries=tuple(boundaries_of(run)), group=course.group
    )


def _subset_gates(dataset: Dataset, label: str) -> dict[tuple[int, ...], tuple[object, ...]]:
    """Return the values of the label by gate; fewer values first."""
    names, held = label_values(dataset, label), dataset.labels[label]
    return {
        tuple(int(value in chosen) for value in held): chosen
        for count in range(1, len(names) + 1)
        for chosen in combinations(names, count)
    }


def subset_names(dataset: Dataset, label: str, race: Race) -> dict[str, str]:
    """Return a name for each gate that runs, by its pattern: m, and one choice of values."""
    gates = _subset_gates(dataset, label)
    runners = (r for part in race.pieces for rank in part.ranks for r in rank)
    return {
        runner.pattern: f"m = {len(chosen)} ({', '.join(map(str, chosen))})"
        for runner in runners
        for chosen in (gates[runner.gate],)
    }


class _Subsets(Course):
    """The race of given gates by the speed of their fastest direction."""

    def __init__(
        self,
        inputs: ExactMatrix,
        residual: ExactMatrix,
        limits: Range,
        gates: Sequence[tuple[int, ...]],
    ) -> None:
        self._given = gates
        # Of speeds alone something can be said where self-consistency is not decided.
        self._known_kept = True
        super().__init__(inputs, residual, limits, len(gates))

    def _kinds(self, limit: int) -> list[tuple[tuple[int, ...], int]]:
        seen: set[tuple[int, ...]] = set()
        kinds = []
        for gate in self._given:
            if gate not in seen:
                alike = moved_gates(gate, self.group)
                seen.update(alike)
                kinds.append((gate, len(alike)))
        return kinds

    def _appearing(self) -> list[fmpz_mpoly]:
        # The gates are given; where a direction keeps its gate is among the cuts of each.
        return [self.inputs.denominator]

    def _faces(self, appearing: list[fmpz_mpoly]) -> list[Entrant]:
        return []

    def _cuts(self, entrant: Entrant) -> list[fmpz_mpoly]:
        spectrum = entrant.spectrum
        degree = max(one.degree for one in spectrum.classes)
        if degree > MOST_DEGREE:
            name = self.names[0]
            msg = (
                f"subsets over a parameter: a gate has growth rates of degree {degree} over "
                f"{name}, more than {MOST_DEGREE}, and where they cross is too much to decide for "
                f"all values. Give {name} a value and leave --over out"
            )
            raise NotSupportedError(msg)
        try:
            return critical.consistency(self.inputs, spectrum)
        except (NotSupportedError, LimitReachedError):
            self._known_kept = False
            return [self.inputs.denominator, *critical.ordering(spectrum)]

    def _runs(self, samples: Sequence[Vector], gate: tuple[int, ...]) -> bool:
        return True

    def _found(
        self, pairs: Sequence[Pair], samples: Sequence[Vector], gate: tuple[int, ...], size: int
    ) -> list[Runner]:
        return [
            Runner(
                signs=tuple(2 * value - 1 for value in gate),
                size=size,
                s=pair.s,
                rate=None,
                mode_class=None,
                largest=True,
                boundary=(),
                self_consistent=self._kept(pair, samples, gate),
            )
            for pair in pairs[:1]
        ]

    def _kept(self, pair: Pair, samples: Sequence[Vector], gate: tuple[int, ...]) -> bool | None:
        return opening(pair, samples, gate) is not None if self._known_kept else None


def subset_points(
    race: Race, spec: Spec, count: int, seeds: int, rng: int
) -> tuple[RacePoint, ...]:
    """Train networks in every interval between boundaries, and see which subsets they end at.

    Args:
        race: The race.
        spec: With a network, and all parameters declared but the race's.
        count: Points in an interval.
        seeds: Networks at a point.
        rng: Seed of their weights.
    """
    return tuple(
        replace(
            confront(race, spec, value, seeds, rng, predicts=False),
            order=next(part.order for part in race.pieces if part.contains(value)),
        )
        for value in confronted_points(race, count)
    )


def subset_race_table(
    race: Race, names: dict[str, str], points: Sequence[RacePoint], seeds: int
) -> str:
    """Return the pieces, and what networks took in them, as Markdown."""
    lines = [
        f"| {race.parameter} | fastest first | self-consistent |",
        "|---|---|---|",
        *(_piece_line(part, names) for part in race.pieces),
    ]
    if points:
        lines += [
            "",
            f"Weight of {seeds} networks a point at the end of training, by the nearest gate:",
            "",
            f"| {race.parameter} | theory, fastest first | networks, mean ± std over seeds | "
            "fastest taken |",
            "|---|---|---|---|",
            *(_point_line(point, names) for point in points),
        ]
    return "\n".join(lines) + "\n"


def _piece_line(part: RacePiece, names: dict[str, str]) -> str:
    kept = {r.pattern: r.self_consistent for rank in part.ranks for r in rank}
    told = ", ".join(names[name] for name, value in kept.items() if value) or "none"
    if None in kept.values():
        told = "not decided"
    order = part.why or _ordered(part.order, names)
    if part.undecided:
        order, told = "not decided at this value", "not decided"
    return f"| {_where(part)} | {order} | {told} |"


def _where(part: RacePiece) -> str:
    low, high = part.piece.low, part.piece.high
    if part.piece.is_root and low is not None:
        return str(low.to_sympy())
    left = "(-oo" if low is None else f"{'[' if part.closed[0] else '('}{low.to_sympy()}"
    right = "oo)" if high is None else f"{high.to_sympy()}{']' if part.closed[1] else ')'}"
    return f"{left}, {right}"


def _ordered(order: Sequence[Sequence[str]], names: dict[str, str]) -> str:
    return " > ".join(" = ".join(names[name] for name in rank) for rank in order)


def _point_line(point: RacePoint, names: dict[str, str]) -> str:
    shares = ", ".join(
        f"{names[name]} {point.shares[name]:.3f} ± {point.spread[name]:.3f}" for name in point.taken
    )
    taken = "yes" if point.fastest_taken else "**no**"
    return f"| {point.value} | {_ordered(point.order, names)} | {shares} | {taken} |"


def subset_race_json(result: Json, race: Race, names: dict[str, str]) -> Json:
    """Return a race's JSON with what is different here: names, and who keeps its gate where.

    Args:
        result: See :func:`symreln.gates.told.race_json`.
        race: The race.
        names: See :func:`subset_names`.
    """
    for each in result["candidates"]:
        each["name"] = names[each["pattern"]]
        del each["self_consistent"], each["realisable"]
    for piece, part in zip(result["pieces"], race.pieces, strict=True):
        piece["self_consistent"] = {
            runner.pattern: runner.self_consistent for rank in part.ranks for runner in rank
        }
    return result
