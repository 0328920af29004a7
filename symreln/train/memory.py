"""How much memory a training will take, and how many seeds to train in one chunk."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from symreln.errors import LimitReachedError
from symreln.train.machine import DEFAULT_MEMORY_LIMIT
from symreln.train.model import AbstractModel
from symreln.train.network import MemoryEstimate
from symreln.train.record import Recording

# Half of the level-2 cache of a present server core: a chunk that stays in it trains faster than
# a larger one (benchmarks/train.py measures it); a smaller one pays more Python a step.
CACHE_BYTES = 1 << 20


def estimate_memory(
    model: AbstractModel,
    *,
    steps: int,
    seeds: int,
    record: Recording | None = None,
    workers: int = 1,
    memory_limit: int = DEFAULT_MEMORY_LIMIT,
) -> MemoryEstimate:
    """Memory of a training, chunked to a limit.

    Args:
        model: Network and data.
        steps: Recorded steps.
        seeds: Seeds in all.
        record: What is kept.
        workers: Processes that may be used.
        memory_limit: Bytes.

    Raises:
        LimitReachedError: It cannot be kept to, not even with one seed at a time.
    """
    record = record or Recording()
    kept = len(record.snapshot_steps(steps)) * _snapshot_bytes(model, record)
    weights = model.arithmetic.item_bytes * model.weight_count
    own = 8 * steps + weights + kept
    # Initial weights are drawn in double precision and stay while their chunk trains.
    working = model.working_bytes + 8 * model.weight_count + kept
    most = -(-seeds // workers) if workers > 1 else seeds
    if model.arithmetic.on_host:
        most = min(most, max(1, CACHE_BYTES // model.working_bytes))

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


def _snapshot_bytes(model: AbstractModel, record: Recording) -> int:
    """Bytes of what one seed leaves behind at one snapshot."""
    n_x, n_y, samples = model.data_shape
    sizes = {
        "activity": lambda: model.hidden_units * samples,  # one byte a truth value
        "boundary": lambda: model.hidden_units * samples,
        "contribution": lambda: 8 * model.hidden_units,
        "maps": lambda: 8 * model.map_count * n_x * n_y,
        "gate_maps": lambda: 8 * len(record.gates) * n_x * n_y,
        "outputs": lambda: 8 * n_y * samples,
        "similarity": lambda: 8 * model.hidden_layers * samples**2,
    }
    # Called only where they are asked for: a graph's maps are counted by finding its pathways.
    return sum(sizes[quantity]() for quantity in record.quantities)
