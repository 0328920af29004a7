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
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from symreln.base.processors import measured
from symreln.base.progress import phase
from symreln.base.records import record
from symreln.claims.curves import Prediction
from symreln.claims.derivation import Derivation
from symreln.claims.integration import network_of
from symreln.claims.narrow import own_curves
from symreln.claims.prediction import closed_forms, predict, predict_training, written_and_read
from symreln.claims.probes import learning_modes
from symreln.claims.solve import at_values
from symreln.claims.starts import chain_of, start_factors, starts_of, strength0_of
from symreln.effective.network import EffectiveNetwork, effective_of, takes_minutes
from symreln.errors import InputError, LimitReachedError
from symreln.experiment.closed import check_covered, predict_chain
from symreln.experiment.metrics import LEVEL, simultaneous_radius
from symreln.laws.chain_start import ChainStart
from symreln.verdict.judge import Level


@record(eq=False)
class Predictions:
    """Predictions of one derivation, none of which has seen a trained network.

    What no training needs is predicted when it is asked for.

    Attributes:
        derivation: What predicts, with its parameters.
        judged_curves: The judged curves of the theory, with the spec's gates, at steps 0, 1, …
        kappas: κ of the pathways that the theory starts from it, by name.
        chain: Where modes of three or more layers start; None for one or two.
    """

    derivation: Derivation
    judged_curves: Prediction
    kappas: Mapping[str, float] = field(default_factory=dict)
    chain: ChainStart | None = None

    @cached_property
    def numbers(self) -> Derivation:
        """The derivation at its parameters' values."""
        return self.derivation.ask(at_values)

    @measured
    def prediction(self) -> Prediction:
        """The judged curves, beside closed forms the integrated reduction and its flow."""
        if self.judged_curves.judged != "closed" or not self.numbers.known.matrices.holds:
            return self.judged_curves
        return predict_training(self.numbers, flow=True)

    @measured
    def error(self) -> tuple[float, float]:
        """Monte Carlo errors of the judged loss over L(0), and of strengths over their plateaus.

        Radii of 95 % intervals.
        """
        judged = self.judged_curves
        if judged.drawn is not None:
            return _draws_error(judged.loss, judged.drawn), 0.0
        if self.chain is not None:
            return _chain_error(self.numbers, judged, self.chain)
        return _kappa_error(self.numbers, judged) if self.kappas else (0.0, 0.0)

    @cached_property
    def _effective_or_why(self) -> tuple[EffectiveNetwork | None, str]:
        return _effective_beside(self.numbers)

    @property
    def effective(self) -> EffectiveNetwork | None:
        """The effective network of the data, whatever gates are given; None where there is none."""
        return self._effective_or_why[0]

    @property
    def no_effective(self) -> str:
        """Why there is no effective network, or ""."""
        return self._effective_or_why[1]

    @measured
    def straight(self) -> np.ndarray | None:
        """Loss of modes that keep to their directions, as Assumption 2.1.1 has it.

        None where it is proven, and where gates switch or pathways are narrow.
        """
        numbers = self.numbers
        turns = numbers.verdict.level is Level.COUPLED_MATRICES and not numbers.by_edges
        return _mode_descent(numbers) if turns and own_curves(numbers).holds else None


@phase("prediction")
def predict_all(derivation: Derivation) -> Predictions:
    """Predict what training is to be compared with.

    Args:
        derivation: Whose spec has a network, and a value for every parameter.
    """
    numbers, kappas, chain = derivation.ask(at_values), {}, None
    if numbers.by_edges:
        curves = predict(numbers, None)
    elif numbers.known.matrices.holds:
        if not numbers.known.plain.holds:
            check_covered(numbers)
        kappas = numbers.ask(starts_of).kappas
        curves = predict_training(numbers, flow=True, judged_only=True)
    else:
        check_covered(numbers)
        chain = chain_of(numbers)
        curves = predict_chain(numbers, chain)
    return Predictions(derivation=derivation, judged_curves=curves, kappas=kappas, chain=chain)


def _draws_error(loss: np.ndarray, drawn: np.ndarray) -> float:
    """Return the radius over L(0) that the mean of the draws leaves."""
    first, radius = float(loss[0]), simultaneous_radius(drawn, 0)
    return 0.0 if radius is None or not first else radius / first


#: Standard errors of the ends of an interval for a mean.
_ENDS = float(ndtri((1 + LEVEL) / 2))


def _kappa_error(numbers: Derivation, prediction: Prediction) -> tuple[float, float]:
    """Return the radii that the errors of κ leave to the judged curves.

    All κ are moved together to the upper ends of their intervals: they are means over the same
    units.

    Args:
        numbers: Without free parameters.
        prediction: From its κ.

    Returns:
        That of the loss over L(0), and that of strengths over their plateaus.
    """
    starts = numbers.ask(starts_of)
    moved = {name: kappa + _ENDS * starts.errors[name] for name, kappa in starts.kappas.items()}
    factors = start_factors(numbers, moved)
    return _largest(predict_training(numbers, factors, judged_only=True), prediction)


def _chain_error(
    numbers: Derivation, prediction: Prediction, start: ChainStart
) -> tuple[float, float]:
    """Return the same for the start of modes of three or more layers."""
    network = network_of(numbers.spec)
    kappa = start.kappa + _ENDS * start.error
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

    What diverges or takes too long beside given gates is a reason; of gates from the data it is
    refused before.

    Args:
        derivation: Without free parameters, with a network.
    """
    found, why = None, "" if derivation.spec.find else _why_none(derivation)
    try:
        found = None if why else effective_of(derivation.spec)
    except (InputError, LimitReachedError) as error:
        why = str(error)
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
