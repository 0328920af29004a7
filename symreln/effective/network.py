r"""The effective network: what a ReLU network does, from data and initialisation alone.

Before the loss falls each hidden unit grows alone in the field of the targets. What the network
does afterwards depends, to leading order, on the second moment of what units carry in every gate,

.. math:: M_g = \sum_{i \in g} S_i\, q_i q_i^\top, \qquad q_i = (w_i, b_i)/\|(w_i, b_i)\|,

once their outputs reach ε of the targets, the *horizon*: S_i = H σ² e^{2 growth}/N of N units that
were followed, as many as the network has, for what H units happen to be like is part of what
networks do in the mean. A gate's units are replaced by 2r that have the same moment, r its rank
beside the leading eigenvector m: √(λ₁/2r) m ± ρ_k √(Λ/2) Eᵀ with the rows ρ_k of a random rotation,
for units far out on one axis would leave their gate too early. Gates of nearly one direction are
taken together. Gradient descent on these few units from the horizon on is the prediction.

Nothing is set by hand and no network is seen: what ε, the number of units and the rotations change
is measured: draws of units and rotations are independent, ε is halved, and of several ways to take
gates together the one of the fewest units is used that changes the loss of all followed units by
at most 1 % of L(0). Where there is none, as where units have not turned at the horizon, these go on
themselves, which integrates the network's own distribution and reduces nothing.

Float64, seeded. Sources: the alignment of single units is that of Maennel et al. 2018; alternating
gradient flows (Kunin et al. 2025) have the same two steps in the limit of vanishing σ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import field, replace
from functools import cache, lru_cache
from threading import Event
from typing import Literal

import numpy as np

from symreln.base.processors import one_blas_thread
from symreln.base.progress import phase
from symreln.base.records import record
from symreln.claims.integration import network_of, sparse_floats
from symreln.effective.descent import Descent, Look, descend_units, look_steps
from symreln.effective.gate_flows import State, states
from symreln.errors import InputError, LimitReachedError
from symreln.laws.early_phase import Horizon, IsolatedUnits
from symreln.specs.spec import Spec

#: Independent draws whose mean is the prediction: as many as these multiplications pay for, seconds
#: of one core, at most and at least; and the seed of them.
_PAID, _DRAWS, _SEED = 5e10, (40, 4), 43_043
#: Multiplications that are refused, ten minutes of one core; what a step costs beside them; and
#: how much of that is too long beside given gates, as several ways follow the same steps.
_MOST_COST, _OVERHEAD, _LONG = 2e13, 2e6, 4e11
#: Outputs over targets at the horizon.
EPSILON = 0.002
#: Units that are followed in each draw: as many as the network has, at most these.
_FOLLOWED = 2000
#: Eigenvalues of a moment that are kept: over its largest, in a gate of at least this share; in
#: smaller ones, over this part of the strength that is given up.
_RANK, _LARGE, _SMALL = 1e-10, 0.01, 0.1
#: Change of the loss over L(0) that a reduction may make, and in how many draws it is measured.
REDUCED, COMPARED = 0.01, 2


@record(kw_only=False)
class Way:
    """How units at the horizon become few.

    Attributes:
        name: "neurons": of every moment its leading direction alone; "closed form": units with the
            moments of :mod:`symreln.effective.gate_flows`; "moments": with those of units that were
            followed; "whole": these themselves.
        alike: Cosine of directions from which gates are taken together.
        held: Share of the strength whose gates are kept.
        single: Whether units are taken together one by one, whatever their gates: those of trained
            networks are open and closed by turns on the boundary of samples.
    """

    name: Literal["neurons", "closed form", "moments", "whole"]
    alike: float = 1.0
    held: float = 0.999
    single: bool = False


#: From few units to many: the first that changes the loss little is taken, or all units.
_WAYS = (
    *(Way("neurons", alike) for alike in (0.9, 0.97)),
    Way("closed form", 0.97),
    *(Way("moments", alike) for alike in (0.9, 0.97)),
    *(Way("moments", alike, 0.99999) for alike in (0.97, 0.99, 0.999)),
)
#: All units that were followed.
WHOLE = Way("whole")


@record(eq=False)
class _Group:
    """Units whose gates are taken together.

    Attributes:
        signs: The gate of most of the strength, 1 open, -1 closed, 0 on the boundary, shape (P,).
        share: Of the strength of all units.
        held: (w, b) of the units, shape (units, n_x + rank).
        leading: Share of M's largest eigenvalue in its trace.
        direction: Its eigenvector, of the sign that units have.
    """

    signs: np.ndarray
    share: float
    held: np.ndarray
    leading: float
    direction: np.ndarray

    @property
    def moment(self) -> np.ndarray:
        """M, shape (n_x + rank, n_x + rank)."""
        return self.held.T @ self.held


@record(eq=False)
class EffectiveNetwork:
    """A prediction from the data alone.

    Attributes:
        losses: Mean loss 1/(2P) Σ‖y − ŷ‖² at steps 0, 1, …, the mean of the draws.
        drawn: That of each draw, shape (draws, steps).
        followed: That of all units that were followed, of the draws in which the reduction was
            measured, shape (draws, steps); ``drawn`` where nothing is reduced.
        units: Of every draw, (w, b) in the targets' span, shape (draws, units, n_x + rank); zero
            where one has fewer.
        way: How they became few.
        tried: Every way that was tried: its name, how many units it takes, and by how much it
            changes the loss of all units that were followed, over L(0).
        groups: Of all draws together, the strongest first.
        looks: At the units, from the horizon on.
        span: Orthonormal basis of the targets' columns, shape (n_y, rank).
    """

    losses: np.ndarray
    drawn: np.ndarray
    followed: np.ndarray
    units: np.ndarray
    way: Way
    tried: tuple[tuple[str, int, float], ...]
    groups: tuple[_Group, ...]
    looks: tuple[Look, ...]
    span: np.ndarray

    @property
    def horizon(self) -> int:
        """Step of the horizon, of the first draw that has one."""
        return self.looks[0].step

    @property
    def count(self) -> int:
        """Units of a draw, the largest."""
        return self.units.shape[1]

    @property
    def error(self) -> float:
        """Its Monte Carlo error over L(0)."""
        return monte_carlo_error(self.drawn)


def monte_carlo_error(drawn: np.ndarray) -> float:
    """Return the error of a mean of draws over L(0).

    That is the largest distance of a draw from the mean, over √(draws - 1).

    Args:
        drawn: Losses of each draw, shape (draws, steps).
    """
    mean = drawn.mean(axis=0)
    return float(np.abs(drawn - mean).max() / mean[0] / np.sqrt(max(1, len(drawn) - 1)))


def descent_of(spec: Spec) -> Descent:
    """Return how the network of a spec is trained."""
    network = network_of(spec)
    first, second = map(float, network.stds)
    return Descent(
        hidden=network.hidden,
        init_std=(first, second),
        step=1 / float(network.tau(spec.dataset.samples)),
        steps=network.steps,
    )


def effective_of(spec: Spec) -> EffectiveNetwork | None:
    """Return the effective network of a spec's data and network; the last ones are kept.

    Args:
        spec: With a network and without free parameters.

    Raises:
        InputError: An entry of the data is too large or too small for float64, or units diverge.
        LimitReachedError: It takes too many multiplications.
    """
    data = spec.dataset
    for matrix, where in ((data.inputs, "dataset.X"), (data.targets, "dataset.Y")):
        sparse_floats(matrix, where)
    inputs, targets = (each.tobytes() for each in data.arrays)
    return _kept(inputs, targets, data.samples, descent_of(spec))


def takes_minutes(spec: Spec) -> bool:
    """Return whether not even one draw is paid for, or steps alone take minutes."""
    data, descent = spec.dataset, descent_of(spec)
    one = _cost(descent, data.inputs.shape, data.targets.shape)
    return one > _PAID or _OVERHEAD * descent.steps > _LONG


def _cost(descent: Descent, inputs: tuple[int, int], targets: tuple[int, int]) -> int:
    """Return about how many multiplications a draw takes, from the data's shapes."""
    followed = min(_FOLLOWED, descent.hidden)
    return descent.steps * followed * inputs[1] * 2 * (inputs[0] + min(targets))


@lru_cache(maxsize=2)
def _kept(inputs: bytes, targets: bytes, samples: int, descent: Descent) -> EffectiveNetwork | None:
    x, y = (np.frombuffer(each).reshape(-1, samples) for each in (inputs, targets))
    return effective_network(x, y, descent)


@one_blas_thread()
def effective_network(
    inputs: np.ndarray,
    targets: np.ndarray,
    descent: Descent,
    *,
    epsilon: float = EPSILON,
    way: Way | None = None,
    draws: int | None = None,
) -> EffectiveNetwork | None:
    """Predict the training of a ReLU network from its data; None where no unit grows in its steps.

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P), not all zero.
        descent: How the network is trained.
        epsilon: Outputs over targets at the horizon.
        way: How units become few; by default to as few as change the loss by :data:`REDUCED`.
        draws: Independent draws, at least two: the first of those that more have; by default as
            many as the data leave time for.

    Raises:
        InputError: The units diverge.
        LimitReachedError: It takes too many multiplications.
    """
    followed = min(_FOLLOWED, descent.hidden)
    one = _cost(descent, inputs.shape, targets.shape)
    if COMPARED * one + _OVERHEAD * descent.steps > _MOST_COST:
        msg = (
            f"effective network: {followed} units on {inputs.shape[1]} samples for {descent.steps} "
            "steps take too long. Lower network.steps or network.hidden, or give gates"
        )
        raise LimitReachedError(msg)
    most, least = _DRAWS
    total = draws or int(min(most, max(least, _PAID // one)))
    seeds = np.random.SeedSequence(_SEED).spawn(total)
    found = [_horizon(inputs, targets, descent, epsilon, np.random.default_rng(s)) for s in seeds]
    reached = [each for each in found if each is not None]
    if not reached:
        return None
    y = reached[0].span.T @ targets

    @cache
    def closed() -> list[State | None]:
        if 2 * (len(inputs) + len(y) - 1) >= followed:  # what one gate takes
            return [None] * len(found)
        rows = [group.direction for group in _grouped(_pooled(reached), _WAYS[0])]
        return states(inputs, y, descent, epsilon, found, np.array(rows))

    return Draws(
        x=inputs,
        y=y,
        descent=descent,
        horizons=tuple(found),
        turns=tuple(np.random.default_rng(seed.spawn(1)[0]) for seed in seeds),
        closed=closed,
    ).network(way)


@record(eq=False)
class Draws:
    """Units of independent draws when they reach their horizons, and what they learn.

    Attributes:
        x: X, shape (n_x, P).
        y: Y in its span, shape (rank, P).
        descent: How units are trained.
        horizons: Of every draw; None where no unit of it grows: then its loss stays where it is.
        turns: Of every draw, of its rotations; each is copied before it is used.
        closed: Returns the state of every draw in closed form, where there is one.
        bias: Of the outputs at the horizons, shape (rank,), a unit more; None where there is none.
        ended: Set where descents that are under way are given up.
    """

    x: np.ndarray
    y: np.ndarray
    descent: Descent
    horizons: tuple[Horizon | None, ...]
    turns: tuple[np.random.Generator, ...]
    closed: Callable[[], list[State | None]]
    bias: np.ndarray | None = None
    ended: Event = field(default_factory=Event)

    @phase("effective network")
    def network(self, way: Way | None = None) -> EffectiveNetwork:
        """Return the effective network.

        Args:
            way: How units become few; by default to as few as change the loss by :data:`REDUCED`.

        Raises:
            InputError: The units diverge.
        """
        reached = [each for each in self.horizons if each is not None]
        followed, tried, whole = max(len(each.sizes) for each in reached), (), None
        if way is None:
            way, tried, whole = self.first(COMPARED).reduced(followed)
        units = self.units(way)
        if units.shape[1] > followed:  # in another draw it takes more than it stands for
            way, units = WHOLE, self.units(WHOLE)
        drawn, looks = self.descend(way, units)
        found = self.standing(way, units, drawn, looks)
        beside = drawn if whole is None or way is WHOLE else whole
        return replace(found, tried=tried, followed=beside)

    def standing(
        self, way: Way, units: np.ndarray, drawn: np.ndarray, looks: tuple[Look, ...]
    ) -> EffectiveNetwork:
        """Return the effective network whose losses and looks are known.

        Args:
            way: How units become few.
            units: Of every draw.
            drawn: Losses of each draw, shape (draws, steps).
            looks: At the units.
        """
        pooled = _pooled([each for each in self.horizons if each is not None])
        return EffectiveNetwork(
            losses=drawn.mean(axis=0),
            drawn=drawn,
            followed=drawn,
            units=units,
            way=way,
            tried=(),
            groups=tuple(sorted(_grouped(pooled, way), key=lambda each: -each.share)),
            looks=looks,
            span=pooled.span,
        )

    def first(self, count: int) -> Draws:
        """Return the first draws that have a horizon."""
        places = [place for place, each in enumerate(self.horizons) if each is not None][:count]
        horizons, turns = ([part[p] for p in places] for part in (self.horizons, self.turns))

        def closed() -> list[State | None]:
            return [self.closed()[place] for place in places]

        return replace(self, horizons=tuple(horizons), turns=tuple(turns), closed=closed)

    def units(self, way: Way) -> np.ndarray:
        """Return the units of every draw, as of :class:`EffectiveNetwork`."""
        parts = [
            np.zeros((1, len(self.x) + len(self.y)))
            if each is None
            else _units(each, state, way, deepcopy(turn))
            for each, state, turn in zip(self.horizons, self.states(way), self.turns, strict=True)
        ]
        most = max(map(len, parts))
        return np.array([np.pad(each, ((0, most - len(each)), (0, 0))) for each in parts])

    def least(self, way: Way) -> int:
        """Return how many units the first draw takes at least."""
        return sum(1 for _ in _clusters(next(filter(None, self.horizons)), way))

    def starts(self, way: Way) -> list[int]:
        """Return the step of the horizon of every draw, the last step where it has none."""
        last = self.descent.steps - 1
        step, pairs = self.descent.step, zip(self.horizons, self.states(way), strict=True)
        steps = [s.step if s else round(h.time / step) if h else last for h, s in pairs]
        return [min(last, each) for each in steps]

    def states(self, way: Way) -> list[State | None]:
        """Return the state of every draw in closed form, where that is the way."""
        return self.closed() if way.name == "closed form" else [None] * len(self.horizons)

    def descend(
        self,
        way: Way,
        units: np.ndarray,
        held_gates: np.ndarray | None = None,
        edges: Sequence[tuple[np.ndarray, np.ndarray]] = (),
    ) -> tuple[np.ndarray, tuple[Look, ...]]:
        """Return the losses of every draw at all steps, and looks from the first horizon on.

        Args:
            way: How units became few.
            units: Of every draw.
            held_gates: As of :func:`symreln.effective.descent.descend_units`.
            edges: The same.

        Raises:
            InputError: The units diverge.
        """
        starts = self.starts(way)
        pairs = zip(starts, self.horizons, strict=True)
        begin = next(start for start, each in pairs if each is not None)
        looked = look_steps(begin, self.descent.steps, 2 * units.size)
        biased = self.bias is not None
        if self.bias is not None:
            row = np.concatenate([np.zeros(len(self.x)), self.bias])
            units = np.concatenate([units, np.tile(row, (len(units), 1, 1))], axis=1)
            if held_gates is not None:
                held_gates = np.pad(held_gates, ((0, 0), (0, 1), (0, 0)))
        losses, looks = descend_units(
            self.x,
            self.y,
            self.descent,
            units,
            starts,
            looked,
            held_gates,
            edges,
            biased=biased,
            ended=self.ended,
        )
        if not np.isfinite(losses).all():
            msg = "effective network: its units diverge. Lower network.learning_rate"
            raise InputError(msg)
        return losses, looks

    def reduced(self, followed: int) -> tuple[Way, tuple[tuple[str, int, float], ...], np.ndarray]:
        """Return the first way that changes the loss little, all tried, and losses of the whole.

        Args:
            followed: Units of a draw, fewer of which a way takes.
        """
        losses = self.descend(WHOLE, self.units(WHOLE))[0]
        whole = losses.mean(axis=0)
        tried = list[tuple[str, int, float]]()
        for way in _WAYS:
            if way.name == "closed form" and not any(self.closed()):
                continue
            units = self.units(way)
            count = units.shape[1]
            if count >= followed or (tried and (way.name, count) == tried[-1][:2]):
                continue
            changed = np.abs(self.descend(way, units)[0].mean(axis=0) - whole).max() / whole[0]
            tried.append((way.name, count, float(changed)))
            if changed <= REDUCED:
                return way, tuple(tried), losses
        return WHOLE, tuple(tried), losses


def _horizon(
    inputs: np.ndarray,
    targets: np.ndarray,
    descent: Descent,
    epsilon: float,
    rng: np.random.Generator,
) -> Horizon | None:
    count = int(min(_FOLLOWED, descent.hidden))
    first, second = descent.init_std
    variance = (first**2 + second**2) / 2
    rows, columns = np.nonzero(targets)
    units = IsolatedUnits(
        inputs,
        (targets.shape, (rows, columns), targets[rows, columns]),
        np.zeros((0, inputs.shape[1])),
        descent.step,
        rng,
        count,
        (first / np.sqrt(variance), second / np.sqrt(variance)),
    )
    return units.to_horizon(
        descent.hidden * variance / count, epsilon, descent.steps * descent.step
    )


def _pooled(found: list[Horizon]) -> Horizon:
    """Return the units of all draws, each draw of one strength."""
    sizes = [each.sizes / each.sizes.sum() for each in found]
    parts = [(each.directions, each.signs) for each in found]
    directions, signs = (np.concatenate(part) for part in zip(*parts, strict=True))
    return replace(found[0], directions=directions, signs=signs, sizes=np.concatenate(sizes))


def _gates(horizon: Horizon, *, single: bool) -> list[np.ndarray]:
    """Return the units of every gate that is open somewhere, the strongest gate first."""
    _, gate = np.unique(horizon.signs, axis=0, return_inverse=True)
    if single:
        gate = np.arange(len(gate))
    order = np.argsort(gate.ravel(), kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(gate.ravel()[order])) + 1)
    alive = [part for part in parts if (horizon.signs[part[0]] > 0).any()]
    return sorted(alive, key=lambda part: -horizon.sizes[part].sum())


def _clusters(horizon: Horizon, way: Way) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
    """Yield the direction of the strongest of some gates, and the units of each of these.

    They are the gates that hold nearly all of the strength, those of nearly one direction as one.

    Args:
        horizon: The units.
        way: Which gates are taken together, and how many are kept.
    """
    gates = _gates(horizon, single=way.single)
    total, kept = sum(horizon.sizes[part].sum() for part in gates), 0.0
    means, found = np.zeros((len(gates), horizon.directions.shape[1])), list[list[np.ndarray]]()
    for part in gates:
        if kept >= way.held * total:
            break
        sizes = horizon.sizes[part]
        kept += sizes.sum()
        mean = sizes @ horizon.directions[part]
        mean /= np.linalg.norm(mean) or 1.0
        along = means[: len(found)] @ mean
        near = int(along.argmax()) if found else -1
        if found and along[near] >= way.alike:
            found[near].append(part)
        else:
            means[len(found)] = mean
            found.append([part])
    yield from zip(means, found, strict=False)


def _grouped(horizon: Horizon, way: Way) -> Iterator[_Group]:
    """Yield the gates of :func:`_clusters` with their moments."""
    alive = (horizon.signs > 0).any(axis=1)
    total = horizon.sizes[alive].sum()
    for mean, parts in _clusters(horizon, way):
        members = np.concatenate(parts)
        strengths = horizon.sizes[members]
        held = np.sqrt(strengths)[:, None] * horizon.directions[members]
        _, sizes, vectors = np.linalg.svd(held, full_matrices=False)
        yield _Group(
            signs=horizon.signs[parts[0][0]],
            share=float(strengths.sum() / total),
            held=held,
            leading=float(sizes[0] ** 2 / strengths.sum()),
            direction=vectors[0] * (1.0 if vectors[0] @ mean >= 0 else -1.0),
        )


def _units(horizon: Horizon, state: State | None, way: Way, rng: np.random.Generator) -> np.ndarray:
    """Return the units that stand for those at a horizon."""
    if state is not None:
        pairs = zip(state.moments, state.directions, strict=True)
        return np.concatenate([_of_moment(moment, e, 0.0, rng) for moment, e in pairs])
    if way.name == "whole":
        return np.sqrt(horizon.sizes)[:, None] * horizon.directions
    groups = [*_grouped(horizon, way)]
    if way.name == "moments":
        least = _SMALL * (1 - way.held) * horizon.sizes.sum()
        return np.concatenate(
            [
                _of_moment(g.moment, g.direction, 0.0 if g.share >= _LARGE else least, rng)
                for g in groups
            ]
        )
    lengths = [np.linalg.norm(group.held @ group.direction) for group in groups]
    return np.array([n * group.direction for n, group in zip(lengths, groups, strict=True)])


def _of_moment(
    moment: np.ndarray, direction: np.ndarray, least: float, rng: np.random.Generator
) -> np.ndarray:
    """Return units that have a moment, and its leading direction in the mean.

    Args:
        moment: M.
        direction: Its leading eigenvector.
        least: Eigenvalues above which it is kept.
        rng: Of the rotation.
    """
    values, vectors = np.linalg.eigh(moment)
    kept = np.flatnonzero(values[:-1] > max(least, _RANK * values[-1]))
    if not len(kept):
        return np.sqrt(values[-1]) * direction[None]
    turn, _ = np.linalg.qr(rng.standard_normal((len(kept), len(kept))))
    beside = turn @ (np.sqrt(values[kept] / 2) * vectors[:, kept]).T
    along = np.sqrt(values[-1] / (2 * len(kept))) * direction
    return np.concatenate([along + beside, along - beside])
