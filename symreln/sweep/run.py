"""A sweep from its plan to its files: what is missing is found, done, and looked for again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symreln.claims.integration import network_of
from symreln.errors import InputError
from symreln.experiment.intervals import CHUNK_BYTES
from symreln.experiment.switching import gated_phases
from symreln.experiment.trained import gated_settings, training_settings
from symreln.sweep.board import Board, Failure
from symreln.train.memory import CACHE_BYTES, working_bytes
from symreln.train.trainers import network_model, pathway_model

if TYPE_CHECKING:
    from symreln.spec.model import Spec
    from symreln.sweep.plan import Plan

#: Seeds that are trained together at most: all of them are repeated where their worker is killed.
MOST_TOGETHER = 16
#: How often files are looked for again that were damaged or removed while the sweep ran.
ROUNDS = 3
#: A worker with the exact core loaded and a small derivation done, measured as its resident set.
WORKER_BYTES = 180 << 20
Progress = Callable[[int, int], None]
Seeds = dict[int, tuple[int, ...]]
"""Seeds by number of the combination."""


@dataclass(frozen=True, kw_only=True)
class Shard:
    """Part ``index`` of ``parts``, counted from 1.

    Attributes:
        index: Which.
        parts: Of how many.
    """

    index: int
    parts: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """Return the shard that ``i/N`` says.

        Raises:
            InputError: It says none.
        """
        first, slash, last = text.partition("/")
        digits = slash and all(part.isascii() and part.isdigit() for part in (first, last))
        if not digits or not 1 <= int(first) <= int(last):
            msg = f"--shard {text[:40]}: expected i/N with 1 ≤ i ≤ N, such as 1/8"
            raise InputError(msg)
        return cls(index=int(first), parts=int(last))

    def seeds(self, plan: Plan) -> Seeds:
        """Return this part's share of the networks, neighbours together: they share a theory."""
        total = len(plan.rows) * plan.seeds
        share = range((self.index - 1) * total // self.parts, self.index * total // self.parts)
        found: dict[int, list[int]] = {}
        for number in share:
            row, seed = divmod(number, plan.seeds)
            found.setdefault(row, []).append(seed)
        return {row: tuple(seeds) for row, seeds in found.items()}


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a run will do and take.

    Attributes:
        theories: Combinations whose theory is missing.
        networks: Networks, of each kind, that are missing.
        there: Tasks whose files are there.
        worker: Bytes of a worker.
        summary: Bytes of the process that compares.
        files: Bytes of all result files of the sweep.
    """

    theories: int
    networks: int
    there: int
    worker: int
    summary: int
    files: int

    def sentence(self, workers: int) -> str:
        """Say it before the run."""
        worker, summary, files = (
            -(-size // (1 << 20)) for size in (self.worker, self.summary, self.files)
        )
        return (
            f"{self.theories + self.networks} tasks to do ({self.theories} of theory, "
            f"{self.networks} of training), {self.there} done before; memory about "
            f"{workers} × {worker} MiB, {summary} MiB for the summary; files {files} MiB"
        )


def missing(plan: Plan, wanted: Seeds) -> Seeds:
    """Return the seeds that have no whole file; damaged ones are removed."""
    found = {}
    for row, seeds in wanted.items():
        names = plan.rows[row].networks
        left = tuple(seed for seed in seeds if plan.results.read(names[seed]) is None)
        if left or plan.results.read(plan.rows[row].theory) is None:
            found[row] = left
    return found


def estimate(plan: Plan, wanted: Seeds, left: Seeds) -> Estimate:
    """Say what a run will do and take."""
    theories = sum(plan.results.read(plan.rows[row].theory) is None for row in left)
    networks = sum(map(len, left.values()))
    every = sum(map(len, wanted.values())) + len(wanted)
    curves = [8 * _steps(row.spec) for row in plan.rows]
    largest = max(
        _working_bytes(row.spec) * _together(row.spec, plan.seeds) + 4 * MOST_TOGETHER * curve
        for row, curve in zip(plan.rows, curves, strict=True)
    )
    return Estimate(
        theories=theories,
        networks=networks,
        there=every - theories - networks,
        worker=WORKER_BYTES + largest,
        # Files, curves of both kinds put together, and chunks of resampled ones with differences.
        summary=WORKER_BYTES + 4 * (plan.seeds + 1) * max(curves) + 6 * CHUNK_BYTES,
        files=sum(2 * (plan.seeds + 1) * curve for curve in curves),
    )


def sweep(
    plan: Plan,
    wanted: Seeds,
    left: Seeds,
    work: Callable[[Board], None],
    workers: int,
    progress: Progress | None = None,
) -> list[Failure]:
    """Do what is missing.

    Args:
        plan: The sweep, settled in its folder.
        wanted: What this run is to do.
        left: What of that is missing, :func:`missing`.
        work: Does all jobs of a board.
        workers: How many will, so that each gets its share.
        progress: Called with (tasks done, tasks in all).

    Returns:
        What could not be done.
    """
    failures: list[Failure] = []
    for _ in range(ROUNDS):
        sizes = [
            _together(row.spec, len(left.get(number, ())), workers)
            for number, row in enumerate(plan.rows)
        ]
        board = Board(plan, left, sizes, progress)
        work(board)
        failures += board.failures
        left = _without(missing(plan, wanted), failures)
        if not left:
            break
    return failures


def _without(left: Seeds, failures: list[Failure]) -> Seeds:
    theories = {failure.row for failure in failures if failure.seed is None}
    failed = {(failure.row, failure.seed) for failure in failures}
    return {
        row: kept
        for row, seeds in left.items()
        if row not in theories
        for kept in [tuple(seed for seed in seeds if (row, seed) not in failed)]
        if kept or not seeds  # of the latter the theory is missing
    }


def _together(spec: Spec, seeds: int, workers: int = 1) -> int:
    """Return how many seeds are trained in one batch: what stays in a processor's cache."""
    share = -(-seeds // workers) or 1
    return max(1, min(CACHE_BYTES // _working_bytes(spec), share, MOST_TOGETHER))


def _steps(spec: Spec) -> int:
    assert spec.network is not None  # the plan has seen to it
    return spec.network.steps


def _working_bytes(spec: Spec) -> int:
    """Return the bytes of one seed in training, of the kind that takes more."""
    numbers = spec.at_values()
    settings = training_settings(numbers)
    data = numbers.dataset.inputs.to_numpy(), numbers.dataset.targets.to_numpy()
    gated, asked = gated_phases(numbers)[0][1], gated_settings(numbers, settings)
    training = network_of(numbers).training
    models = (
        network_model(*data, settings),
        pathway_model(*data, gated, asked, training=training),
    )
    return max(working_bytes(model) for model in models)
