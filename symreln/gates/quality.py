"""How well gates imitate a ReLU network: replay errors by number of pathways and windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from symreln.errors import InputError
from symreln.gates.activity import TrainedGates
from symreln.gates.clustering import squared_distances
from symreln.gates.replay import GateSchedule
from symreln.gates.windows import (
    own_schedule,
    schedule_errors,
    unit_means,
    unit_rows,
    window_schedule,
    windowed_gates,
)
from symreln.spec.model import Spec


@dataclass(frozen=True, kw_only=True)
class QualityPoint:
    """Replay error of one number of pathways and windows.

    Attributes:
        clusters: K, gates of each window; None where every unit has its own.
        windows: W.
        errors: max |ΔL|/L(0) of each network that was replayed.
    """

    clusters: int | None
    windows: int
    errors: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over networks."""
        return float(np.mean(self.errors))


def quality_curve(
    clustered: TrainedGates,
    held: TrainedGates,
    clusters: Sequence[int],
    windows: Sequence[int],
    *,
    rng: int = 0,
) -> list[QualityPoint]:
    """Replay K gates in each of W windows, for all K and W that there are.

    Args:
        clustered: Networks whose units are clustered.
        held: Other networks, sampled at the same steps, whose units take the gates.
        clusters: Numbers of gates, K.
        windows: Numbers of windows, W. Where the units of a window are fewer than K different
            ones, windows are joined, and the point has the number that is left.
        rng: Seed of K-means.
    """
    looks = len(clustered.steps)
    most = len(unit_rows(clustered, 0, looks).values)
    points: dict[tuple[int, int], QualityPoint] = {}
    for count in (k for k in clusters if k <= most):
        for pieces in (w for w in windows if w <= looks):
            made = windowed_gates(clustered, windows=pieces, clusters=count, rng=rng)
            key = count, len(made.looks)
            if key not in points:
                errors = schedule_errors(held, window_schedule(held, made))
                points[key] = _point(count, len(made.looks), errors)
    return list(points.values())


def own_curve(held: TrainedGates, windows: Sequence[int]) -> list[QualityPoint]:
    """Replay every unit's own gates, constant in each of W windows: K as large as it can be."""
    points: dict[int, QualityPoint] = {}
    for pieces in (w for w in windows if w <= len(held.steps)):
        schedule = own_schedule(held, pieces)
        count = len(schedule.starts)
        if count not in points:
            points[count] = _point(None, count, schedule_errors(held, schedule))
    return list(points.values())


def _point(clusters: int | None, windows: int, errors: np.ndarray) -> QualityPoint:
    return QualityPoint(clusters=clusters, windows=windows, errors=tuple(map(float, errors)))


def spec_schedule(spec: Spec, trained: TrainedGates) -> GateSchedule:
    """Give every unit the gate of a spec's pathways that is nearest to its own in each phase.

    A unit that is open nowhere in a phase, or nearer to a gate that is closed on all samples than
    to any of these, is closed.

    Args:
        spec: With gates of 0 and 1 that may switch.
        trained: The networks.

    Raises:
        InputError: A gate has gains, or switches after the training.
    """
    gained = [pathway.name for pathway in spec.pathways if pathway.has_gains]
    if gained:
        msg = (
            f"replay: pathway {gained[0]!r} has gains, which no ReLU unit has. Give gates of 0 "
            "and 1"
        )
        raise InputError(msg)
    starts = (0, *spec.switches)
    steps, gates = np.array(trained.steps), []
    for start, end in zip(starts, (*starts[1:], trained.settings.steps), strict=True):
        first = min(int(np.searchsorted(steps, start)), len(steps) - 1)
        last = max(int(np.searchsorted(steps, end)), first + 1)
        means, _ = unit_means(trained, first, last)
        table = np.array([pathway.gate for pathway in spec.during(start).pathways], dtype=float)
        table = np.concatenate([table, np.zeros((1, table.shape[1]))])
        apart = squared_distances(means.reshape(-1, means.shape[-1]), table)
        chosen = table[apart.argmin(axis=1)].reshape(means.shape) > 0
        gates.append(chosen & means.any(axis=-1, keepdims=True))
    return GateSchedule(starts=starts, gates=np.array(gates))
