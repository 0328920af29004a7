"""Predicted gates against those of trained networks, as a confusion table over the steps.

Every unit of a network is predicted from the data and its own initial weights: it is followed in
the fixed targets until it settles, and named by the self-consistent gate that it then has. Beside
that stands the gate that the same unit shows in the trained network, step by step: one of the first
stage's, one of a later stage's (for a partial gate only samples off its boundary count), or none of
them. Entries are shares of the networks' weight.

The second table is of classes of gates: the share that units in the limit of many are predicted to
give each class at each step (:mod:`symreln.dynamics.mean_field`), and the share it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of
from symreln.dynamics.gate_classes import gate_classes, sample_relations
from symreln.dynamics.mean_field import Descent, look_steps, simulate_mean_field
from symreln.experiment.trained import training_settings
from symreln.gates.orbits import moved_gates
from symreln.gates.sliding import settle
from symreln.gates.trained import classes_by_name, require_gates
from symreln.train.record import Recording, contribution
from symreln.train.trainers import train_network
from symreln.train.weights import LayerWeights

if TYPE_CHECKING:
    from symreln.gates.stages import GateStage
    from symreln.spec.model import Spec

#: Steps that are shown: as many as can be read.
SHOWN = 8
#: A stream of its own for the units in the limit of many.
SEED = 52_711
#: Share of the weight below which a class of gates is left out of the second table.
LEAST = 0.02

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class PredictedClass:
    """Gates that are alike, predicted for a stage.

    Attributes:
        stage: Of which residual.
        pattern: One of them: 1 open, 0 closed, / on the boundary.
        signs: All of them: 1, -1 or 0 a sample.
    """

    stage: int
    pattern: str
    signs: tuple[tuple[int, ...], ...]


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Confusion:
    """Predicted gates against shown ones.

    Attributes:
        classes: Predicted classes, stage by stage; "none" comes after them.
        steps: Shape (K,).
        table: Share of the weight, shape (K, classes + 1, classes + 1): predicted by row, shown by
            column.
        chance: Share of units with each class's gate at the start, that is of directions drawn at
            random, shape (classes + 1,): partial gates with few strict samples are met by many.
        loss: Mean loss over the initial one at the steps.
        mean_field: (pattern, alike, shares in the mean-field simulation (K,), shown shares (K,))
            of classes of gates.
        overlap: Sum over all classes of the smaller of the two shares, shape (K,).
        seeds: How many networks.
    """

    classes: tuple[PredictedClass, ...]
    steps: np.ndarray
    table: np.ndarray
    chance: np.ndarray
    loss: np.ndarray
    mean_field: tuple[tuple[str, int, np.ndarray, np.ndarray], ...]
    overlap: np.ndarray
    seeds: int

    @property
    def hits(self) -> np.ndarray:
        """Share of the weight of units that show the gate predicted for them, shape (K,)."""
        inner = self.table[:, :-1, :-1]
        return np.trace(inner, axis1=1, axis2=2)


def predicted_classes(spec: Spec, stages: Sequence[GateStage]) -> tuple[PredictedClass, ...]:
    """Return the classes of gates that stages predict, full and partial, the fastest first.

    Args:
        spec: Without free parameters.
        stages: See :func:`symreln.gates.stages.predicted_stages`.
    """
    found: list[PredictedClass] = []
    for number, stage in enumerate(stages, start=1):
        for each in stage.candidates:
            alike = moved_gates(each.course, stage.found.group)
            found.append(PredictedClass(stage=number, pattern=each.pattern, signs=alike))
    return tuple(found)


def confusion(spec: Spec, classes: tuple[PredictedClass, ...], seeds: int, rng: int) -> Confusion:
    """Train networks and set what their units show beside what is predicted for them.

    Args:
        spec: Without free parameters, with a network.
        classes: Predicted ones.
        seeds: How many networks.
        rng: Seed of their weights.

    Raises:
        InputError: The network is linear.
    """
    network, settings = network_of(spec), training_settings(spec)
    require_gates(spec)
    inputs, targets = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    random = np.random.default_rng(rng)
    first, second = settings.layer_stds(2)
    w1 = first * random.standard_normal((seeds, network.hidden, spec.dataset.n_x))
    w2 = second * random.standard_normal((seeds, spec.dataset.n_y, network.hidden))
    looks = look_steps(network.steps)
    run = train_network(
        inputs,
        targets,
        settings,
        initial=LayerWeights(w1=w1, w2=w2),
        record=Recording(
            quantities=("activity",),
            observers={"weights": contribution},
            steps=tuple(int(step) for step in looks),
        ),
    )
    units = w1.reshape(-1, w1.shape[2]), np.swapaxes(w2, 1, 2).reshape(-1, w2.shape[1])
    early = [each for each in classes if each.stage == 1]
    settled = _class_of(settle(inputs, targets, *units) @ inputs > 0, early)
    settled[settled == len(early)] = len(classes)
    chosen = np.unique(np.linspace(0, len(looks) - 1, SHOWN + 1).round().astype(int)[1:])
    tables = []
    for k in chosen:
        activity = run.snapshots["activity"][:, k].reshape(-1, inputs.shape[1])
        weights = run.snapshots["weights"][:, k].ravel()
        shown = _class_of(activity, classes)
        table = np.zeros((len(classes) + 1,) * 2)
        np.add.at(table, (settled, shown), weights / weights.sum())
        tables.append(table)
    start = _class_of(run.snapshots["activity"][:, 0].reshape(-1, inputs.shape[1]), classes)
    mean = run.mean_loss
    mean_field, overlap = _mean_field(spec, run.snapshots, looks, chosen)
    return Confusion(
        classes=classes,
        steps=looks[chosen],
        table=np.array(tables),
        chance=np.bincount(start, minlength=len(classes) + 1) / len(start),
        loss=mean[looks[chosen]] / mean[0],
        mean_field=mean_field,
        overlap=overlap,
        seeds=seeds,
    )


def _class_of(activity: np.ndarray, classes: Sequence[PredictedClass]) -> np.ndarray:
    """Return the number of the first class with each gate, ``len(classes)`` for none of them.

    Args:
        activity: 1[w·x > 0], shape (units, P).
        classes: Whose strict signs have to agree.
    """
    found = np.full(len(activity), len(classes))
    active = activity.astype(float)
    # A partial class takes what no full one does: few of its signs are strict.
    partial = [number for number, each in enumerate(classes) if "/" in each.pattern]
    whole = [number for number in range(len(classes)) if number not in partial]
    for number in [*reversed(partial), *reversed(whole)]:
        signs = np.array(classes[number].signs)
        wrong = active @ (signs < 0).T + (1 - active) @ (signs > 0).T
        found[(wrong == 0).any(axis=1)] = number
    return found


def _mean_field(
    spec: Spec, snapshots: dict[str, np.ndarray], looks: np.ndarray, chosen: np.ndarray
) -> tuple[tuple[tuple[str, int, np.ndarray, np.ndarray], ...], np.ndarray]:
    """Return classes of gates with their simulated and shown shares, and the shares' overlap."""
    inputs, targets = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    settings, network = training_settings(spec), network_of(spec)
    first, second = settings.layer_stds(2)
    descent = Descent(
        hidden=network.hidden,
        init_std=(first, second),
        step=1 / float(network.tau(spec.dataset.samples)),
        steps=network.steps,
        weight_decay=settings.weight_decay,
    )
    simulated = simulate_mean_field(inputs, targets, descent, SEED).classes
    relations = sample_relations(inputs, targets)
    histories = [
        (list(snapshots["activity"][seed]), list(snapshots["weights"][seed]))
        for seed in range(len(snapshots["weights"]))
    ]
    shown = gate_classes(histories, relations)
    ours, theirs = (classes_by_name(each, relations) for each in (simulated, shown))
    rows, overlap = [], np.zeros(len(chosen))
    for name in dict.fromkeys([*ours, *theirs]):
        shares = [
            side[name].shares[chosen] if name in side else np.zeros(len(chosen))
            for side in (ours, theirs)
        ]
        overlap += np.minimum(*shares)
        one = theirs.get(name) or ours[name]
        if max(share.max() for share in shares) >= LEAST:
            rows.append(("".join(map(str, one.gate)), one.alike, *shares))
    ordered = sorted(rows, key=lambda row: -max(row[2].max(), row[3].max()))
    return tuple(ordered), overlap


def confusion_table(found: Confusion) -> str:
    """Return both tables as Markdown."""
    names = [f"{each.stage}: {each.pattern}" for each in found.classes] + ["none of them"]
    lines = [
        f"Gate that a unit is predicted to have (row) and shows (column), {found.seeds} networks, "
        "share of the weight:",
        "",
    ]
    for k, step in enumerate(found.steps):
        table = found.table[k]
        rows = [i for i in range(len(names)) if table[i].sum() >= 0.0005]
        shown = [j for j in range(len(names)) if table[:, j].sum() >= 0.0005]
        lines += [
            f"step {step}, loss {found.loss[k]:.4f} L(0), as predicted {found.hits[k]:.3f}:",
            "",
            f"| predicted | {' | '.join(names[j] for j in shown)} |",
            "|---|" + "---|" * len(shown),
        ]
        for i in rows:
            cells = " | ".join(f"{table[i, j]:.3f}" for j in shown)
            lines.append(f"| {names[i]} | {cells} |")
        cells = " | ".join(f"{found.chance[j]:.3f}" for j in shown)
        lines.append(f"| (directions drawn at random) | {cells} |")
        lines.append("")
    header = " | ".join(f"step {step}" for step in found.steps)
    lines += [
        "Classes of gates, share of the weight in the mean-field simulation / shown:",
        "",
        f"| gate | alike | {header} |",
        "|---|---|" + "---|" * len(found.steps),
    ]
    for gate, alike, ours, theirs in found.mean_field[:12]:
        cells = " | ".join(f"{a:.2f} / {b:.2f}" for a, b in zip(ours, theirs, strict=True))
        lines.append(f"| {gate} | {alike} | {cells} |")
    cells = " | ".join(f"{value:.2f}" for value in found.overlap)
    lines += [f"| shares in common | all | {cells} |", ""]
    return "\n".join(lines)


def confusion_json(found: Confusion) -> Json:
    """Return both tables as JSON."""
    return {
        "seeds": found.seeds,
        "classes": [{"stage": each.stage, "pattern": each.pattern} for each in found.classes],
        "steps": found.steps.tolist(),
        "loss": found.loss.tolist(),
        "table": found.table.round(6).tolist(),
        "chance": found.chance.tolist(),
        "hits": found.hits.tolist(),
        "mean_field": [
            {"pattern": gate, "alike": alike, "simulated": a.tolist(), "shown": b.tolist()}
            for gate, alike, a, b in found.mean_field
        ],
        "overlap": found.overlap.tolist(),
    }
