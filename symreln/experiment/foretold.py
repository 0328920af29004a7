"""All that is predicted of the networks of a spec before any of them is trained."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from symreln.base.progress import phase
from symreln.base.summaries import short_repr
from symreln.claims.constants import chain_constants, training_constants
from symreln.claims.early import early_strengths, mode_kappas, pathway_kappas
from symreln.claims.mean_field import run_mean_field, why_no_mean_field
from symreln.claims.prediction import predict_training
from symreln.claims.widths import narrow_pathways
from symreln.experiment.band import PredictedBand, predicted_band, why_no_band
from symreln.experiment.closed import check_covered, closed_start, predict_chain
from symreln.experiment.mode_descent import mode_descent
from symreln.experiment.theory_error import chain_error, kappa_error
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from symreln.claims.curves import Prediction
    from symreln.claims.derivation import Derivation
    from symreln.laws.chain_start import ChainStart
    from symreln.laws.early_phase import EarlyStrength
    from symreln.laws.mean_field import MeanField

#: Why there is no band where it takes more than a few seconds.
TOO_LONG = "descending that many drawn networks takes minutes on these data; --terms asks for it"


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Foretold:
    """Predictions of one derivation, none of which has seen a trained network.

    Attributes:
        prediction: The curves of the theory, with the spec's gates, at steps 0, 1, …
        error: Monte Carlo errors of the judged loss over L(0) and of the judged strengths over
            their plateaus: radii of 95 % intervals.
        early: What the early phase says of modes, by the label of their strength; empty for a
            linear network.
        kappas: κ of the pathways that the theory starts from it, by name.
        mean_field: The mean-field simulation; None where there is none.
        no_mean_field: Why there is none, or "".
        chain: Where modes of three or more layers start; None for one or two.
        straight: Loss of modes that keep to their directions, as Assumption 2.1.1 has it, where it
            is not proven; None where it is, and where gates switch or pathways are narrow.
        predicted: Curves of several networks, from the law of initial strengths alone; None where
            there is no such prediction, or it was not asked for.
        not_predicted: Why there is none, or "".
    """

    prediction: Prediction
    error: tuple[float, float] = (0.0, 0.0)
    early: Mapping[str, EarlyStrength] = field(default_factory=dict)
    kappas: Mapping[str, float] = field(default_factory=dict)
    mean_field: MeanField | None = None
    no_mean_field: str = ""
    chain: ChainStart | None = None
    straight: np.ndarray | None = None
    predicted: PredictedBand | None = None
    not_predicted: str = ""

    def beside(self, networks: int) -> Foretold:
        """Return the same with a band that knows how many networks are trained beside it."""
        if self.predicted is None:
            return self
        return replace(self, predicted=replace(self.predicted, trained=networks))


def foretell(
    numbers: Derivation, *, whatever_cost: bool = False, scatter: int | None = None
) -> Foretold:
    """Make all predictions.

    Args:
        numbers: A derivation without free parameters, with a network.
        whatever_cost: Whether the mean-field simulation and the band are made also where that takes
            long.
        scatter: Seed of the networks that the band is of; None where none is asked for.
    """
    found = _curves(numbers, whatever_cost=whatever_cost)
    if scatter is None:
        return found
    if (drawn := found.prediction.drawn) is not None:
        return replace(found, predicted=PredictedBand(losses=drawn.losses, law=drawn))
    why, band = why_no_band(numbers), None
    if not why:
        with phase("band of networks"):
            band = predicted_band(
                numbers,
                found.early,
                mode_kappas(numbers, found.kappas),
                scatter,
                chain=found.chain,
                whatever_cost=whatever_cost,
            )
        why = "" if band is not None else TOO_LONG
    return replace(found, predicted=band, not_predicted=why)


def _curves(numbers: Derivation, *, whatever_cost: bool) -> Foretold:
    """Make the predictions of the mean curves."""
    if not numbers.known.plain.holds:
        check_covered(numbers)
        if not numbers.known.matrices.holds:
            chain = closed_start(numbers)
            return _chained(numbers, predict_chain(numbers, chain), chain)
    with phase("κ of the early phase"):
        early = numbers.ask(early_strengths)
    # Few units are counted one by one: no share of many says how many a pathway has.
    kappas = {} if numbers.ask(narrow_pathways) else pathway_kappas(numbers, early)
    by_mode = mode_kappas(numbers, kappas)
    why = why_no_mean_field(numbers, whatever_cost=whatever_cost)
    with phase("mean-field simulation"):
        mean_field = None if why else run_mean_field(numbers)
    with phase("prediction"):
        prediction = predict_training(numbers, by_mode)
    errors = {name: early[_fastest(numbers, name, early)].error for name in kappas}
    constants = training_constants(numbers, prediction.judged, kappas, errors, prediction.drawn)
    by_label = mode_kappas(numbers, errors)
    return Foretold(
        prediction=replace(prediction, constants=constants),
        error=kappa_error(numbers, prediction, by_mode, by_label),
        early=early,
        kappas=kappas,
        mean_field=mean_field,
        no_mean_field=why,
        straight=mode_descent(numbers, by_mode) if _turns(numbers) else None,
    )


def _chained(numbers: Derivation, prediction: Prediction, chain: ChainStart | None) -> Foretold:
    """Return the predictions for other than two layers of weights."""
    why = why_no_mean_field(numbers)
    if chain is None:
        return Foretold(prediction=prediction, no_mean_field=why)
    constants = (*prediction.constants, *chain_constants(chain))
    return Foretold(
        prediction=replace(prediction, constants=constants),
        error=chain_error(numbers, prediction, chain),
        chain=chain,
        no_mean_field=why,
    )


def _fastest(numbers: Derivation, name: str, early: Mapping[str, EarlyStrength]) -> str:
    """Return the label of the mode whose κ a pathway starts from."""
    (pathway,) = (each for each in numbers.pathways if each.name == name)
    return next(mode.label for mode in pathway.modes if mode.label in early)


def _turns(numbers: Derivation) -> bool:
    """Whether Assumption 2.1.1 is not proven, so that modes may leave their directions."""
    matrices = numbers.verdict.level in (Level.COUPLED_MATRICES, Level.NUMERIC_ONLY)
    return matrices and not numbers.later and not numbers.ask(narrow_pathways)
