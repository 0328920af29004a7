"""The training loop itself: one chunk of seeds, with snapshots and a divergence check.

Mini-batches: every seed goes through all samples in an order of its own, epoch after epoch.

A batch is told as a weight for every sample, P/|batch| inside and 0 outside, with which the
gradient of the full batch becomes that of the batch. Every step records the loss over all samples,
so their residuals are there in any case, and the step needs no other shapes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import final

import numpy as np

from symreln.base.processors import one_blas_thread
from symreln.base.records import record
from symreln.errors import InputError
from symreln.train.program import State
from symreln.train.record import Observer, Recording, observer_of
from symreln.train.steps import program_of
from symreln.train.trained_model import Model
from symreln.train.weights import Weights

_BLOCK = 64  # steps between two looks at finiteness and two reports of progress


@record(eq=False)
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
    children: Sequence[np.random.SeedSequence] = (),
) -> Chunk:
    """Train some seeds from their initial weights.

    Args:
        model: Network, data and hyper-parameters.
        weights: Initial weights, one matrix an edge.
        record: What to keep.
        first_seed: Number of the first seed, for messages.
        report: Called after each block with the seed-steps done so far.
        children: One a seed (:func:`symreln.train.weights.seed_children`); needed where a batch
            size is given.
    """
    seeds, steps = len(weights[0]), model.settings.steps
    state = State(program_of(model), weights, model.gates)
    batches = None
    if model.settings.batch_size is not None:
        batches = _Batches(children, model.samples, model.settings.batch_size)
    snapshot_steps = record.snapshot_steps(steps)
    observers: dict[str, Observer] = {
        **{name: observer_of(model, name, record) for name in record.quantities},
        **record.observers,
    }
    kept: dict[str, list[np.ndarray]] = {name: [] for name in observers}
    losses = np.empty((seeds, steps))
    threads = one_blas_thread() if model.arithmetic.on_host else nullcontext()
    # A diverging network overflows before the check below names it.
    with threads, np.errstate(over="ignore", invalid="ignore"):
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
    cuts = sorted({*range(0, steps, _BLOCK), *snapshot_steps, steps})
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
    limit = model.stable_learning_rate()
    below = f" below about 2/λmax = {limit:.2g} (λmax: the loss's curvature where data are fitted)"
    msg = (
        f"training diverged at step {first_step + step} (seed {first_seed + seed}): the loss is "
        f"not finite with learning rate {settings.learning_rate:g} and loss {settings.loss!r}. "
        f"Lower network.learning_rate{below * bool(np.isfinite(limit))}, and "
        f"network.init_std if it is large.{noisy}"
    )
    raise InputError(msg)


#: Place of a seed's stream of batches among its children; pathways count from 0 and stay far below.
_STREAM = 2**32 - 1


@final
class _Batches:
    """The batches of some seeds, one after the other.

    Args:
        children: One a seed; its batches have a stream apart from its initial weights.
        samples: P.
        size: Samples a batch, from 1 to P. The last batch of an epoch holds what is left.
    """

    def __init__(self, children: Sequence[np.random.SeedSequence], samples: int, size: int) -> None:
        streams = [
            np.random.SeedSequence(child.entropy, spawn_key=(*child.spawn_key, _STREAM))
            for child in children
        ]
        keys = [stream.generate_state(4, np.uint64) for stream in streams]
        self._generators = [np.random.default_rng(key) for key in keys]
        self._samples, self._size = samples, size
        self._order = np.empty((len(children), samples), dtype=np.intp)
        self._place = samples

    def next(self) -> np.ndarray:
        """Weight of every sample in the next step, shape (seeds, P, 1).

        Its expectation is 1 for every sample, also for a last batch that is smaller.
        """
        if self._place >= self._samples:
            for row, generator in enumerate(self._generators):
                self._order[row] = generator.permutation(self._samples)
            self._place = 0
        chosen = self._order[:, self._place : self._place + self._size]
        self._place += self._size
        weights = np.zeros(self._order.shape)
        np.put_along_axis(weights, chosen, self._samples / chosen.shape[1], axis=1)
        return weights[:, :, None]
