r"""Gates from the data alone, as pathways of a spec.

First the gates that units have at the horizon of the effective network, the strongest until they
hold :data:`_ENOUGH` of the strength. Where linear maps of what these let through cannot reach what
the network reaches, its units leave them for others later on: the gates where they end, clustered
as Algorithm 1 of [Jarvis2025] clusters those of trained networks, are a second stage.

No network is trained: units are those of :mod:`symreln.effective.network`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from symreln.base.progress import phase
from symreln.effective.found import may_certify
from symreln.effective.network import EffectiveNetwork, effective_of
from symreln.errors import InputError
from symreln.gating.clustering import chosen, distinct_rows
from symreln.gating.found_pathways import gate_pathway
from symreln.specs.kinds import NAME_LENGTH
from symreln.specs.spec import Dataset, PathwaySpec, Spec
from symreln.verdict.faces import held_on

#: Share of the strength that a stage's gates hold, and how many they are at most.
_ENOUGH, _MOST = 0.95, 16
#: Share of L(0) that the first stage's gates may leave of what the network learns.
_LEFT = 0.01
#: Rounds after which a gate has not settled, and cosine from which it is that of the same units.
_ROUNDS, _NEAR = 50, 0.9
#: Correlation of an input with what is left, over the largest, below which it is rounding.
_DRIVEN = 1e-9
#: Clusters of later gates at most, and the seed of their starts.
_CLUSTERS, _SEED = 8, 43_044
#: Inputs of all pathways together at most: exact residuals of ordinary numbers take their cube.
MOST_INPUTS = 256


@phase("gates from the data")
def with_gates(spec: Spec) -> Spec:
    """Return a spec with pathways that have the gates of its data.

    Where a gate is partial it is the spec at the values of its parameters.

    Args:
        spec: Without pathways, with a network, and with a value for every parameter.

    Raises:
        InputError: No unit grows in the steps of the network.
    """
    numbers = spec.at_values()
    network = effective_of(numbers)
    if network is None:
        msg = (
            "gates from the data: found no hidden unit whose output is felt within network.steps "
            f"({spec.network.steps if spec.network else 0}): the loss stays where it is. Either "
            "the data drive no unit (inputs or targets that are zero; every half-space sees as "
            "much of one target as of its opposite), or steps, learning_rate or init_std are small"
        )
        raise InputError(msg)
    return with_gates_of(spec, network)


def with_gates_of(spec: Spec, network: EffectiveNetwork, most_inputs: int = MOST_INPUTS) -> Spec:
    """Return a spec with pathways that have the gates of an effective network.

    Args:
        spec: Without pathways, with a network, and with a value for every parameter.
        network: Of its data.
        most_inputs: Of all pathways together.
    """
    numbers = spec.at_values()
    inputs, targets = numbers.dataset.arrays
    gates = [*_first(network, numbers.dataset, max(1, min(_MOST, most_inputs // len(inputs))))]
    stages = [1] * len(gates)
    left, reached = _left(inputs, targets, gates), network.losses[-1] + _LEFT * network.losses[0]
    if 0.5 * np.square(left).sum() / len(left.T) > reached:
        room = most_inputs // len(inputs) - len(gates)
        later = [*_later(network, inputs, gates, min(_CLUSTERS, room))]
        gates, stages = gates + later, stages + [2] * len(later)
    names = _names(spec.dataset, gates)
    pathways = tuple(
        _driven(gate_pathway(spec.dataset, gate, name, stage), inputs, left)
        for gate, name, stage in zip(gates, names, stages, strict=True)
    )
    if any(pathway.boundary for pathway in pathways):
        spec = numbers  # samples on a boundary may be dependent at these values alone
    told = spec.network
    if told is not None and max(stages) > 1:
        told = replace(told, training="staged")
    return replace(spec, pathways=pathways, network=told, find="data")


def _first(network: EffectiveNetwork, data: Dataset, most: int) -> Iterator[tuple[int, ...]]:
    """Yield the strongest gates at the horizon, each once."""
    held, given = 0.0, set[tuple[int, ...]]()
    for group in network.groups:
        if held >= _ENOUGH or len(given) == most:
            return
        held += group.share
        gate = _settled(data, group.signs, group.direction)
        if gate not in given:
            given.add(gate)
            yield gate


def _settled(data: Dataset, signs: np.ndarray, direction: np.ndarray) -> tuple[int, ...]:
    """Return the gate that units of nearly one direction settle on.

    Where they are proven to be held on boundary samples it is theirs. Else it is that of the
    direction which they grow along as long as they keep a gate, that of its own gate, and so on,
    where this ends near theirs; else samples are open that their mean direction opens.

    Args:
        data: Without free parameters.
        signs: Of most of the units, shape (P,).
        direction: (w, b) in the mean.
    """
    inputs, targets = data.arrays
    begin = direction[: data.n_x]
    if (signs == 0).any() and may_certify(data, signs):
        held = tuple(signs.tolist())
        if held_on(data.inputs, data.targets, held) is not None:
            return held
    opened, w = begin @ inputs > 0, begin
    for _ in range(_ROUNDS if opened.any() else 0):
        w = np.linalg.svd(targets * opened @ inputs.T)[2][0]
        w = w * (1.0 if w @ begin >= 0 else -1.0)
        if ((w @ inputs > 0) == opened).all():
            break
        opened = w @ inputs > 0
    if not opened.any():  # rounding closes what is open alone
        opened = signs > 0
    elif w @ begin < _NEAR * np.linalg.norm(begin) or ((w @ inputs > 0) != opened).any():
        opened = begin @ inputs > 0
    return tuple(np.where(opened, 1, -1).tolist())


def _later(
    network: EffectiveNetwork, inputs: np.ndarray, before: Sequence[tuple[int, ...]], most: int
) -> Iterator[tuple[int, ...]]:
    """Yield the gates around which units gather at the end, in as many clusters as tell apart."""
    look = network.looks[-1]
    seen, sizes = look.seen(inputs), look.sizes(inputs)
    alive = sizes > 0
    rows = distinct_rows(seen[alive] > 0, sizes[alive])
    if min(most, len(rows.values)) < 2:
        return
    centres = sorted(chosen(rows, most, _SEED)[0].centroids.tolist())
    for gate in dict.fromkeys(tuple(2 * (x > 0.5) - 1 for x in centre) for centre in centres):
        if gate not in before and 1 in gate:
            yield gate


def _left(inputs: np.ndarray, targets: np.ndarray, gates: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Return what linear maps of what gates let through leave of the targets, shape (n_y, P)."""
    features = []
    for gate in gates:
        on = inputs[:, np.array(gate) == 0]
        seen = inputs - on @ np.linalg.pinv(on) @ inputs if on.any() else inputs
        features.append(seen * (np.array(gate) > 0))
    rows = np.concatenate(features)
    fit = np.linalg.lstsq(rows.T, targets.T, rcond=None)[0]
    return targets - fit.T @ rows


def _driven(pathway: PathwaySpec, inputs: np.ndarray, left: np.ndarray) -> PathwaySpec:
    """Return a pathway; of a later stage with those inputs alone whose weights are driven."""
    if pathway.stage == 1:
        return pathway
    drive = np.linalg.norm(left @ (inputs * np.array(pathway.gate)).T, axis=0)
    kept = np.flatnonzero(drive > _DRIVEN * drive.max())
    return replace(pathway, inputs=tuple(kept.tolist())) if len(kept) else pathway


def _names(dataset: Dataset, gates: Sequence[tuple[int, ...]]) -> list[str]:
    """Return a name for every gate, by a label's value where that is what it is."""
    known = {(1,) * dataset.samples: "common"}
    for opened, no in ((True, ""), (False, "not_")):
        for label, entries in dataset.labels.items():
            for value in dict.fromkeys(entries):
                gate = tuple(1 if (entry == value) == opened else -1 for entry in entries)
                name = f"{no}{label}_{value}"
                if len(name) < NAME_LENGTH:
                    known.setdefault(gate, name)
    names = list[str]()
    for number, gate in enumerate(gates, start=1):
        name = known.get(gate, f"gate_{number}")
        while name in names:
            name += "_"
        names.append(name)
    return names
