r"""The law of gates beside trained networks: shares of the first stage's gates, and the loss.

Shares are of the weight Σ ‖w‖‖b‖ of a network's units, at every step that was recorded: of those
whose gate at that step is one of the first stage's pathways'. The first order is
:mod:`symreln.claims.gate_law`; the second one follows isolated units in the residual of the first
stage's theory (:mod:`symreln.laws.mean_field`), and the loss of a network with their gates says
what gates by the law do to the predicted loss. Pathways of later stages are not in it: which units
they get is what the law says, and no share of units is assumed for them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.records import record
from symreln.claims.gate_law import gate_law_of, telling_samples
from symreln.claims.head_start import are_followed, mode_laws
from symreln.claims.integration import gate_floats, network_of
from symreln.claims.prediction import (
    closed_curves,
    first_starts,
    matrices_of,
    written_and_read,
)
from symreln.claims.solve import derive_unchecked
from symreln.claims.starts import mode_kappas, start_factors
from symreln.experiment.metrics import Distance, compare
from symreln.experiment.wide_network import SEED, descent_of
from symreln.laws.mean_field import gate_orders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from symreln.claims.derivation import Derivation
    from symreln.train.run import TrainingRun

#: Multiplications above which the second order takes minutes.
USUAL_COST = 2e11
#: Orders beyond the first that a confrontation follows.
ORDERS = 2


@record(eq=False)
class GateLawMeasured:
    """The law of gates beside trained networks.

    Attributes:
        steps: The K recorded steps, from where units have turned to their gates on.
        predicted: Share of the weight with the first stage's gates at these, by order, from the
            first on, shape (orders, K).
        measured: Of every network, shape (seeds, K).
        losses: Of networks with gates by the law, from the second order on, shape (orders, steps).
        distances: Their distances to the trained networks, by order.
        why_not: Why there is no second order, or "".
    """

    steps: np.ndarray
    predicted: np.ndarray
    measured: np.ndarray
    losses: np.ndarray
    distances: tuple[Distance[Any], ...]
    why_not: str = ""

    @property
    def mean(self) -> np.ndarray:
        """Mean share over networks, shape (K,)."""
        return self.measured.mean(axis=0)

    @property
    def share_distances(self) -> list[float]:
        """The largest distance of each order's share to the mean of all networks."""
        return np.abs(self.predicted - self.mean).max(axis=1).tolist()


def measured_gate_law(
    numbers: Derivation,
    network: TrainingRun | None,
    kappas: Mapping[str, float],
    orders: int = ORDERS,
    most: float = USUAL_COST,
) -> GateLawMeasured | None:
    """Compare the law of gates with networks; None where there is no law or no gates.

    Args:
        numbers: Without free parameters.
        network: Trained ReLU networks, with their gates.
        kappas: κ of pathways by name, which closed forms start from.
        orders: How many orders beyond the first.
        most: Multiplications above which they are not followed.
    """
    law = numbers.ask(gate_law_of)
    if network is None or "activity" not in network.snapshots or law is None or not law.found:
        return None
    recorded = np.array(network.snapshot_steps)
    places = np.flatnonzero(recorded >= law.begins)
    steps = recorded[places]
    if not len(steps):
        return None
    pathways = [p for each in law.found for p in numbers.pathways if p.name in each.pathways]
    gates = [
        (gate_floats(pathway.effective.pathway) > 0, telling_samples(numbers, pathway))
        for pathway in pathways
    ]
    measured = np.array(
        [
            [_share(activity[place] > 0, weight[place], gates) for place in places]
            for activity, weight in zip(
                network.snapshots["activity"], network.snapshots["contribution"], strict=True
            )
        ]
    )
    predicted = [law.share(steps)]
    why = _why_no_orders(numbers.ask(_first_stage), most)
    losses = np.empty((0, network.losses.shape[1]))
    if not why:
        inputs, targets = numbers.spec.dataset.arrays
        losses, looks, watched = gate_orders(
            inputs,
            targets,
            descent_of(numbers.spec),
            _residuals(numbers.ask(_first_stage), kappas),
            lambda first, weight: _share(first @ inputs > 0, weight, gates),
            SEED,
            orders,
        )
        predicted += [np.interp(steps, looks, each) for each in watched]
    return GateLawMeasured(
        steps=steps,
        predicted=np.array(predicted),
        measured=measured,
        losses=losses,
        distances=tuple(compare(loss, network.mean_loss) for loss in losses),
        why_not=why,
    )


def _first_stage(numbers: Derivation) -> Derivation:
    """Return the derivation of the first stage's pathways alone."""
    if len(numbers.stages) == 1:
        return numbers
    names = {pathway.name for pathway in numbers.stages[0].pathways}
    own = tuple(pathway for pathway in numbers.spec.pathways if pathway.name in names)
    return derive_unchecked(replace(numbers.spec, pathways=own))


def _residuals(numbers: Derivation, kappas: Mapping[str, float]) -> Iterator[np.ndarray]:
    """Yield what the theory leaves of the targets at every step of the network.

    Closed forms where all modes have them, the integrated matrices else.
    """
    factors = start_factors(numbers, mode_kappas(numbers, kappas))
    steps = network_of(numbers.spec).steps
    grid = np.arange(steps, dtype=float)
    curves = closed_curves(numbers, grid, factors=factors) if numbers.closed else {}
    if not are_followed(numbers, curves):
        starts = first_starts(numbers, factors)
        yield from numbers.ask(matrices_of).residuals(steps, starts)
        return
    targets = numbers.spec.dataset.targets.to_numpy()
    if not curves:  # nothing is learned
        yield from repeat(targets, steps)
        return
    u, read, strengths = written_and_read(numbers, curves)
    for step in range(steps):
        yield targets - (u * strengths[:, step]) @ read


def _why_no_orders(numbers: Derivation, most: float) -> str:
    data, network = numbers.spec.dataset, network_of(numbers.spec)
    step = 2000 * data.samples * (4 * data.n_x + 6 * min(data.n_y, data.samples))
    if not numbers.closed or not are_followed(numbers, numbers.ask(mode_laws)):
        step += numbers.ask(matrices_of).multiplications
    if network.steps * step > most:
        return "following isolated units takes minutes on these data"
    return ""


def _share(
    active: np.ndarray, weight: np.ndarray, gates: Sequence[tuple[np.ndarray, np.ndarray]]
) -> float:
    """Return the share of weight whose gates, shape (units, P), are given ones where they tell."""
    held = np.any([~((active != opens) & tells).any(axis=1) for opens, tells in gates], axis=0)
    total = weight.sum()
    return float(np.bincount(held, weight, 2)[1] / (total if total > 0 else 1.0))
