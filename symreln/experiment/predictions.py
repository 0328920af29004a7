r"""All that is predicted of the networks of a spec before any of them is trained.

That is the judged curve with its Monte Carlo error, from the standard errors of estimated
constants, and what Assumption 2.1.1 would predict where it does not hold: modes that keep to their
directions. Mutual diagonalisability says that the singular vectors of every pathway's correlation
stay the network's own: W_p(t) = Σ_α π_α(t) u_α v_αᵀ at all times. Projecting the pathway's error on
them,

.. math:: \tau \dot\pi_\alpha = 2 \pi_\alpha u_\alpha^\top E(p) v_\alpha, \qquad
          E(p) = \Sigma^{yx}(p) - \sum_j O_p O_j W_j \Sigma^x(j, p),

which is the whole flow of an aligned start where the assumption holds. Where it does not, the
directions turn, and what this curve misses is what the assumption costs. The square roots of the
strengths descend by the finite steps of gradient descent, so nothing else is left out.

Source: the assumption is 2.1.1 of [Jarvis2025]; float64.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np
from scipy.special import ndtri

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.claims.curves import Prediction
from symreln.claims.derivation import Derivation
from symreln.claims.early import EarlyStrengths
from symreln.claims.integration import network_of
from symreln.claims.narrow import own_curves
from symreln.claims.prediction import closed_forms, predict, predict_training, written_and_read
from symreln.claims.probes import learning_modes
from symreln.claims.starts import (
    Starts,
    chain_of,
    mode_kappas,
    start_factors,
    starts_of,
    strength0_of,
)
from symreln.effective.network import EffectiveNetwork, effective_of, takes_minutes
from symreln.experiment.closed import check_covered, predict_chain
from symreln.experiment.metrics import LEVEL, simultaneous_radius
from symreln.laws.chain_start import ChainStart
from symreln.laws.early_phase import EarlyStrength
from symreln.verdict.judge import Level


@record(eq=False)
class Predictions:
    """Predictions of one derivation, none of which has seen a trained network.

    Attributes:
        prediction: The curves of the theory, with the spec's gates, at steps 0, 1, …
        error: Monte Carlo errors of the judged loss over L(0) and of the judged strengths over
            their plateaus: radii of 95 % intervals.
        early: What the early phase says of modes, by the label of their strength; empty for a
            linear network.
        kappas: κ of the pathways that the theory starts from it, by name.
        effective: The effective network of the data, whatever gates are given; None where there is
            none.
        no_effective: Why there is none, or "".
        chain: Where modes of three or more layers start; None for one or two.
        straight: Loss of modes that keep to their directions, as Assumption 2.1.1 has it, where it
            is not proven; None where it is, and where gates switch or pathways are narrow.
    """

    prediction: Prediction
    error: tuple[float, float] = (0.0, 0.0)
    early: Mapping[str, EarlyStrength] = field(default_factory=dict)
    kappas: Mapping[str, float] = field(default_factory=dict)
    effective: EffectiveNetwork | None = None
    no_effective: str = ""
    chain: ChainStart | None = None
    straight: np.ndarray | None = None


def predict_all(numbers: Derivation) -> Predictions:
    """Make all predictions.

    Args:
        numbers: A derivation without free parameters, with a network.
    """
    if numbers.by_edges:
        return _drawn(numbers)
    if not numbers.known.plain.holds:
        check_covered(numbers)
        if not numbers.known.matrices.holds:
            chain = chain_of(numbers)
            return _chained(numbers, predict_chain(numbers, chain), chain)
    early, starts = numbers.ask(EarlyStrengths.of), numbers.ask(starts_of)
    effective, why = _effective_beside(numbers)
    with phase("prediction"):
        prediction = predict_training(numbers, flow=True)
    # Where Assumption 2.1.1 is not proven, modes may leave their directions.
    turns = numbers.verdict.level is Level.COUPLED_MATRICES and own_curves(numbers).holds
    return Predictions(
        prediction=prediction,
        error=(_draws_error(prediction), 0.0)
        if prediction.judged == "effective"
        else _kappa_error(numbers, prediction, starts),
        early=early,
        kappas=starts.kappas,
        effective=effective,
        no_effective=why,
        straight=_mode_descent(numbers) if turns else None,
    )


def _drawn(numbers: Derivation) -> Predictions:
    """Return the mean over drawn networks with its error."""
    with phase("prediction"):
        prediction = predict(numbers, None)
    _, why = _effective_beside(numbers)
    error = (_draws_error(prediction), 0.0)
    return Predictions(prediction=prediction, error=error, no_effective=why)


def _draws_error(prediction: Prediction) -> float:
    """Return the radius over L(0) that the mean of the draws leaves."""
    assert prediction.drawn is not None
    first, radius = float(prediction.loss[0]), simultaneous_radius(prediction.drawn, 0)
    return 0.0 if radius is None or not first else radius / first


def _chained(numbers: Derivation, prediction: Prediction, chain: ChainStart | None) -> Predictions:
    """Return the predictions for other than two layers of weights."""
    _, why = _effective_beside(numbers)
    if chain is None:
        return Predictions(prediction=prediction, no_effective=why)
    return Predictions(
        prediction=prediction,
        error=_chain_error(numbers, prediction, chain),
        chain=chain,
        no_effective=why,
    )


#: Standard errors of the ends of an interval for a mean.
ENDS = float(ndtri((1 + LEVEL) / 2))


def _kappa_error(
    numbers: Derivation, prediction: Prediction, starts: Starts
) -> tuple[float, float]:
    """Return the radii that the errors of κ leave to the judged curves.

    All κ are moved together to the upper ends of their intervals: they are means over the same
    units.

    Args:
        numbers: Without free parameters.
        prediction: From these starts.
        starts: κ with their errors.

    Returns:
        That of the loss over L(0), and that of strengths over their plateaus.
    """
    if not starts.kappas:
        return 0.0, 0.0
    moved = {name: kappa + ENDS * starts.errors[name] for name, kappa in starts.kappas.items()}
    factors = start_factors(numbers, mode_kappas(numbers, moved))
    return _largest(predict_training(numbers, factors), prediction)


def _chain_error(
    numbers: Derivation, prediction: Prediction, start: ChainStart
) -> tuple[float, float]:
    """Return the same for the start of modes of three or more layers."""
    network = network_of(numbers.spec)
    kappa = start.kappa + ENDS * start.error
    strength = (kappa * float(network.init_std) * np.sqrt(start.units)) ** start.layers
    moved = closed_forms(numbers, prediction.times, float(strength))
    assert moved is not None  # the prediction has closed forms
    return _largest(moved, prediction)


def _largest(moved: Prediction, prediction: Prediction) -> tuple[float, float]:
    """Return the largest differences of the judged curves, of modes over their plateaus."""
    loss = np.abs(moved.loss - prediction.loss).max() / prediction.loss[0]
    strengths = [
        float(np.abs(one.of(prediction.judged) - other.of(prediction.judged)).max() / other.plateau)
        for one, other in zip(moved.modes, prediction.modes, strict=True)
        if other.plateau
    ]
    return float(loss), max(strengths, default=0.0)


@np.errstate(over="ignore", invalid="ignore")  # where training diverges, which says so
def _mode_descent(numbers: Derivation) -> np.ndarray:
    """Return the loss of modes that keep to their directions, at every step of the network.

    Args:
        numbers: Without free parameters, of one phase, with a network of two layers.
    """
    network = network_of(numbers.spec)
    modes = learning_modes(numbers)
    starts = {m.label: np.array([float(strength0_of(numbers, m.label) or 0)]) for _, m in modes}
    u, read, begin = written_and_read(numbers, starts)
    stages = [pathway.stage for pathway, mode in modes for _ in range(mode.multiplicity)]
    # Every mode writes u_α π_α (v_α·x): products of these patterns are all that is needed.
    seen, targets = read / read.shape[1], numbers.spec.dataset.targets.to_numpy()
    drive = np.einsum("ya,yp,ap->a", u, targets, seen, optimize=True)
    overlap = (u.T @ u) * (read @ seen.T)
    stage = np.array(stages)
    staged = network.training == "staged"  # earlier stages see no later ones
    felt = overlap * (stage[None, :] <= stage[:, None]) if staged else overlap
    amplitude, losses = np.sqrt(begin[:, 0]), np.empty(network.steps)
    initial, rate = float(numbers.initial_loss.to_fraction()), 1 / float(numbers.tau or 1)
    for step in range(network.steps):
        strength = amplitude**2
        losses[step] = initial - drive @ strength + 0.5 * strength @ overlap @ strength
        amplitude = amplitude + rate * amplitude * (drive - felt @ strength)
    return losses


def _effective_beside(derivation: Derivation) -> tuple[EffectiveNetwork | None, str]:
    """Return the effective network of a derivation's data, or None and why there is none.

    Args:
        derivation: Without free parameters, with a network.

    Raises:
        InputError: Units diverge.
    """
    why = "" if derivation.spec.find else _why_none(derivation)
    found = None if why else effective_of(derivation.spec)
    if found is None and not why:
        why = "no hidden unit grows within network.steps"
    return found, why


def _why_none(derivation: Derivation) -> str:
    spec, network = derivation.spec, network_of(derivation.spec)
    if network.activation == "linear":
        return "a linear network has no gates"
    if not derivation.known.matrices.holds:
        return derivation.known.matrices.why
    if any(pathway.has_gains for pathway in spec.pathways):
        return "gates have gains, which no ReLU unit has"
    if any(pathway.hidden is not None for pathway in spec.pathways):
        return "pathways have hidden units of their own, which no network's gates divide"
    if network.weight_decay:
        return "units that decay are not followed"
    return "it takes minutes on these data" if takes_minutes(spec) else ""
