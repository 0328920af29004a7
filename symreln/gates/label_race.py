"""Gates open on subsets of a label's values, raced over a parameter: exact, for all its values.

Beside :mod:`symreln.gates.race` it takes the subsets' gates, whether a unit can keep them or not,
each with the largest singular value of R diag(g) Xᵀ/P. Boundaries are of speed, where two of these
cross, and of existence, where a subset's fastest direction starts or stops having its gate.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpz_mpoly

from symreln.errors import LimitReachedError, NotSupportedError
from symreln.exact.domain import Range
from symreln.exact.matrix import ExactMatrix
from symreln.gates.consistent import Pair, Vector, opening
from symreln.gates.label_subsets import subset_gates
from symreln.gates.orbits import gate_kinds
from symreln.gates.race import Course, Entrant
from symreln.gates.race_pieces import Race, Runner
from symreln.gates.wall_polynomials import consistency, ordering
from symreln.spec.model import Dataset

#: Degree of growth rates over Q(parameter) above which the race is refused: where two of degree 8
#: cross is decided by a polynomial of degree in the hundreds, and takes longer than anyone waits.
MOST_DEGREE = 4


def label_race(dataset: Dataset, residual: ExactMatrix, label: str, limits: Range) -> Race:
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
    course = _Subsets(dataset.inputs, residual, limits)
    course.gates = list(subset_gates(dataset, label))
    return course.run()


def subset_names(dataset: Dataset, label: str, race: Race) -> dict[str, str]:
    """Return a name for each gate that runs, by its pattern: m, and one choice of values."""
    gates = subset_gates(dataset, label)
    chosen = {r.pattern: gates[r.gate] for part in race.pieces for r in part.runners}
    return {
        pattern: f"m = {len(values)} ({', '.join(map(str, values))})"
        for pattern, values in chosen.items()
    }


class _Subsets(Course):
    """The race of given gates by the speed of their fastest direction."""

    gates: Sequence[tuple[int, ...]] = ()
    # Of speeds alone something can be said where self-consistency is not decided.
    known_kept = True

    def _full(self) -> list[Entrant]:
        kinds = gate_kinds(self.gates, self.group)
        return [self._entrant(alike[0], len(alike)) for alike in kinds]

    def _appearing(self) -> list[fmpz_mpoly]:
        # The gates are given; where a direction keeps its gate is among the cuts of each.
        return []

    def _add_faces(self, entrants: object, appearing: object) -> None:
        return

    def _cuts(self, entrant: Entrant) -> list[fmpz_mpoly]:
        spectrum = entrant.spectrum
        degree = max(one.degree for one in spectrum.classes)
        if degree > MOST_DEGREE:
            msg = (
                f"subsets over a parameter: a gate has growth rates of degree {degree} over "
                f"{self.name}, more than {MOST_DEGREE}, and where they cross is too much to decide "
                f"for all values. Give {self.name} a value and leave --over out"
            )
            raise NotSupportedError(msg)
        try:
            return consistency(self.inputs, spectrum)
        except (NotSupportedError, LimitReachedError):
            self.known_kept = False
            return [self.inputs.denominator, *ordering(spectrum)]

    def _may_run(self, samples: Sequence[Vector], entrant: Entrant) -> bool:
        return True

    def _found(
        self, pairs: Sequence[Pair], samples: Sequence[Vector], entrant: Entrant
    ) -> list[Runner]:
        return [
            Runner(
                signs=entrant.signs,
                size=entrant.size,
                s=pair.s,
                self_consistent=opening(pair, samples, entrant.gate) is not None
                if self.known_kept
                else None,
            )
            for pair in pairs[:1]
        ]
