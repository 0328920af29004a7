"""Numbers from a derivation: float64 curves of any level; certified ones are in balls.

This is the named place where exact results become floats. Where gates switch, weights are carried
from phase to phase.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.summaries import few
from symreln.claims.constants import Constant, printed_constants
from symreln.claims.curves import ModeCurve, Prediction, in_phase
from symreln.claims.equilibria import mode_system
from symreln.claims.head_start import ModeLaws, are_followed
from symreln.claims.integration import (
    check_range,
    coupled_matrices,
    gate_floats,
    gram_scale,
    network_of,
)
from symreln.claims.linear_flow import is_linear, linear_curves
from symreln.claims.narrow import check_decided, learned_counts, narrow_pathways
from symreln.claims.probes import from_start, learning_modes, mode_bases
from symreln.claims.relaxation import check_step_size, diverging, largest_singular_value
from symreln.claims.rules import rule_of
from symreln.claims.starts import chain_of, starts_of
from symreln.errors import InputError, NotSupportedError
from symreln.laws.choice import plateau
from symreln.laws.coupled_modes import integrate_modes
from symreln.laws.integrate import PRECISE
from symreln.laws.law import Start
from symreln.specs.arguments import float_times
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from symreln.claims.derivation import Derivation
    from symreln.laws.coupled_matrices import CoupledMatrices, EqualModes

#: Relaxation of outputs a step at the start, above which neither gradient descent nor the flow is
#: followed.
_STIFFEST = 1000.0


def predict(
    derivation: Derivation,
    times: Sequence[float] | np.ndarray | None,
    accuracy: float = PRECISE,
    factors: Mapping[str, Fraction] | None = None,
    *,
    stepped: bool = False,
    judged_only: bool = False,
) -> Prediction:
    """Evaluate a derivation without free parameters.

    One stage whose modes are closed is evaluated from its closed forms. Everything else is
    integrated from t = 0 with the coupled matrices, which hold at every level and let later
    stages start to grow while earlier ones still learn.

    Coupled modes are no exception: strengths of an aligned start never change sign, so a mode
    that loses its race dies out, whereas in a network the small unaligned part of its weights
    grows once s − Σ kappa pi is negative and takes the strength below zero, to the least-squares
    solution. Their Lotka-Volterra system is given beside the prediction.

    Args:
        derivation: What is evaluated.
        times: Ascending times in steps; every step of the network by default.
        accuracy: How the flow is integrated, where it is.
        factors: By how many times modes start stronger than expected, by label; by default as the
            early phase says (:mod:`symreln.claims.starts`).
        stepped: Whether what is integrated is gradient descent at every step, in place of the flow.
        judged_only: Whether nothing is integrated beside closed forms that are judged.
    """
    if factors is None:
        factors = derivation.ask(starts_of).factors
    network = network_of(derivation.spec)
    grid = np.arange(network.steps, dtype=float) if times is None else float_times(times)
    if derivation.spec.find:
        return derivation.ask(rule_of("found")).prediction(derivation, grid, factors)
    if derivation.by_edges:
        return _predict_edges(derivation, grid)
    check_decided(derivation)
    alone = not derivation.later and len(derivation.stages) == 1
    if derivation.closed and alone:
        fastest = derivation.ask(diverging) if derivation.known.layers == 1 else None
        if fastest is not None:
            check_step_size(network, float(fastest.rate))
        found = closed_forms(derivation, grid, factors=factors)
        if found is not None:
            return found
    if is_linear(derivation) and not derivation.later:
        loss, strengths, _ = linear_curves(derivation, grid)
        return Prediction(
            times=grid,
            reduced=loss,
            method="solution of the single layer's linear flow, in steps",
            closed_loss=None,
            modes=_mode_curves(derivation, {}, strengths),
            constants=derivation.ask(printed_constants),
        )
    plain = derivation.known.plain
    if not plain.holds:
        msg = (
            f"Integration of the reduced flow is written for {plain.why}. `symreln derive` gives "
            "the closed forms and their numbers, and `symreln validate` alone trains beside them"
        )
        raise NotSupportedError(msg)
    derivation.ask(_check_descent)
    found = closed_forms(derivation, grid, factors=factors) if judged_only else None
    if found is not None:
        return found
    return _predict_flow(derivation, grid, factors, None if stepped else accuracy)


def _predict_flow(
    derivation: Derivation,
    grid: np.ndarray,
    factors: Mapping[str, Fraction],
    accuracy: float | None,
) -> Prediction:
    """Integrate the reduced flow, or gradient descent without an accuracy, beside closed forms."""
    closed, closed_loss, coupled = {}, None, derivation.verdict.level is Level.COUPLED_MODES
    if derivation.closed and not derivation.later:
        closed = closed_curves(derivation, grid, factors=factors)
        closed_loss = loss_of_modes(derivation, closed, grid)
    elif coupled and not derivation.later and len(derivation.stages) == 1:
        closed_loss, closed = _integrate_modes(derivation, grid, factors)
    return Prediction(
        times=grid,
        closed_loss=closed_loss,
        judged="reduced" if closed_loss is None or not derivation.closed else "closed",
        constants=derivation.ask(printed_constants),
        **_integrated(derivation, factors, closed, None if accuracy is None else (grid, accuracy)),
    )


def _integrated(
    derivation: Derivation,
    factors: Mapping[str, Fraction],
    closed: Mapping[str, np.ndarray],
    flow: tuple[np.ndarray, float] | None,
) -> dict[str, Any]:
    """Return the fields of a prediction that coupled matrices of all pathways make.

    Args:
        derivation: Without free parameters, with a network of two layers.
        factors: As of :func:`predict`.
        closed: Closed forms by label of the mode.
        flow: Times at which the flow is asked for, and how accurately; None for gradient descent,
            step by step.
    """
    matrices, probes = derivation.ask(matrices_of), [each for each, *_ in _modes(derivation)]
    starts, first, network = first_starts(derivation, factors), 0, network_of(derivation.spec)
    if flow is None:
        found = matrices.descent(network.steps, probes, starts)
        how = "gradient descent on the coupled matrices of all pathways, step by step"
    else:
        whole, first = from_start(flow[0])
        found = matrices.trajectory(whole, probes, flow[1], starts)
        how = "flow of the coupled matrices of all pathways from t = 0"
    over = " over every switch of gates" if derivation.later else f" ({network.training} training)"
    rows = iter(found.strengths[:, first:])  # of all phases, in their order
    curves = (
        _mode_curves(phase, closed, {m.label: next(rows) for _, m in learning_modes(phase)}, begin)
        for begin, phase in derivation.phases
    )
    return {"reduced": found.losses[first:], "method": how + over, "modes": sum(curves, ())}


def of_given_gates(derivation: Derivation) -> Derivation:
    """Return the derivation as if its gates were given, where they come from the data.

    Its prediction is that of its pathways alone: unlike an effective network it has no last step.
    """
    spec = derivation.spec
    return replace(derivation, spec=replace(spec, find="")) if spec.find else derivation


def predict_training(
    derivation: Derivation,
    factors: Mapping[str, Fraction] | None = None,
    *,
    flow: bool = False,
    judged_only: bool = False,
) -> Prediction:
    """Predict what gradient descent does with its finite steps, at every step of the network.

    As :func:`predict`, but each step of training is a step of the reduced maps: the error of the
    flow, which grows with the learning rate, is not there. Weight decay and two layers that start
    apart are steps of the same maps.

    Args:
        derivation: What is evaluated; without free parameters, with a network.
        factors: As of :func:`predict`.
        flow: Whether the flow's own loss comes with it.
        judged_only: As of :func:`predict`.
    """
    if factors is None:
        factors = derivation.ask(starts_of).factors
    narrow = bool(learned_counts(derivation))  # matrices take pathways as wide enough
    asked = {"stepped": not narrow, "judged_only": judged_only}
    found = predict(derivation, None, factors=factors, **asked)
    if found.judged == "effective" or narrow:
        return found  # the one is in steps
    if judged_only and found.judged == "closed":
        derivation.ask(_check_descent)
        return found
    if found.closed_loss is found.reduced:
        closed = {curve.label: curve.closed for curve in found.modes if curve.closed is not None}
        found = replace(found, **_integrated(derivation, factors, closed, None))
    return replace(found, flow_loss=_flow_loss(derivation, factors)) if flow else found


def _flow_loss(derivation: Derivation, factors: Mapping[str, Fraction]) -> np.ndarray:
    """Return the loss of infinitely small steps, from the same start, at every step."""
    times = np.arange(network_of(derivation.spec).steps, dtype=float)
    plain = derivation.closed and not derivation.later and len(derivation.stages) == 1
    closed = closed_forms(derivation, times, flow=True, factors=factors) if plain else None
    return (predict(derivation, times, factors=factors) if closed is None else closed).reduced


def _predict_edges(derivation: Derivation, times: np.ndarray) -> Prediction:
    """Predict the mean over the initialisation distribution where edges do not close."""
    from symreln.claims.edge_flow import edge_flow

    around = np.unique([np.floor(times), np.ceil(times)])
    losses, strengths = edge_flow(derivation, around.astype(int))
    at = partial(np.interp, times, around)
    first, count = losses[:, 0].mean(), len(losses)
    error = float(losses.std(axis=0, ddof=1).max() / np.sqrt(count) / first) if first else 0.0
    name = f"mean over {count} drawn networks, over L(0)"
    what = "networks drawn from the initialisation distribution"
    return Prediction(
        times=times,
        reduced=at(losses.mean(axis=0)),
        method=(
            f"gradient descent on all edges of {count} {what}, step by step: their mean, to "
            f"{100 * error:.2g} % of L(0)"
        ),
        closed_loss=None,
        modes=_mode_curves(derivation, {}, {m: at(curve) for m, curve in strengths.items()}),
        constants=(Constant.estimated(name, None, error, what),),
        drawn=np.array([at(loss) for loss in losses]),
    )


def closed_forms(
    derivation: Derivation,
    times: np.ndarray,
    strength0: float | None = None,
    *,
    flow: bool = False,
    factors: Mapping[str, Fraction] | None = None,
) -> Prediction | None:
    """Evaluate the closed forms alone, or return None where there are none.

    Later stages begin at their head starts (:mod:`symreln.claims.head_start`); :func:`predict`
    integrates instead.

    Args:
        derivation: What is evaluated.
        times: Times in steps.
        strength0: Where modes of three or more layers start; by default as
            :func:`symreln.claims.starts.chain_of` says, among the constants then.
        flow: Whether steps are taken as infinitely small.
        factors: As of :func:`predict`.

    Raises:
        InputError: A number is too large or too small for float64.
    """
    if not derivation.closed or derivation.later:
        return None
    check_range(derivation)
    curves = closed_curves(derivation, times, strength0, flow=flow, factors=factors)
    loss = loss_of_modes(derivation, curves, times)
    if loss is None:
        return None
    chain = chain_of(derivation) if strength0 is None else None
    more = ()
    if chain is not None:
        name, what = f"kappa of {chain.layers} random layers", "isolated modes of random layers"
        more = (Constant.estimated(name, chain.kappa, chain.error, f"{len(chain.times)} {what}"),)
    return Prediction(
        times=times,
        reduced=loss,
        method="closed forms of all modes",
        closed_loss=loss,
        modes=_mode_curves(derivation, curves, {}),
        judged="closed",
        constants=(*derivation.ask(printed_constants), *more),
    )


def closed_curves(
    derivation: Derivation,
    grid: np.ndarray,
    strength0: float | None = None,
    *,
    flow: bool = False,
    factors: Mapping[str, Fraction] | None = None,
) -> dict[str, np.ndarray]:
    """Return the closed form of every mode that learns, by label; arguments as closed_forms.

    Raises:
        InputError: One has no value at these times.
    """
    start = None if strength0 is None else Start(strength0=Fraction(strength0))
    laws = ModeLaws.of(derivation, start=start, flow=flow, factors=factors)
    # Of a narrow pathway's modes those that get no unit stay at zero.
    counts = learned_counts(derivation)
    curves = {
        label: found.law.strengths(grid) * (counts.get(label, 1) > 0)
        for label, found in laws.items()
    }
    lost = [label for label, curve in curves.items() if np.isnan(curve).any()]
    if lost:
        msg = (
            f"network.learning_rate: a step of gradient descent takes more off the weights of "
            f"{few(lost)} than there is, so that the closed form has no value. Lower it, or "
            "network.weight_decay"
        )
        raise InputError(msg)
    return curves


def loss_of_modes(
    derivation: Derivation, curves: Mapping[str, np.ndarray], grid: np.ndarray
) -> np.ndarray | None:
    """Sum the loss in mode space, written so that it does not cancel near its end.

    −m (s π − ½ d π²) = −m s²/(2d) + ½ m d (s/d − π)²; the constants add up to the final loss.

    Args:
        derivation: Without free parameters.
        curves: Strengths of every mode that learns, by label; shape (times,).
        grid: The times.

    Returns:
        None where some mode has no curve, or the loss is no sum over modes.
    """
    if not derivation.loss_separates or not are_followed(derivation, curves):
        return None
    loss = np.full(grid.shape, float(derivation.least_loss.to_fraction()))
    counts = learned_counts(derivation)
    for _, mode in learning_modes(derivation):
        # s > 0 has d_eff > 0: the loss is bounded from below.
        d = 0.0 if mode.d_eff is None else mode.d_eff.to_float()
        height = mode.s.to_float() / d
        learned = counts.get(mode.label, mode.multiplicity)
        loss += 0.5 * learned * d * (height - curves[mode.label]) ** 2
        loss += 0.5 * (mode.multiplicity - learned) * d * height**2
    return loss


def written_and_read(
    derivation: Derivation, curves: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what every single mode writes, what it reads of the samples, and its strength.

    Outputs of the pathways are the sum of u π(t) (vᵀ X_p) over these.

    Args:
        derivation: Without free parameters.
        curves: Strengths by label; shape (times,).

    Returns:
        Shapes (n_y, modes), (modes, P) and (modes, times), equal modes one by one.
    """
    dataset = derivation.spec.dataset
    inputs, (rows, samples) = dataset.inputs.to_numpy(), dataset.targets.shape
    outputs, seen, strengths = [np.zeros((rows, 0))], [np.zeros((0, samples))], []
    for pathway in derivation.pathways:
        own = pathway.effective.pathway
        for label, (u, v) in mode_bases(pathway).items():
            outputs.append(u)
            seen.append(v.T @ inputs[list(own.inputs)] * gate_floats(own))
            strengths += [curves[label]] * u.shape[1]
    return np.hstack(outputs), np.concatenate(seen), np.array(strengths)


def _integrate_modes(
    derivation: Derivation, grid: np.ndarray, factors: Mapping[str, Fraction]
) -> tuple[np.ndarray, dict]:
    system = mode_system(derivation.stages[0])
    tau = float(derivation.tau or 1)
    # Exact, where the reduced flow's own rate is of float64 data, which may drop small samples.
    check_step_size(network_of(derivation.spec), 2 * float(np.max(system.s, initial=0)) / tau)
    whole, first = from_start(grid)
    usual = derivation.strength0 or 0
    start = np.array([float(usual * factors.get(label, 1)) for label in system.labels])
    found = integrate_modes(system.s, system.kappa, start, whole, tau)
    strengths = found[:, first:]
    loss = system.loss(float(derivation.initial_loss.to_fraction()), strengths)
    return loss, dict(zip(system.labels, strengths, strict=True))


def _mode_curves(
    derivation: Derivation,
    closed: Mapping[str, np.ndarray],
    integrated: Mapping[str, np.ndarray],
    begin: int = 0,
) -> tuple[ModeCurve, ...]:
    """Return a curve of every mode of a phase, with where it ends by its law."""
    found = []
    for pathway, mode in learning_modes(derivation):
        d = None if mode.d_eff is None else mode.d_eff.to_float()
        curve = ModeCurve(
            pathway=in_phase(pathway.name, begin),
            label=f"{mode.label}@{begin}" if begin else mode.label,
            closed=closed.get(mode.label),
            integrated=integrated.get(mode.label),
            plateau=plateau(derivation.known, mode.s.to_float(), d) if d else None,
            multiplicity=mode.multiplicity,
        )
        found.append(curve)
    return tuple(found)


def first_starts(derivation: Derivation, factors: Mapping[str, Fraction]) -> list[EqualModes]:
    """Return how the modes of the first phase start that do not as expected.

    Args:
        derivation: Without free parameters, with a network.
        factors: By label of their strength.
    """
    return [
        replace(equal, factor=float(factors[label]))
        for equal, label, begin in _modes(derivation)
        if begin == 0 and label in factors
    ]


def matrices_of(derivation: Derivation) -> CoupledMatrices:
    """Return the matrices of all phases.

    Raises:
        NotSupportedError: A pathway has fewer hidden units than modes.
    """
    if derivation.later and any(phase.ask(narrow_pathways) for _, phase in derivation.phases):
        msg = (
            "gates that switch: a pathway has fewer hidden units than modes, and which of them it "
            "gives up at a switch is not derived. Raise network.hidden"
        )
        raise NotSupportedError(msg)
    derivation.ask(_check_descent)
    return coupled_matrices(derivation)


def _check_descent(derivation: Derivation) -> None:
    """Refuse what gradient descent would diverge at, before it is predicted; ask for it.

    Modes relax to their plateaus with 2 s/τ, s at most the largest singular value of what a pathway
    sees of the whole targets. At the start outputs relax with the rate g λ/τ, g the Gram scale of
    the initial weights and λ the largest eigenvalue of Σ^x. The flow stays as stiff as that, and
    steps of gradient descent, which may recover from a rate a little above 2, diverge.

    Args:
        derivation: Without free parameters, with a network of two layers.

    Raises:
        InputError: The first rate is 2 or more, the second one is beyond ``_STIFFEST``, or float64
            has no room for the data.
    """
    check_range(derivation)
    scale = gram_scale(derivation)  # which says first from which starts no flow is written
    network, tau = network_of(derivation.spec), float(derivation.tau or 1)
    targets = derivation.stages[0].pathways[0].effective.goal
    pathways = [path.effective for _, phase in derivation.phases for path in phase.pathways]
    seen = [each for each in pathways if each.image is None]
    drives = (each.masked(targets.correlated(each.features)).to_numpy() for each in seen)
    check_step_size(network, 2 * max(float(np.linalg.norm(drive, 2)) for drive in drives) / tau)
    widest = max(largest_singular_value(each.sigma_x.to_numpy()) for each in seen)
    rate = scale / tau * widest
    if not rate < _STIFFEST:
        given = derivation.given_start
        name, value = ("init_std", network.init_std) if given is None else ("strength0", given)
        msg = (
            f"network.{name}: {float(value):.4g} makes gradient descent diverge on "
            f"these data (at the start outputs relax by {rate:.3g} a step, 2 is the limit). Lower "
            "it, or the learning rate"
        )
        raise InputError(msg)


def _modes(derivation: Derivation) -> list[tuple[EqualModes, str, int]]:
    """Return every mode of every phase that learns, its label, and the phase's first step."""
    from symreln.laws.coupled_matrices import EqualModes

    return [
        (EqualModes(pathway=place, u=u, v=v), label, begin)
        for begin, phase in derivation.phases
        for place, pathway in enumerate(phase.pathways)
        for label, (u, v) in mode_bases(pathway).items()
    ]
