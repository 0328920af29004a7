"""The training loop itself: one chunk of seeds, with snapshots and a divergence check."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from symreln.base.summaries import short_repr
from symreln.errors import InputError
from symreln.train.batches import Batches
from symreln.train.model import Model
from symreln.train.program import State
from symreln.train.record import Observer, Recording, observer_of
from symreln.train.steps import program_of
from symreln.train.weights import Weights

BLOCK = 64  # steps between two looks at finiteness and two reports of progress


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Chunk:
    """Results of some seeds, first axis seeds; fields as in ``TrainingRun``."""

    losses: np.ndarray
    snapshots: dict[str, np.ndarray]
    matrices: Weights


def train_chunk(
    model: Model,
    weights: Weights,
    record: Recording,
    first_seed: int,
    report: Callable[[int], None],
    keys: np.ndarray | None = None,
) -> Chunk:
    """Train some seeds from their initial weights.

    Args:
        model: Network, data and hyper-parameters.
        weights: Initial weights, one matrix an edge.
        record: What to keep.
        first_seed: Number of the first seed, for messages.
        report: Called after each block with the seed-steps done so far.
        keys: Of the streams of mini-batches (:func:`symreln.train.batches.batch_keys`); needed
            where a batch size is given.
    """
    seeds, steps = len(weights[0]), model.settings.steps
    state = State(program_of(model), weights, model.gates)
    batches = None
    if model.settings.batch_size is not None:
        assert keys is not None
        batches = Batches(keys, model.samples, model.settings.batch_size)
    snapshot_steps = record.snapshot_steps(steps)
    observers: dict[str, Observer] = {
        **{name: observer_of(model, name, record) for name in record.quantities},
        **record.observers,
    }
    kept: dict[str, list[np.ndarray]] = {name: [] for name in observers}
    losses = np.empty((seeds, steps))
    # A diverging network overflows before the check below names it.
    with np.errstate(over="ignore", invalid="ignore"):
        for start, stop in _blocks(steps, snapshot_steps):
            if start in snapshot_steps:
                present = state.weights()
                for name, observe in observers.items():
                    kept[name].append(np.asarray(observe(start, present)))
            block = []
            for step in range(start, stop):
                block.append(state.evaluate())
                if step + 1 < steps:
                    state.update(None if batches is None else batches.next())
            losses[:, start:stop] = model.arithmetic.stack(block)
            _check_finite(model, losses[:, start:stop], first_seed, start)
            report(stop * seeds)
    snapshots = {name: np.stack(values, axis=1) for name, values in kept.items()}
    return Chunk(losses=losses, snapshots=snapshots, matrices=state.weights())


def _blocks(steps: int, snapshot_steps: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Cut 0 … steps − 1 into blocks that begin at each snapshot step."""
    cuts = sorted({*range(0, steps, BLOCK), *snapshot_steps, steps})
    return itertools.pairwise(cuts)


def _check_finite(model: Model, losses: np.ndarray, first_seed: int, first_step: int) -> None:
    finite = np.isfinite(losses)
    if finite.all():
        return
    settings = model.settings
    step = int(np.argmin(finite.all(axis=0)))
    seed = int(np.argmin(finite[:, step]))
    batch = settings.batch_size
    noisy = f" Batches of {batch} may need {model.samples / batch:.3g} times less." if batch else ""
    msg = (
        f"training diverged at step {first_step + step} (seed {first_seed + seed}): the loss is "
        f"not finite with learning rate {settings.learning_rate:g} and loss {settings.loss!r}. "
        "Lower network.learning_rate below about 2/λmax = "
        f"{model.stable_learning_rate():.2g} (λmax: curvature of the loss where the data are "
        f"fitted), and network.init_std if it is large.{noisy}"
    )
    raise InputError(msg)
