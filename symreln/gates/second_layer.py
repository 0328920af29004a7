r"""Gates of the second hidden layer, given what the first one holds.

A unit of the second layer sees :math:`h_\mu`, the first layer's activity, so its gates are those of
the data (h, Y). *Exact*: where the first layer's units have settled on the gates of the largest
growth rate, h has one row :math:`(v\cdot x_\mu)_+` for each of them, v its exact direction; which
gates the second layer then allows, and which are self-consistent there, is decided as for any data.
*Not derived*: that the first layer settles before the second. In a network of three layers of
weights both move at once, and seeds differ; :func:`trained_second_layer` says what they do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq

from symreln.base.summaries import short_repr
from symreln.claims.integration import network_of
from symreln.dynamics.gate_classes import GateClass, gate_classes, sample_relations
from symreln.dynamics.mean_field import look_steps
from symreln.errors import NotSupportedError
from symreln.exact.matrix import ExactMatrix
from symreln.experiment.trained import training_settings
from symreln.gates.consistent import SelfConsistentGate, columns, self_consistent_gates
from symreln.gates.partial import partial_gates
from symreln.gates.programming import dot
from symreln.gates.stages import predicted_stages
from symreln.gates.trained import classes_by_name, require_gates
from symreln.train.record import Recording
from symreln.train.trainers import train_deep_network

if TYPE_CHECKING:
    from symreln.gates.enumerate import RealisableGates
    from symreln.gates.stages import GateStage
    from symreln.spec.model import Dataset, Spec

#: Steps that are shown of trained networks.
SHOWN = 8

Json = dict[str, Any]


def settled_representation(dataset: Dataset, found: RealisableGates | None = None) -> Dataset:
    """Return the data that a second layer sees once the first has settled.

    One input a gate of the first stage's winners: what a unit with its direction holds, scaled so
    that entries are rational.

    Args:
        dataset: Without parameters.
        found: Its gates; all of them if left out.

    Raises:
        NotSupportedError: No gate is self-consistent, or a winner's direction is irrational or
            one of several.
    """
    stage = next(predicted_stages(dataset, most=1, found=found), None)
    if stage is None or not stage.winners:
        msg = (
            "second layer: no gate of the first layer is self-consistent, so it settles on none. "
            "Ask for --layer 1"
        )
        raise NotSupportedError(msg)
    samples, rows = columns(dataset.inputs), []
    for signs in stage.winners:
        one = _gate_of(dataset, stage, signs)
        if one.dimension > 1 or not all(isinstance(value, fmpq) for value in one.v):
            why = "several directions" if one.dimension > 1 else "an irrational direction"
            msg = (
                f"second layer: gate {one.pattern} of the first layer has {why}, and a second "
                "layer's data are written for one rational direction a gate"
            )
            raise NotSupportedError(msg)
        seen = [dot(one.v, x) for x in samples]
        rows.append([_fraction(value) if value > 0 else Fraction(0) for value in seen])
    everything = {"first": tuple(range(len(rows)))}
    return replace(dataset, inputs=ExactMatrix.from_rows(rows), input_groups=everything)


def _gate_of(dataset: Dataset, stage: GateStage, signs: tuple[int, ...]) -> SelfConsistentGate:
    """Return a stage's winner with given signs."""
    if 0 in signs:
        (one,) = partial_gates(dataset.inputs, stage.residual, [(signs, 1)])
        return one
    gate = tuple(int(sign > 0) for sign in signs)
    chosen = self_consistent_gates(dataset.inputs, stage.residual, [(gate, 1)])
    return next(each for each in chosen if each.s == stage.candidates[0].s)


def _fraction(value: fmpq | int) -> Fraction:
    exact = fmpq(value)
    return Fraction(int(exact.p), int(exact.q))


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class SecondLayerGates:
    """Gates that the second hidden layer of trained networks shows.

    Attributes:
        steps: Shape (K,).
        loss: Mean loss over the initial one, shape (K,).
        classes: Gates that carry weight, those alike together; shares at the steps.
        spread: Standard deviation over seeds of each class's share, an array of shape (K,) each.
        seeds: How many networks.
    """

    steps: np.ndarray
    loss: np.ndarray
    classes: tuple[GateClass, ...]
    spread: tuple[np.ndarray, ...]
    seeds: int


def trained_second_layer(spec: Spec, seeds: int, rng: int) -> SecondLayerGates:
    """Train networks with two hidden ReLU layers of the spec's width; return the second's gates.

    A unit weighs the length of its incoming times that of its outgoing weights.

    Args:
        spec: Without free parameters, with a network.
        seeds: How many networks.
        rng: Seed of their weights.
    """
    require_gates(spec)
    network = network_of(spec)
    settings = replace(training_settings(spec), init_std=float(network.init_std))
    looks = look_steps(network.steps)
    inputs, targets = spec.dataset.inputs.to_numpy(), spec.dataset.targets.to_numpy()
    run = train_deep_network(
        inputs,
        targets,
        (network.hidden, network.hidden),
        settings,
        seeds=seeds,
        rng=rng,
        record=Recording(
            quantities=("activity",),
            observers={"weights": _second_weights},
            steps=tuple(int(step) for step in looks),
        ),
    )
    chosen = np.unique(np.linspace(0, len(looks) - 1, SHOWN + 1).round().astype(int)[1:])
    activity = run.snapshots["activity"][:, chosen, network.hidden :]
    weights = run.snapshots["weights"][:, chosen]
    relations = sample_relations(inputs, targets)
    every = [(list(activity[k]), list(weights[k])) for k in range(seeds)]
    classes = gate_classes(every, relations)
    single = [classes_by_name(gate_classes([one], relations), relations) for one in every]
    nothing = np.zeros(len(chosen))
    spread = tuple(
        np.std([own[name].shares if name in own else nothing for own in single], axis=0)
        for name in classes_by_name(classes, relations)
    )
    mean = run.mean_loss
    return SecondLayerGates(
        steps=looks[chosen],
        loss=mean[looks[chosen]] / mean[0],
        classes=classes,
        spread=spread,
        seeds=seeds,
    )


def _second_weights(step: int, weights: tuple) -> np.ndarray:
    """Length of incoming times outgoing weights of the second layer's units, (seeds, H)."""
    incoming, outgoing = weights[1], weights[2]
    return np.linalg.norm(incoming, axis=2) * np.linalg.norm(outgoing, axis=1)


def second_layer_table(found: SecondLayerGates) -> str:
    """Return the shares as Markdown."""
    header = " | ".join(f"step {step}" for step in found.steps)
    lines = [
        f"Gates of the second hidden layer, {found.seeds} networks, share of the weight, mean ± "
        "std over seeds:",
        "",
        f"| gate | alike | {header} |",
        "|---|---|" + "---|" * len(found.steps),
        f"| loss/L(0) | – | {' | '.join(f'{value:.4f}' for value in found.loss)} |",
    ]
    for each, spread in list(zip(found.classes, found.spread, strict=True))[:12]:
        cells = " | ".join(f"{a:.2f} ± {b:.2f}" for a, b in zip(each.shares, spread, strict=True))
        lines.append(f"| {''.join(map(str, each.gate))} | {each.alike} | {cells} |")
    return "\n".join([*lines, ""])


def second_layer_json(found: SecondLayerGates) -> Json:
    """Return the shares as JSON."""
    return {
        "seeds": found.seeds,
        "steps": found.steps.tolist(),
        "loss": found.loss.tolist(),
        "classes": [
            {
                "pattern": "".join(map(str, each.gate)),
                "alike": each.alike,
                "shares": each.shares.tolist(),
                "spread": spread.tolist(),
            }
            for each, spread in zip(found.classes, found.spread, strict=True)
        ],
    }
