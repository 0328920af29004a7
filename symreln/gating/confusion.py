"""Predicted gates against those of trained networks, as a confusion table over the steps.

Every unit of a network is predicted from the data and its own initial weights: it is followed in
the fixed targets until it settles, and named by the self-consistent gate that it then has. Beside
that stands the gate that the same unit shows in the trained network, step by step: one of the first
stage's, one of a later stage's (for a partial gate only samples off its boundary count), or none of
them. Entries are shares of the networks' weight.

The second table is of classes of gates: the share that units in the limit of many are predicted to
give each class at each step (:mod:`symreln.laws.mean_field`), and the share it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of
from symreln.claims.mean_field import descent_of
from symreln.gating.observed import ObservedNetworks, disagreement, observe
from symreln.gating.search import GateStage
from symreln.gating.serialise import Page, Result, Rows, table
from symreln.gating.sliding import settle
from symreln.laws.gate_classes import GateClass, gate_classes, gate_names, sample_relations
from symreln.laws.mean_field import look_steps, simulate_mean_field
from symreln.networks.orbits import moved_gates
from symreln.specs.model import Spec
from symreln.train.weights import LayerWeights

#: Steps that are shown: as many as can be read.
SHOWN = 8
#: A stream of its own for the units in the limit of many.
SEED = 52_711
#: Share of the weight below which a class of gates is left out of the second table, and below
#: which a row or column is left out of the first.
LEAST, EMPTY = 0.02, 0.0005
#: Classes that the second table shows.
_MOST_CLASSES = 12


@dataclass(frozen=True)
class _PredictedClass(Result):
    """Gates that are alike, predicted for a stage.

    Attributes:
        stage: Of which residual.
        pattern: One of them: 1 open, 0 closed, / on the boundary.
        signs: All of them: 1, -1 or 0 a sample.
    """

    JSON = ("stage", "pattern")
    stage: int
    pattern: str
    signs: tuple[tuple[int, ...], ...]


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class _MeanFieldClass:
    """A class of gates in the limit of many units and in networks.

    Attributes:
        pattern: One of the gates, 0 or 1 a sample.
        alike: How many were seen.
        simulated: Share of the weight in the mean-field simulation, shape (K,).
        shown: Share of the networks' weight, shape (K,).
    """

    pattern: str
    alike: int
    simulated: np.ndarray
    shown: np.ndarray


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Confusion(Result):
    """Predicted gates against shown ones.

    Attributes:
        classes: Predicted classes, stage by stage; "none" comes after them.
        updates: Shape (K,).
        table: Share of the weight, shape (K, classes + 1, classes + 1): predicted by row, shown by
            column.
        chance: Share of units with each class's gate at the start, that is of directions drawn at
            random, shape (classes + 1,): partial gates with few strict samples are met by many.
        loss: Mean loss over the initial one at these updates.
        mean_field: Classes of gates, the heaviest first.
        overlap: Sum over all classes of the smaller of the two shares, shape (K,).
        seeds: How many networks.
    """

    JSON = ("*", "steps=updates", "table=rounded", "hits", "markdown")
    classes: tuple[_PredictedClass, ...]
    updates: np.ndarray
    table: np.ndarray
    chance: np.ndarray
    loss: np.ndarray
    mean_field: tuple[_MeanFieldClass, ...]
    overlap: np.ndarray
    seeds: int

    @property
    def hits(self) -> np.ndarray:
        """Share of the weight of units that show the gate predicted for them, shape (K,)."""
        inner = self.table[:, :-1, :-1]
        return np.trace(inner, axis1=1, axis2=2)

    @property
    def rounded(self) -> np.ndarray:
        """The table to six decimals."""
        return self.table.round(6)

    @property
    def markdown(self) -> Page:
        """Both tables."""
        names = [f"{each.stage}: {each.pattern}" for each in self.classes] + ["none of them"]
        lines: list[str | Rows] = [
            f"Gate that a unit is predicted to have (row) and shows (column), {self.seeds} "
            "networks, share of the weight:",
            "",
        ]
        for k, step in enumerate(self.updates):
            shares = self.table[k]
            shown = np.flatnonzero(shares.sum(axis=0) >= EMPTY)
            rows = [(names[i], shares[i]) for i in np.flatnonzero(shares.sum(axis=1) >= EMPTY)]
            rows.append(("(directions drawn at random)", self.chance))
            columns = [("predicted", _first)]
            columns += [(names[j], lambda row, j=j: f"{row[1][j]:.3f}") for j in shown]
            lines += [
                f"step {step}, loss {self.loss[k]:.4f} L(0), as predicted {self.hits[k]:.3f}:",
                "",
                table(rows, columns),
                "",
            ]
        columns = [("gate", _first), ("orbit", lambda row: row[1])]
        columns += [
            (f"step {step}", lambda row, k=k: row[2][k]) for k, step in enumerate(self.updates)
        ]
        classes: list[tuple[str, object, list[str]]] = [
            (
                each.pattern,
                each.alike,
                [f"{a:.2f} / {b:.2f}" for a, b in zip(each.simulated, each.shown, strict=True)],
            )
            for each in self.mean_field[:_MOST_CLASSES]
        ]
        classes.append(("shares in common", "all", [f"{value:.2f}" for value in self.overlap]))
        lines += [
            "Classes of gates, share of the weight in the mean-field simulation / shown:",
            "",
            table(classes, columns),
        ]
        return Page(lines)


def _first(row: tuple) -> object:
    return row[0]


def predicted_classes(stages: Iterable[GateStage]) -> tuple[_PredictedClass, ...]:
    """Return the classes of gates that stages predict, full and partial, the fastest first.

    Args:
        stages: See :func:`symreln.gating.search.predicted_stages`.
    """
    return tuple(
        _PredictedClass(stage.stage, each.pattern, moved_gates(each.signs, stage.group))
        for stage in stages
        for each in stage.candidates
    )


def confusion(spec: Spec, classes: tuple[_PredictedClass, ...], seeds: int, rng: int) -> Confusion:
    """Train networks and set what their units show beside what is predicted for them.

    Args:
        spec: Without free parameters, with a network.
        classes: Predicted ones.
        seeds: How many networks.
        rng: Seed of their weights.

    Raises:
        InputError: The network is linear, or has other than one hidden layer.
    """
    network, random = network_of(spec), np.random.default_rng(rng)
    first, second = map(float, network.stds)
    w1 = first * random.standard_normal((seeds, network.hidden, spec.dataset.n_x))
    w2 = second * random.standard_normal((seeds, spec.dataset.n_y, network.hidden))
    looks = look_steps(network.steps)
    run = observe(spec, seeds=seeds, steps=looks, initial=LayerWeights(w1=w1, w2=w2))
    units = w1.reshape(-1, w1.shape[2]), np.swapaxes(w2, 1, 2).reshape(-1, w2.shape[1])
    early = [each for each in classes if each.stage == 1]
    settled = _class_of(settle(run.inputs, run.targets, *units) @ run.inputs > 0, early)
    settled[settled == len(early)] = len(classes)
    chosen = np.unique(np.linspace(0, len(looks) - 1, SHOWN + 1).round().astype(int)[1:])
    tables = np.zeros((len(chosen), *(len(classes) + 1,) * 2))
    for k, look in enumerate(chosen):
        weights = run.weights[:, look].ravel()
        shown = _class_of(run.active[:, look].reshape(len(weights), -1), classes)
        np.add.at(tables[k], (settled, shown), weights / weights.sum())
    start = _class_of(run.active[:, 0].reshape(len(settled), -1), classes)
    mean_field, overlap = _mean_field(spec, run, chosen)
    return Confusion(
        classes=classes,
        updates=looks[chosen],
        table=tables,
        chance=np.bincount(start, minlength=len(classes) + 1) / len(start),
        loss=run.curve[looks[chosen]],
        mean_field=mean_field,
        overlap=overlap,
        seeds=seeds,
    )


def _class_of(activity: np.ndarray, classes: Sequence[_PredictedClass]) -> np.ndarray:
    """Return the number of the first class with each gate, ``len(classes)`` for none of them.

    Args:
        activity: 1[w·x > 0], shape (units, P).
        classes: Whose strict signs have to agree.
    """
    found = np.full(len(activity), len(classes))
    # A partial class takes what no full one does: few of its signs are strict.
    order = sorted(range(len(classes)), key=lambda k: ("/" in classes[k].pattern, k))
    for number in reversed(order):
        wrong = disagreement(activity.astype(float), 1.0, np.array(classes[number].signs))
        found[(wrong == 0).any(axis=1)] = number
    return found


def _mean_field(
    spec: Spec, run: ObservedNetworks, chosen: np.ndarray
) -> tuple[tuple[_MeanFieldClass, ...], np.ndarray]:
    """Return classes of gates with their simulated and shown shares, and the shares' overlap."""
    relations = sample_relations(run.inputs, run.targets)
    histories = [(list(run.active[k]), list(run.weights[k])) for k in range(run.seeds)]
    sides = [
        _by_name(classes, relations)
        for classes in (
            simulate_mean_field(run.inputs, run.targets, descent_of(spec), SEED).classes,
            gate_classes(histories, relations),
        )
    ]
    rows, overlap = [], np.zeros(len(chosen))
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        ours, theirs = (
            side[name].shares[chosen] if name in side else np.zeros(len(chosen)) for side in sides
        )
        overlap += np.minimum(ours, theirs)
        one = sides[1].get(name) or sides[0][name]
        if max(ours.max(), theirs.max()) >= LEAST:
            gate = "".join(map(str, one.gate))
            rows.append(
                _MeanFieldClass(pattern=gate, alike=one.alike, simulated=ours, shown=theirs)
            )
    ordered = sorted(rows, key=lambda row: -max(row.simulated.max(), row.shown.max()))
    return tuple(ordered), overlap


def _by_name(classes: Sequence[GateClass], relations: np.ndarray) -> dict[int, GateClass]:
    """Return classes of gates by a number that no symmetry of the samples changes."""
    if not classes:
        return {}
    names = gate_names(np.array([each.gate for each in classes], dtype=bool), relations)
    return dict(zip(names.tolist(), classes, strict=True))
