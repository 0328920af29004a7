"""What a sweep found: one row a combination, from the files of its tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symreln.base.records import record
from symreln.experiment.metrics import (
    Distance,
    SeedFloor,
    distance,
    mutual_distance,
    seed_floor,
)
from symreln.experiment.uninformative import too_little
from symreln.experiment.verdicts import Verdict, loss_verdict
from symreln.sweeps.tasks import Failure, Plan, result_of


@record
class SummaryRow:
    """One combination.

    Attributes:
        over: Its ``key=value`` texts.
        seeds: Networks of each kind that are compared; 0 where its theory or all of them failed.
        level: The verdict of its derivation; "" where there are no networks, like what follows.
        method: How the theory is evaluated.
        free_constants: Of the theory.
        judged: Which curve "theory" is: "closed" or "reduced".
        verdict: Of the loss; of modes and gates a sweep records nothing.
        metrics: By pair of curves; pairs that there are not are left out.
        floor: What networks of different seeds differ by; None for one seed or no network.
        failures: What could not be done.
    """

    over: tuple[str, ...]
    seeds: int = 0
    level: str = ""
    method: str = ""
    free_constants: int | None = None
    judged: str = ""
    verdict: Verdict | None = None
    metrics: Mapping[str, Distance]
    floor: SeedFloor | None = None
    failures: tuple[Failure, ...] = ()


@record
class Summary:
    """A whole sweep.

    Attributes:
        plan: What was asked for.
        rows: One a combination, in the plan's order.
    """

    plan: Plan
    rows: tuple[SummaryRow, ...]


def summarise(plan: Plan, failures: Sequence[Failure] = ()) -> Summary:
    """Compare what is in the folder; one combination's curves are in memory at a time.

    Args:
        plan: The sweep; files that are missing are left out.
        failures: Of this run.
    """
    rows = (
        _summary_row(plan, row, tuple(each for each in failures if each.task.row == row))
        for row in range(len(plan.rows))
    )
    return Summary(plan=plan, rows=tuple(rows))


def _summary_row(plan: Plan, row: int, failures: tuple[Failure, ...]) -> SummaryRow:
    theory = result_of(plan.theories[row])
    blocks = [found[1] for found in map(result_of, plan.trainings(row)) if found is not None]
    head: dict[str, Any] = {"over": plan.rows[row], "failures": failures}
    if theory is None or not blocks:
        return SummaryRow(**head, metrics={})
    values, curves = theory
    gdln, relu = (
        np.concatenate([each[name] for each in blocks]) if name in blocks[0] else None
        for name in ("gdln", "network")
    )
    assert gdln is not None  # every task trains one
    trained = {"gdln": gdln} if relu is None else {"gdln": gdln, "relu": relu}
    metrics = _metrics(curves, trained, plan.rng, values["error"])
    return SummaryRow(
        **head,
        **{key: values[key] for key in ("level", "method", "free_constants", "judged")},
        seeds=len(gdln),
        verdict=_verdict(values, trained, metrics),
        metrics=metrics,
        floor=None if relu is None else seed_floor(relu),
    )


def _verdict(
    values: Mapping[str, Any], trained: Mapping[str, np.ndarray], metrics: Mapping[str, Distance]
) -> Verdict:
    """Judge the loss as a confrontation does."""
    names = {"relu": "against the network", "gdln": "against the GDLN"}
    means = [trained[key].mean(axis=0) for key in names if key in trained]
    return loss_verdict(
        {
            name: metrics[f"theory_vs_{key}"].max_abs_over_initial
            for key, name in names.items()
            if key in trained
        },
        values["tolerance"],
        len(trained["gdln"]),
        too_little(means, values["learnable"], values["tolerance"]),
        values["error"],
    )


def _metrics(
    curves: Mapping[str, np.ndarray], trained: Mapping[str, np.ndarray], rng: int, error: float
) -> dict[str, Distance]:
    found = {
        f"{curve}_vs_{name}": distance(
            curves[curve], losses, rng, error if curve == "theory" else 0.0
        )
        for curve in ("theory", "closed", "reduced")
        if curve in curves
        for name, losses in trained.items()
    }
    if "relu" in trained:
        found["gdln_vs_relu"] = mutual_distance(trained["gdln"], trained["relu"], rng)
        if "mean_field" in curves:
            found["mean_field_vs_relu"] = distance(curves["mean_field"], trained["relu"], rng)
    return found
