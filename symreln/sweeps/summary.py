"""What a sweep found: one row a combination, from the files of its tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.experiment.metrics import (
    Distance,
    SeedFloor,
    distance,
    mutual_distance,
    seed_floor,
)
from symreln.experiment.uninformative import too_little
from symreln.experiment.verdicts import Verdict, loss_verdict
from symreln.sweeps.files import read_result, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.sweeps.files import Result
    from symreln.sweeps.plan import Combination, Plan
    from symreln.sweeps.run import Failure


@short_repr
class SummaryRow:
    """One combination.

    Attributes:
        over: Its ``key=value`` texts.
        seeds: Networks of each kind that are compared.
        level: The verdict of its derivation; "" where its theory failed.
        method: How the theory is evaluated.
        free_constants: Of the theory.
        judged: Which curve "theory" is: "closed" or "reduced"; "" where it failed.
        verdict: Of the loss; of modes and gates a sweep records nothing. None where it failed.
        metrics: By pair of curves; pairs that there are not are left out.
        floor: What networks of different seeds differ by; None for one seed or no network.
        failures: What could not be done.
    """

    over: Combination
    seeds: int
    level: str = ""
    method: str = ""
    free_constants: int | None = None
    judged: str = ""
    verdict: Verdict | None = None
    metrics: dict[str, Distance]
    floor: SeedFloor | None = None
    failures: tuple[Failure, ...] = ()


@short_repr
class Summary:
    """A whole sweep.

    Attributes:
        plan: What was asked for.
        rows: One a combination, in the plan's order.
    """

    plan: Plan
    rows: tuple[SummaryRow, ...]


def summarise(plan: Plan, failures: Sequence[Failure] = ()) -> Summary:
    """Compare what is in the folder, and tidy up what killed writers left there.

    One combination's curves are in memory at a time.

    Args:
        plan: The sweep; files that are missing are left out.
        failures: Of this run.
    """
    tidy(plan.tasks)
    rows = tuple(
        _summary_row(plan, number, tuple(f for f in failures if f.row == number))
        for number in range(len(plan.rows))
    )
    return Summary(plan=plan, rows=rows)


def _summary_row(plan: Plan, number: int, failures: tuple[Failure, ...]) -> SummaryRow:
    over, theory = plan.rows[number].over, read_result(plan.theory(number))
    found = (read_result(plan.network(number, seed)) for seed in range(plan.seeds))
    networks = [result for result in found if result is not None]
    if theory is None or not networks:
        return SummaryRow(over=over, seeds=0, metrics={}, failures=failures)
    gdln, relu = _losses(networks, "gdln"), _losses(networks, "network")
    metrics = _metrics(theory, gdln, relu, plan.rng)
    return SummaryRow(
        over=over,
        seeds=len(networks),
        level=theory.values["level"],
        method=theory.values["method"],
        free_constants=theory.values["free_constants"],
        judged=theory.values["judged"],
        verdict=_verdict(theory, [each for each in (relu, gdln) if each is not None], metrics),
        metrics=metrics,
        floor=None if relu is None else seed_floor(relu),
        failures=failures,
    )


def _losses(networks: Sequence[Result], kind: str) -> np.ndarray | None:
    if kind not in networks[0].arrays:
        return None
    return np.stack([one.arrays[kind] for one in networks])


def _verdict(
    theory: Result, trained: Sequence[np.ndarray], metrics: dict[str, Distance]
) -> Verdict:
    """Judge the loss as a confrontation does."""
    values = theory.values
    names = {"theory_vs_relu": "against the network", "theory_vs_gdln": "against the GDLN"}
    return loss_verdict(
        {
            name: metrics[pair].max_abs_over_initial
            for pair, name in names.items()
            if pair in metrics
        },
        values["tolerance"],
        len(trained[0]),
        too_little(
            [each.mean(axis=0) for each in trained], values["learnable"], values["tolerance"]
        ),
        values["error"],
    )


def _metrics(
    theory: Result, gdln: np.ndarray | None, relu: np.ndarray | None, rng: int
) -> dict[str, Distance]:
    assert gdln is not None  # every task trains one
    trained = {"gdln": gdln} if relu is None else {"gdln": gdln, "relu": relu}
    found = {
        f"{curve}_vs_{name}": distance(
            theory.arrays[curve],
            losses,
            rng,
            theory.values["error"] if curve == "theory" else 0.0,
        )
        for curve in ("theory", "closed", "reduced")
        if curve in theory.arrays
        for name, losses in trained.items()
    }
    if relu is not None:
        found["gdln_vs_relu"] = mutual_distance(gdln, relu, rng)
        if "mean_field" in theory.arrays:
            found["mean_field_vs_relu"] = distance(theory.arrays["mean_field"], relu, rng)
    return found
