"""How much memory a training will take, and how many seeds to train in one chunk."""

from __future__ import annotations

from symreln.errors import LimitReachedError
from symreln.train.model import AbstractModel
from symreln.train.network import PROCESS_BYTES, MemoryEstimate
from symreln.train.record import Recording

DEFAULT_MEMORY_LIMIT = 1 << 30  # the validator's promise is to stay under a gigabyte
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
        LimitReachedError: Results and one seed in training are larger than ``memory_limit``.
    """
    # Twice: the chunks' results are there until they have been put together.
    results = 2 * seeds * _result_bytes(model, steps, record or Recording())
    free = memory_limit - results
    fitting = free // model.working_bytes
    if fitting < 1:
        msg = (
            f"training of {seeds} seeds for {steps} steps: {results / 2**20:.0f} MiB of results "
            f"and {model.working_bytes / 2**20:.1f} MiB for one network, the limit is "
            f"{memory_limit / 2**20:.0f} MiB. Train fewer seeds or steps, record fewer snapshots, "
            "or raise memory_limit."
        )
        raise LimitReachedError(msg)
    workers = max(1, min(workers, seeds, free // (PROCESS_BYTES + model.working_bytes)))
    if workers > 1:
        fitting = (free - workers * PROCESS_BYTES) // model.working_bytes
    chunk = min(-(-seeds // workers), fitting // workers)
    if model.arithmetic.on_host:
        chunk = min(chunk, max(1, CACHE_BYTES // model.working_bytes))
    return MemoryEstimate(
        results=results, working=model.working_bytes, seeds_per_chunk=chunk, workers=workers
    )


def _result_bytes(model: AbstractModel, steps: int, record: Recording) -> int:
    """Bytes that one seed leaves behind."""
    n_x, n_y, samples = model.data_shape
    sizes = {
        "activity": lambda: model.hidden_units * samples,  # one byte a truth value
        "contribution": lambda: 8 * model.hidden_units,
        "maps": lambda: 8 * model.map_count * n_x * n_y,
        "gate_maps": lambda: 8 * len(record.gates) * n_x * n_y,
        "outputs": lambda: 8 * n_y * samples,
        "similarity": lambda: 8 * model.hidden_layers * samples**2,
    }
    # Called only where they are asked for: a graph's maps are counted by finding its pathways.
    snapshot = sum(sizes[quantity]() for quantity in record.quantities)
    return 8 * (steps + model.weight_count) + len(record.snapshot_steps(steps)) * snapshot
