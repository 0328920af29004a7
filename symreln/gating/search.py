"""The self-consistent gates of a residual, a proof of the fastest, and what it leaves behind.

Where there are too many faces to ask, units are followed until they settle
(:func:`symreln.effective.gate_flows.settled_gates`). That only proposes: a sign vector that is
proposed counts where :mod:`symreln.gating.partial` proves it. Units that settle on the same signs
up to a symmetry are one proposal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.effective.gate_flows import settled_gates
from symreln.errors import LimitReachedError
from symreln.exact.algebraic import order_key
from symreln.exact.enclosure import ball
from symreln.exact.linear import rank
from symreln.exact.matrix import ExactMatrix
from symreln.gating.arrangement import without_parameters
from symreln.gating.consistent import GrowingGate, self_consistent_gates, sign_pattern
from symreln.gating.enumerate import RealisableGates
from symreln.gating.float_scale import CLEAR, unit_floats, unit_samples
from symreln.gating.found_pathways import gate_pathway
from symreln.gating.partial import every_partial_gate, partial_gates
from symreln.gating.serialise import Result
from symreln.laws.spans import orthonormal_span
from symreln.networks.effective import EffectiveDataset
from symreln.networks.gate_orbits import SampleGroup, gate_kinds, moved_gates
from symreln.networks.targets import Targets
from symreln.specs.spec import Dataset, PathwaySpec, Spec
from symreln.verdict.directions import gated_correlation
from symreln.verdict.residual import converged_outputs

#: Gates whose singular values are computed at once.
_CHUNK = 4096

#: Relative distance from which float64 may say that a singular vector opens a sample.
_UNSURE = 1e-6
#: Units that are followed, and the seed of their draw.
_UNITS, _SEED = 1000, 77_003
#: Cosine from which two of them are one, and share of them below which a proposal is left out.
_TOGETHER, _RARE = 0.999, 0.002


@record(eq=False)
class GateStage(Result):
    """What early training selects from one residual.

    Attributes:
        residual: R, shape (n_y, P).
        candidates: Self-consistent gates of both kinds, one of each kind, the fastest first.
        group: Symmetries that make gates alike.
        complete: Whether all full and all partial gates were asked, so that there are no more.
        proven: Whether no unit grows faster than the first candidate, whatever its direction: where
            not all faces were asked, not by more than one part in 10⁹.
        bound: Largest singular value of any gate, in float64: no unit grows faster. None where
            float64 has no room for it.
        stage: Its number, from 1.
    """

    JSON = (
        *("stage", "candidates", "winners=winner_patterns", "complete", "winner_proven=proven"),
        *("bound", "told"),
    )
    residual: ExactMatrix
    candidates: tuple[GrowingGate, ...]
    group: SampleGroup
    complete: bool
    proven: bool
    bound: float | None
    stage: int = 1

    @property
    def winners(self) -> tuple[tuple[int, ...], ...]:
        """Signs of the fastest, with all that are alike: 1 open, -1 closed, 0 on the boundary."""
        fastest = (each.signs for each in self.candidates if each.s == self.candidates[0].s)
        return tuple(dict.fromkeys(i for one in fastest for i in moved_gates(one, self.group)))

    @property
    def winner_patterns(self) -> tuple[str, ...]:
        """The winners as text."""
        return tuple(sign_pattern(signs) for signs in self.winners)

    def __repr__(self) -> str:
        return "\n".join([self.headline, *(f"  {each!r}" for each in self.candidates[:20])])

    @property
    def headline(self) -> str:
        """What the terminal says before the candidates."""
        if self.winners:
            return f"stage {self.stage}: {len(self.winners)} fastest; {self.told}"
        how = (
            ", proven: all activity patterns were searched"
            if self.complete
            else " of those searched"
        )
        return f"stage {self.stage}: no gate grows on what is left{how}"

    @property
    def told(self) -> str:
        """What is proven of the fastest."""
        if self.complete:
            return "all activity patterns searched: no gate grows faster than the first, proven"
        if self.proven:
            return (
                "no gate grows faster than the first (to one part in 10⁹), proven; slower partial "
                "gates may be missing"
            )
        most = "" if self.bound is None else f", at most {self.bound:.6g}"
        return f"not all activity patterns searched: a faster partial gate may exist{most}"


def _search(inputs: ExactMatrix, residual: ExactMatrix, found: RealisableGates) -> GateStage:
    """Return the self-consistent gates of a residual, full and partial.

    All faces are asked where there are not too many. Else followed units propose partial gates,
    and the largest singular value of any gate says whether a unit may be faster.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        residual: R, shape (n_y, P), without parameters, not zero.
        found: The gates that the inputs allow.

    Raises:
        InputError: A parameter occurs.
    """
    inputs, residual = without_parameters(inputs), without_parameters(residual)
    group = SampleGroup.of(inputs, residual)
    orbits = found.orbits(group)
    gates = found.gates[[place for place, _ in orbits]]
    with phase("self-consistent gates"):
        x, r, scale = unit_samples(inputs, residual)
        tops, likely, large = _may_be_kept(x, r, gates)
        # Small singular values are zero, and of no gate, where the others are as many as the rank.
        for k in np.flatnonzero(~likely & (large < min(len(x), len(r)))):
            likely[k] = rank(gated_correlation(inputs, residual, gates[k].astype(int))) > large[k]
        kinds = [(tuple(int(v) for v in gates[k]), orbits[k][1]) for k in np.flatnonzero(likely)]
        full = self_consistent_gates(inputs, residual, kinds)
    with phase("partial gates"):
        try:
            partial, complete = every_partial_gate(inputs, residual, group), True
        except LimitReachedError:
            partial, complete = _sliding_gates(inputs, residual, group), False
    ordered = sorted(full + partial, key=lambda each: each.signs, reverse=True)
    candidates = tuple(sorted(ordered, key=lambda each: order_key(each.s, {})))
    proven = complete
    if not complete and candidates:
        # No unit grows faster than the largest singular value of any gate.
        rate = float(candidates[0].s.enclose({}, 20) / ball(scale))
        proven = bool(_UNSURE < tops.max() <= rate * (1 + CLEAR))
    bound = None
    with suppress(OverflowError):
        bound = float(Fraction(float(tops.max(initial=0.0))) * scale)
    return GateStage(
        residual=residual,
        candidates=candidates,
        group=group,
        complete=complete,
        proven=proven,
        bound=bound,
    )


def _may_be_kept(
    x: np.ndarray, r: np.ndarray, gates: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what float64 says of gates: no singular pair that opens its gate is refused.

    A singular vector says whether it does where its singular value is apart from all others.

    Args:
        x: X, shape (n_x, P).
        r: R, shape (n_y, P).
        gates: Truth values, shape (gates, P).

    Returns:
        The largest singular value; whether some pair that is not small may open the gate; and how
        many are not small: the others may be zero. All of shape (gates,).
    """
    scale = (np.linalg.norm(r, 2) * np.linalg.norm(x, 2) / x.shape[1]) or 1.0
    tops, likely = np.zeros(len(gates)), np.zeros(len(gates), dtype=bool)
    large = np.zeros(len(gates), dtype=int)
    for start in range(0, len(gates), _CHUNK):
        part = slice(start, start + _CHUNK)
        sigma = np.einsum("ym,fm,lm->fyl", r, gates[part].astype(float), x, optimize=True)
        _, s, vt = np.linalg.svd(sigma / (x.shape[1] * scale), full_matrices=False)
        seen = vt @ (x / (np.linalg.norm(x, 2) or 1.0))
        opened = gates[part][:, None, :]
        kept = np.zeros(s.shape, dtype=bool)
        for side in (seen, -seen):
            kept |= ~np.where(opened, side < -_UNSURE, side > _UNSURE).any(axis=2)
        gaps = np.abs(s[:, :, None] ** 2 - s[:, None, :] ** 2)
        gaps[:, range(s.shape[1]), range(s.shape[1])] = np.inf
        small = s**2 < _UNSURE
        kept |= gaps.min(axis=2) < _UNSURE
        tops[part], likely[part] = s[:, 0] * scale, (kept & ~small).any(axis=1)
        large[part] = (~small).sum(axis=1)
    return tops, likely, large


# -- units that are followed -----------------------------------------------------------------------


def _sliding_gates(
    inputs: ExactMatrix, residual: ExactMatrix, group: SampleGroup
) -> tuple[GrowingGate, ...]:
    """Return the partial gates that units settle on, each proven, the fastest first.

    There may be more: units propose those that attract many of them.

    Args:
        inputs: X, shape (n_x, P), without parameters.
        residual: R, shape (n_y, P), without parameters, not zero.
        group: Symmetries of both.
    """
    x, r = unit_floats(inputs), unit_floats(residual)
    y = orthonormal_span(r).T @ r
    units = np.random.default_rng(_SEED).standard_normal((_UNITS, len(x) + len(y)))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    gates, owner = settled_gates(x, y, units, _TOGETHER)
    counts = Counter(map(tuple, gates[owner].astype(int).tolist()))
    kinds = gate_kinds(counts, group)
    often = [alike for alike in kinds if sum(counts[each] for each in alike) >= _RARE * _UNITS]
    return partial_gates(inputs, residual, [(max(alike), len(alike)) for alike in often])


# -- stage by stage --------------------------------------------------------------------------------


def predicted_stages(
    dataset: Dataset, found: RealisableGates, *, most: int = 8
) -> Iterator[GateStage]:
    """Yield the gates that are predicted to win, stage by stage, from the data alone.

    In every stage the self-consistent gates of the largest growth rate converge, all of a kind
    together, and leave a residual to the next: a partial one on what its inputs see off its
    boundary samples. Ends where nothing is left or nothing grows.

    Args:
        dataset: Without parameters.
        found: Gates that the dataset allows.
        most: Stages after which to stop.

    Raises:
        InputError: A parameter occurs.
    """
    residual = dataset.targets
    for number in range(1, most + 1):
        if residual.is_zero:
            return
        stage = replace(_search(dataset.inputs, residual, found), stage=number)
        yield stage
        if not stage.winners:
            return
        residual = _left(dataset, residual, [gate_pathway(dataset, s) for s in stage.winners])


def stage_residuals(spec: Spec) -> tuple[ExactMatrix, ...]:
    """Return what each stage of a spec learns: its targets, then what converged stages leave."""
    found = [spec.dataset.targets]
    for stage in spec.stages[:-1]:
        pathways = [pathway for pathway in spec.pathways if pathway.stage == stage]
        found.append(_left(spec.dataset, found[-1], pathways))
    return tuple(found)


def _left(dataset: Dataset, residual: ExactMatrix, pathways: list[PathwaySpec]) -> ExactMatrix:
    """Return what pathways leave of a residual once they have converged together."""
    goal = Targets.of(residual)
    stage = tuple(EffectiveDataset.of(dataset, pathway, goal) for pathway in pathways)
    return (residual - converged_outputs(goal, stage)).reduced()
