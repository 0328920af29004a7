"""How much memory a training will take, and how many seeds to train in one chunk."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from symreln.errors import LimitReachedError
from symreln.train.model import Model
from symreln.train.record import Recording, snapshot_bytes
from symreln.train.steps import program_of

# Half of the level-2 cache of a present server core: a chunk that stays in it trains faster than
# a larger one (benchmarks/train.py measures it); a smaller one pays more Python a step.
CACHE_BYTES = 1 << 20
PROCESS_BYTES = 40 << 20  # a worker with numpy loaded, measured as its resident set


@dataclass(frozen=True, kw_only=True)
class MemoryEstimate:
    """Predicted memory of one training.

    Not in it: this process before the training began, and what the caller's own observers return.

    Attributes:
        results: Bytes of losses, snapshots and final weights of all seeds.
        working: Bytes of one seed while it trains, besides its results: initial weights, weights,
            gradients, activations, and its snapshots once more, until they are one array.
        seeds: Seeds in all.
        seeds_per_chunk: Seeds trained in one batch.
        workers: Processes, a chunk each; 1 is the caller's own.
    """

    results: int
    working: int
    seeds: int
    seeds_per_chunk: int
    workers: int

    @property
    def total(self) -> int:
        """Bytes in all, at the worst moment."""
        chunk = self.seeds_per_chunk * self.working
        gathered = 2 * self.results  # chunks' results are there until they have been put together
        if self.workers == 1:
            return max(gathered, self.results + chunk)
        # On its way a chunk's result is there twice, at each of the two ends.
        sent = 2 * self.seeds_per_chunk * self.results // self.seeds
        here = max(gathered, self.results + self.workers * sent)
        return here + self.workers * (PROCESS_BYTES + chunk + sent)

    def __str__(self) -> str:
        where = "" if self.workers == 1 else f", in {self.workers} processes"
        size, own = self.total / 2**20, self.results / 2**20
        return f"{size:.0f} MiB, {own:.0f} MiB of them results{where}"


def working_bytes(model: Model) -> int:
    """Memory that one seed takes while it trains: weights, gradients, activations, batches."""
    order = 0 if model.settings.batch_size is None else model.samples
    return model.arithmetic.item_bytes * (program_of(model).numbers + order)


def estimate_memory(
    model: Model,
    *,
    seeds: int,
    record: Recording,
    memory_limit: int,
    workers: int = 1,
) -> MemoryEstimate:
    """Memory of a training, chunked to a limit.

    Args:
        model: Network and data.
        seeds: Seeds in all.
        record: What is kept.
        memory_limit: Bytes.
        workers: Processes that may be used.

    Raises:
        LimitReachedError: It cannot be kept to, not even with one seed at a time.
    """
    steps, weights = model.settings.steps, model.network.weight_count
    kept = len(record.snapshot_steps(steps)) * snapshot_bytes(model, record)
    own = 8 * steps + model.arithmetic.item_bytes * weights + kept
    here = working_bytes(model)
    # Initial weights are drawn in double precision and stay while their chunk trains.
    working = here + 8 * weights + kept
    most = -(-seeds // workers) if workers > 1 else seeds
    if model.arithmetic.on_host:
        most = min(most, max(1, CACHE_BYTES // here))

    def plan(processes: int, chunk: int) -> MemoryEstimate:
        return MemoryEstimate(
            results=seeds * own,
            working=working,
            seeds=seeds,
            seeds_per_chunk=chunk,
            workers=processes,
        )

    for processes in range(max(1, min(workers, seeds)), 0, -1):
        fitting = _largest(lambda chunk, p=processes: plan(p, chunk).total <= memory_limit, most)
        if fitting:
            return plan(processes, fitting)
    msg = (
        f"training of {seeds} seeds for {steps} steps: {seeds * own / 2**20:.0f} MiB of results, "
        f"twice while they are put together, and {working / 2**20:.1f} MiB for one network, the "
        f"limit is {memory_limit / 2**20:.0f} MiB. Train fewer seeds or steps, record fewer "
        "snapshots, or raise memory_limit."
    )
    raise LimitReachedError(msg)


def _largest(fits: Callable[[int], bool], most: int) -> int:
    """The largest number from 1 to ``most`` that fits, or 0; a smaller number fits more easily."""
    return bisect_left(range(1, most + 1), True, key=lambda number: not fits(number))
