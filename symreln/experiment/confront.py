"""Train the networks that a derivation speaks of and say how far the prediction is from them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from symreln.base.processors import one_blas_thread
from symreln.base.progress import phase
from symreln.claims.curves import Prediction
from symreln.claims.derivation import Derivation
from symreln.claims.integration import network_of
from symreln.claims.solve import at_values
from symreln.errors import InputError
from symreln.experiment.closed import train_aligned
from symreln.experiment.gates_held import stage_ends
from symreln.experiment.outcome import Validation
from symreln.experiment.predictions import Predictions, predict_all
from symreln.experiment.representation import RepresentationComparison
from symreln.experiment.strengths import MARKS
from symreln.experiment.training import train_pair
from symreln.experiment.units_met import met_looks
from symreln.specs.arguments import check_counts, instance_of
from symreln.train.record import Recording


@phase("validating")
@one_blas_thread()
def validate(
    derivation: Derivation,
    seeds: int = 20,
    rng: int = 0,
    *,
    diagnosis: bool = True,
    representations: bool = False,
) -> Validation:
    """Train the network and the GDLN of a derivation's spec and compare the loss curves.

    Where a gate has gains other than 0 and 1 only the GDLN is trained: no network realises them.

    Args:
        derivation: What is confronted; its spec needs a network and a value for every parameter.
        seeds: Networks to train of each kind.
        rng: Seed of the random streams; results depend on it and on nothing else.
        diagnosis: Whether to look for what fails where they disagree when that is asked for; it
            trains ten times as much.
        representations: Whether to record what hidden layers hold of the samples.

    Raises:
        InputError: No network, a parameter without a value, or training diverged.
    """
    instance_of(derivation, Derivation, "a derivation", "validate", "sr.validate(sr.derive(spec))")
    seeds, rng = check_counts(seeds, rng, "validate")
    numbers = _checked(derivation)
    predictions = predict_all(derivation)
    ends = stage_ends(numbers, predictions.judged_curves, float(numbers.spec.validation.tolerance))
    network, gdln = train_pair(
        numbers.spec,
        predictions.kappas,
        seeds,
        rng,
        marks=(*_marks(predictions.judged_curves), *(s for _, s in ends), *met_looks(numbers)),
    )
    aligned = None
    if not numbers.known.plain.holds and not numbers.by_edges:
        with phase("training from an aligned start"):
            aligned = train_aligned(numbers, predictions.chain)
    found = Validation(
        **_fields(predictions),
        network=network,
        gdln=gdln,
        aligned=aligned,
        ends=ends,
        rng=rng,
        diagnose=diagnosis,
    )
    if not representations:
        return found
    return found.having(representations=RepresentationComparison.of(found, seeds, rng))


def compare_losses(derivation: Derivation, seeds: int, rng: int) -> Validation:
    """Confront losses alone, in this process: what a sweep does for each combination."""
    numbers = _checked(derivation)
    predictions = predict_all(derivation)
    asked = {"record": Recording(), "workers": 1}
    network, gdln = train_pair(numbers.spec, predictions.kappas, seeds, rng, **asked)
    return Validation(**_fields(predictions), network=network, gdln=gdln, rng=rng)


def _fields(predictions: Predictions) -> dict[str, Any]:
    return {each.name: getattr(predictions, each.name) for each in fields(predictions)}  # pyright: ignore


def _checked(derivation: Derivation) -> Derivation:
    """Return the derivation at its parameters' values, or refuse."""
    network_of(derivation.spec)
    numbers = derivation.ask(at_values)
    if numbers.initial_loss.is_zero:
        msg = (
            "the targets are all zero, so there is nothing to learn and no loss to compare. "
            "Give targets that are not zero"
        )
        raise InputError(msg)
    return numbers


def _marks(prediction: Prediction) -> tuple[int, ...]:
    """Return the steps at which modes are predicted to reach :data:`MARKS` of their largest.

    Args:
        prediction: At every step of the network.
    """
    found = set()
    for curve in prediction.modes:
        strength = curve.of(prediction.judged)
        largest = float(np.max(strength))
        for share in MARKS if largest > 0 else ():
            found.add(int(np.argmax(strength >= share * largest)))
    return tuple(sorted(found))
