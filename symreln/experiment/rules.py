"""Mini-batches beside full-batch gradient descent, which the theory is of.

All networks of a comparison start from the same weights as those of
:func:`symreln.experiment.confront.validate` with the same seed, so that what differs is the rule
alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.claims.integration import check_two_layers, network_of
from symreln.claims.prediction import predict_training
from symreln.claims.solve import at_values
from symreln.claims.starts import starts_of
from symreln.claims.widths import own_curves
from symreln.errors import InputError, NotSupportedError
from symreln.experiment.metrics import CurveComparison, compare
from symreln.experiment.training import (
    SAME,
    ProgressCallback,
    Variation,
    kinds,
    shared_progress,
    train,
)
from symreln.specs.arguments import check_counts

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.train.run import TrainingRun


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class VariedTraining:
    """Training by batches of one size.

    Attributes:
        subject: "relu" for the network (also a linear one), "gdln".
        batch_size: Samples a batch, without replacement in every epoch; all of them is full-batch
            gradient descent.
        mean_loss: Mean over seeds, shape (steps,); None where a training diverged.
        theory: Distance of the integrated reduction, which knows of no batches, to that mean.
        shift: max |ΔL|/L(0) between that mean and the spec's own training, from the same initial
            weights.
        noise: Largest standard deviation over seeds of the difference to that training, over L(0):
            what the draw of the batches alone does.
        band: Largest width of the 5 % to 95 % band over seeds, over L(0).
        diverged: What training said, or "".
    """

    subject: str
    batch_size: int
    mean_loss: np.ndarray | None = None
    theory: CurveComparison | None = None
    shift: float | None = None
    noise: float | None = None
    band: float | None = None
    diverged: str = ""


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class RuleComparison:
    """What mini-batches change.

    Attributes:
        batches: By subject and falling batch size, full batch first.
        seeds: Networks of each kind and rule.
        rng: Seed of the random streams.
        samples: P.
        learning_rate: η.
    """

    batches: tuple[VariedTraining, ...]
    seeds: int
    rng: int
    samples: int
    learning_rate: float


def check_rules(derivation: Derivation) -> None:
    """Refuse derivations whose learning rules are not compared.

    Raises:
        NotSupportedError: Gates switch, or a pathway has fewer hidden units than modes.
    """
    check_two_layers(network_of(derivation.spec), "--rules: the comparison of learning rules")
    own = own_curves(derivation)
    if not own.holds:
        msg = f"--rules: {own.why}. Leave --rules out, or change the spec"
        raise NotSupportedError(msg)


def compare_rules(
    derivation: Derivation,
    seeds: int = 4,
    rng: int = 0,
    progress: ProgressCallback | None = None,
) -> RuleComparison:
    """Train by other rules and compare.

    Args:
        derivation: What is confronted; its spec needs a network and a value for every parameter.
        seeds: Networks of each kind and rule.
        rng: Seed of the random streams.
        progress: Called with (done, total) in seed-steps.

    Raises:
        InputError: No network, a parameter without a value, or full-batch training diverged.
        NotSupportedError: A network that is not compared: other than two layers, a weight decay of
            its own, gates that switch, or pathways with fewer hidden units than modes.
    """
    seeds, rng = check_counts(seeds, rng, "compare_rules")
    numbers = derivation.ask(at_values)
    check_rules(numbers)
    samples = numbers.spec.dataset.samples
    subjects = kinds(numbers.spec)
    sizes = sorted({-(-samples // 2), -(-samples // 4), 1} - {samples}, reverse=True)
    kappas = numbers.ask(starts_of).kappas
    report, places = shared_progress(progress, len(subjects) * (len(sizes) + 1)), count()
    prediction = predict_training(numbers).reduced
    batches = []

    def trained(subject: str, by: Variation) -> TrainingRun:
        part = report(next(places))
        return train(subject, numbers.spec, kappas, seeds, rng, by, progress=part)

    for subject in subjects:
        full = trained(subject, SAME)
        batches.append(_compared(subject, samples, full, full, prediction))
        for size in sizes:
            try:
                run = trained(subject, Variation(batch_size=size))
            except InputError as error:  # settings and data are those of the spec: it diverged
                varied = VariedTraining(subject=subject, batch_size=size, diverged=str(error))
            else:
                varied = _compared(subject, size, run, full, prediction)
            batches.append(varied)
    return RuleComparison(
        batches=tuple(batches),
        seeds=seeds,
        rng=rng,
        samples=samples,
        learning_rate=float(network_of(numbers.spec).learning_rate),
    )


def _compared(
    subject: str, size: int, run: TrainingRun, full: TrainingRun, prediction: np.ndarray
) -> VariedTraining:
    """Compare a training with the spec's own, ``full``, and with the prediction."""
    initial, noise, band = full.mean_loss[0], None, None
    if run.seeds > 1:
        low, high = np.quantile(run.losses, (0.05, 0.95), axis=0)
        noise = float((run.losses - full.losses).std(axis=0, ddof=1).max() / initial)
        band = float((high - low).max() / initial)
    return VariedTraining(
        subject=subject,
        batch_size=size,
        mean_loss=run.mean_loss,
        theory=compare(prediction, run.mean_loss),
        shift=compare(run.mean_loss, full.mean_loss).max_abs_over_initial,
        noise=noise,
        band=band,
    )
