"""Which tasks of a sweep are open, under way, done and failed; no process and no network here."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from symreln.sweep.plan import Plan
from symreln.sweep.tasks import Request, theory_request, training_request

#: How often a task may end the worker that does it.
MOST_DEATHS = 3


@dataclass(frozen=True, kw_only=True)
class Job:
    """Tasks that are done together.

    Attributes:
        row: Number of the combination.
        first: First seed, or -1 for the theory.
        count: Seeds.
        deaths: Workers that died of it.
    """

    row: int
    first: int = -1
    count: int = 1
    deaths: int = 0

    @property
    def is_theory(self) -> bool:
        """Whether it is a combination's theory, else networks."""
        return self.first < 0


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A task that could not be done.

    Attributes:
        row: Number of the combination.
        seed: Number of the network, or None for the theory.
        message: Why.
        exit_code: What the program ends with for it.
    """

    row: int
    seed: int | None
    message: str
    exit_code: int


class Board:
    """Hands out jobs, from any thread, and hears how they ended.

    Args:
        plan: The sweep.
        wanted: Seeds to train, by number of the combination.
        sizes: Seeds that are best trained together, a combination.
        progress: Called with (tasks done, tasks in all).
    """

    def __init__(
        self,
        plan: Plan,
        wanted: Mapping[int, Sequence[int]],
        sizes: Sequence[int],
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self.plan, self.failures = plan, list[Failure]()
        self._progress = progress or (lambda done, total: None)
        self._changed = threading.Condition()
        self._open, self._waiting = deque[Job](), dict[int, list[Job]]()
        self._under_way, self._done, self._stopped = 0, 0, False
        self._kappas: dict[int, dict[str, float]] = {}
        trainings = []
        for row, seeds in wanted.items():
            jobs = [
                Job(row=row, first=first, count=count) for first, count in runs(seeds, sizes[row])
            ]
            if self._know_theory(row):
                trainings += jobs
            else:
                self._waiting[row] = jobs
                self._open.append(Job(row=row))
        self._open.extend(trainings)  # theories first: others wait for them
        self._total = len(self._waiting) + sum(map(len, wanted.values()))

    @property
    def total(self) -> int:
        """Tasks, those done among them."""
        return self._total

    @property
    def done(self) -> int:
        """Tasks that are done."""
        return self._done

    @property
    def over(self) -> bool:
        """Whether there is nothing to do and nothing under way any more."""
        with self._changed:
            return self._stopped or not (self._open or self._under_way)

    def next(self, *, wait: bool = True) -> tuple[Job, Request] | None:
        """Return a job and its request; None where there is none.

        Args:
            wait: Whether to wait while jobs under way may open others.
        """
        with self._changed:
            while not self._stopped:
                if self._open:
                    job = self._open.popleft()
                    if self._is_there(job):
                        self._finished(job)
                        continue
                    self._under_way += 1
                    return job, self._request(job)
                if not (wait and self._under_way):
                    break
                self._changed.wait()
            return None

    def stop(self) -> None:
        """Hand out nothing more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def finish(self, job: Job) -> None:
        """Hear that a job's files are there."""
        with self._changed:
            self._under_way -= 1
            self._finished(job)

    def fail(self, job: Job, message: str, exit_code: int) -> None:
        """Hear that a job could not be done; of several seeds, each gets its own chance."""
        with self._changed:
            self._under_way -= 1
            self._failed(job, message, exit_code)

    def die(self, job: Job) -> None:
        """Hear that a worker died of a job, or of something else while it did it."""
        with self._changed:
            self._under_way -= 1
            deaths = job.deaths + 1
            if deaths >= MOST_DEATHS:
                message = f"the process that did it died, {deaths} times one after the other"
                self._failed(job, message, 1)
            else:
                self._again(job, deaths)

    def _request(self, job: Job) -> Request:
        row = self.plan.rows[job.row]
        if job.is_theory:
            return theory_request(self.plan, row)
        kappas = self._kappas[job.row]
        return training_request(self.plan, row, kappas, job.first, job.count)

    def _is_there(self, job: Job) -> bool:
        """Whether another run on the same folder has done it meanwhile."""
        if job.is_theory:
            return self._know_theory(job.row)
        names = self.plan.rows[job.row].networks[job.first : job.first + job.count]
        return all(map(self.plan.results.has, names))

    def _know_theory(self, row: int) -> bool:
        """Look for a combination's theory, of which the trainings need the κ."""
        found = self.plan.results.read(self.plan.rows[row].theory)
        if found is not None:
            self._kappas[row] = dict(found.values["kappas"])
        return found is not None

    def _finished(self, job: Job) -> None:
        self._done += job.count
        if job.is_theory:
            if self._know_theory(job.row):
                self._open.extend(self._waiting.pop(job.row))
            else:
                self._failed(job, "its file was removed or damaged at once", 2)
        self._progress(self._done, self._total)
        self._changed.notify_all()

    def _failed(self, job: Job, message: str, exit_code: int) -> None:
        if job.count > 1:
            self._again(job, job.deaths)
            return
        seed = None if job.is_theory else job.first
        self.failures.append(Failure(row=job.row, seed=seed, message=message, exit_code=exit_code))
        if job.is_theory:
            del self._waiting[job.row]
        self._changed.notify_all()

    def _again(self, job: Job, deaths: int) -> None:
        """Open a job once more, seed by seed: one of them may be what is wrong."""
        seeds = range(job.first, job.first + job.count)
        self._open.extend(Job(row=job.row, first=seed, deaths=deaths) for seed in seeds)
        self._changed.notify_all()


def runs(seeds: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Return (first, count) of runs of consecutive seeds, each of at most ``size``.

    Example:
        >>> runs([0, 1, 2, 5, 6], 2)
        [(0, 2), (2, 1), (5, 2)]
    """
    found: list[tuple[int, int]] = []
    for seed in seeds:
        if found and sum(found[-1]) == seed and found[-1][1] < size:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((seed, 1))
    return found
