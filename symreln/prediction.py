"""Numbers from a derivation: float64 curves of any level, certified balls of closed forms.

This is the named place where exact results become floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from symreln.dynamics.coupled_modes import integrate_modes
from symreln.dynamics.integrate import RELATIVE_TOLERANCE
from symreln.dynamics.two_layer import strength_ball, strength_float
from symreln.errors import InputError
from symreln.integration import check_range, mode_probes, network_of, reduced_flow
from symreln.mode_system import mode_system
from symreln.verdict import Level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flint import arb

    from symreln.derivation import Derivation, ModeDerivation, PathwayDerivation
    from symreln.dynamics.reduced_flow import ReducedFlow

#: Relaxation a step, 2 s/tau, above which full-batch gradient descent diverges near a plateau.
STABLE_RATE = 2.0
#: log2(10), rounded up.
BITS_PER_DIGIT = 3.3220


@dataclass(frozen=True, kw_only=True, eq=False)
class ModeCurve:
    """Predicted strength of one mode.

    Attributes:
        pathway: Name of the pathway.
        label: Symbol of the strength.
        closed: The closed form at every time (for coupled modes, the strength in their
            Lotka-Volterra system), or None.
        integrated: uᵀ W_p(t) v from the integrated flow, mean over equal modes, or None where
            the closed form is the flow.
        plateau: s / d_eff in floats, or None.
        multiplicity: Equal modes that the curve stands for.
    """

    pathway: str
    label: str
    closed: np.ndarray | None
    integrated: np.ndarray | None
    plateau: float | None
    multiplicity: int

    @property
    def best(self) -> np.ndarray:
        """The integrated strength where there is one, else the closed form."""
        curve = self.closed if self.integrated is None else self.integrated
        if curve is None:
            msg = f"mode {self.label} has no curve"
            raise InputError(msg)
        return curve


@dataclass(frozen=True, kw_only=True, eq=False)
class Prediction:
    """Predicted curves of a derivation.

    Attributes:
        times: Times in steps, shape (times,).
        loss: Mean loss 1/(2P) Σ‖y − ŷ‖², shape (times,): the prediction that is confronted with
            training.
        method: How it was computed, in words.
        closed_loss: The loss of the closed forms alone, later stages from converged earlier
            ones, or of the Lotka-Volterra system of coupled modes; None where there is neither.
        modes: One curve a mode that learns something.
        free_constants: Numbers set by hand or fitted.
    """

    times: np.ndarray
    loss: np.ndarray
    method: str
    closed_loss: np.ndarray | None
    modes: tuple[ModeCurve, ...]
    free_constants: int = 0

    def __repr__(self) -> str:
        """Return a line: the dataclass's own would print every array."""
        return (
            f"Prediction({self.method}; {len(self.times)} times up to {self.times[-1]:g}, "
            f"{len(self.modes)} curves, loss {self.loss[0]:.4g} to {self.loss[-1]:.4g})"
        )


def predict(
    derivation: Derivation,
    times: Sequence[float] | np.ndarray | None,
    relative_tolerance: float = RELATIVE_TOLERANCE,
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
        relative_tolerance: Local error of a step where the flow is integrated.
    """
    network = network_of(derivation.spec)
    grid = np.arange(network.steps, dtype=float) if times is None else _checked_times(times)
    if derivation.closed and len(derivation.stages) == 1:
        check_range(derivation)
        found = closed_forms(derivation, grid)
        if found is not None:
            return found
    # Converted first: it refuses data that float64 has no room for.
    flow = reduced_flow(derivation)
    _check_step_size(derivation, flow.rate)
    closed, closed_loss = {}, None
    if derivation.closed:
        closed = _closed_curves(derivation, grid)
        closed_loss = _closed_loss(derivation, closed, grid)
    elif derivation.verdict.level is Level.COUPLED_MODES and len(derivation.stages) == 1:
        closed_loss, closed = _integrate_modes(derivation, grid)
    loss, integrated = _integrate(derivation, flow, grid, relative_tolerance)
    together = "staged" if network.training == "staged" else "joint"
    return Prediction(
        times=grid,
        loss=loss,
        method=f"coupled matrices of all pathways, integrated from t = 0 ({together} training)",
        closed_loss=closed_loss,
        modes=_mode_curves(derivation, closed, integrated),
    )


def closed_forms(derivation: Derivation, times: np.ndarray) -> Prediction | None:
    """Evaluate the closed forms alone, or return None where there are none.

    Later stages are then those of converged earlier ones; :func:`predict` integrates instead.
    """
    if not derivation.closed:
        return None
    curves = _closed_curves(derivation, times)
    loss = _closed_loss(derivation, curves, times)
    return None if loss is None else _closed_prediction(derivation, times, curves, loss)


def _closed_prediction(
    derivation: Derivation, grid: np.ndarray, curves: dict[str, np.ndarray], loss: np.ndarray
) -> Prediction:
    return Prediction(
        times=grid,
        loss=loss,
        method="closed forms of all modes",
        closed_loss=loss,
        modes=_mode_curves(derivation, curves, {}),
    )


def _checked_times(times: Sequence[float] | np.ndarray) -> np.ndarray:
    needed = "give a non-empty, ascending sequence of finite steps that starts at 0 or later"
    try:
        grid = np.asarray(times, float)
    except (TypeError, ValueError) as error:
        msg = f"times: found something that is no number; {needed}"
        raise InputError(msg) from error
    ascending = grid.ndim == 1 and len(grid) and np.isfinite(grid).all() and grid[0] >= 0
    if not ascending or np.any(np.diff(grid) < 0):
        msg = f"times: {needed}"
        raise InputError(msg)
    return grid


def learning_modes(
    derivation: Derivation,
) -> list[tuple[PathwayDerivation, ModeDerivation]]:
    """Return every mode with s > 0, pathway by pathway.

    Null modes start at zero and stay there, see :func:`symreln.pipeline.derive`.
    """
    return [(p, m) for p in derivation.pathways for m in p.modes if not m.is_null]


def _closed_curves(derivation: Derivation, grid: np.ndarray) -> dict[str, np.ndarray]:
    modes = [mode for _, mode in learning_modes(derivation)]
    s = np.array([mode.s.to_float() for mode in modes]).reshape(-1, 1)
    d = np.array([mode.d_eff.to_float() for mode in modes if mode.d_eff is not None])
    d = d.reshape(-1, 1)
    start = np.full_like(s, float(derivation.strength0 or 0))
    values = strength_float(s, d, start, grid, float(derivation.tau or 1))
    return {mode.label: curve for mode, curve in zip(modes, values, strict=True)}


def _closed_loss(
    derivation: Derivation, curves: dict[str, np.ndarray], grid: np.ndarray
) -> np.ndarray | None:
    """Sum the loss in mode space, written so that it does not cancel near its end.

    −m (s π − ½ d π²) = −m s²/(2d) + ½ m d (s/d − π)²; the constants add up to the final loss.
    """
    if derivation.loss is None:
        return None
    loss = np.full(grid.shape, float(derivation.final_loss.to_fraction()))
    for _, mode in learning_modes(derivation):
        # s > 0 has d_eff > 0: the loss is bounded from below.
        d = 0.0 if mode.d_eff is None else mode.d_eff.to_float()
        gap = mode.s.to_float() / d - curves[mode.label]
        loss += 0.5 * mode.multiplicity * d * gap**2
    return loss


def _integrate(
    derivation: Derivation, flow: ReducedFlow, grid: np.ndarray, relative_tolerance: float
) -> tuple[np.ndarray, dict]:
    labels, probes = mode_probes(derivation)
    whole = _from_zero(grid)
    trajectory = flow.trajectory(whole, probes, relative_tolerance=relative_tolerance)
    first = len(whole) - len(grid)
    (strengths,) = trajectory.strengths
    return trajectory.losses[first:], dict(zip(labels, strengths[:, first:], strict=True))


def _check_step_size(derivation: Derivation, rate: float) -> None:
    """Refuse to predict training that cannot converge.

    Near its plateau the slowest-to-stabilise mode contracts by 1 − rate a step of gradient
    descent, which diverges above a rate of 2; the flow would need as many integration steps as
    the rate is too large, to no purpose.
    """
    network = network_of(derivation.spec)
    if not rate < STABLE_RATE:
        bound = float(network.learning_rate) * STABLE_RATE / rate if np.isfinite(rate) else 0.0
        advice = f"below {bound:.2g}" if bound > 0 else "or scale the data"
        msg = (
            f"network.learning_rate: {float(network.learning_rate):.4g} makes gradient descent "
            f"diverge on these data (a mode relaxes by {rate:.3g} a step, 2 is the limit). "
            f"Lower it {advice}"
        )
        raise InputError(msg)


def _integrate_modes(derivation: Derivation, grid: np.ndarray) -> tuple[np.ndarray, dict]:
    system = mode_system(derivation.stages[0])
    whole = _from_zero(grid)
    start = np.full(len(system.s), float(derivation.strength0 or 0))
    found = integrate_modes(system.s, system.kappa, start, whole, float(derivation.tau or 1))
    strengths = found[:, len(whole) - len(grid) :]
    loss = system.loss(float(derivation.initial_loss.to_fraction()), strengths)
    return loss, dict(zip(system.labels, strengths, strict=True))


def _from_zero(grid: np.ndarray) -> np.ndarray:
    """Prepend t = 0, where the flow starts also when the first time asked for is later."""
    return grid if grid[0] == 0 else np.concatenate([[0.0], grid])


def probe_bases(pathway: PathwayDerivation) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return (U, V, label of every column) of the modes of a pathway that learn something."""
    sigma_yx = pathway.effective.sigma_yx.to_numpy()
    columns_u = [np.zeros((sigma_yx.shape[0], 0))]
    columns_v = [np.zeros((sigma_yx.shape[1], 0))]
    labels: list[str] = []
    for mode, (s, _, v) in zip(pathway.modes, pathway.spectrum.numpy_modes(), strict=True):
        if not mode.is_null:
            columns_u.append(sigma_yx @ v / s)
            columns_v.append(v)
            labels += [mode.label] * v.shape[1]
    return np.hstack(columns_u), np.hstack(columns_v), labels


def overlap_matrices(
    target: PathwayDerivation, source: PathwayDerivation
) -> tuple[np.ndarray, np.ndarray]:
    """Return K = U_pᵀ O_p O_j U_j and G = V_jᵀ Sigma^x(j,p) V_p of the modes with s > 0.

    Shapes (modes of p, modes of j) and (modes of j, modes of p), degenerate modes one by one.
    """
    u_target, v_target, _ = probe_bases(target)
    u_source, v_source, _ = probe_bases(source)
    cross = source.effective.cross_sigma_x(target.effective).to_numpy()
    # The columns of U_p and U_j vanish outside O_p and O_j: the masks are in them already.
    return u_target.T @ u_source, v_source.T @ cross @ v_target


def _mode_curves(
    derivation: Derivation, closed: dict[str, np.ndarray], integrated: dict[str, np.ndarray]
) -> tuple[ModeCurve, ...]:
    curves = []
    for pathway, mode in learning_modes(derivation):
        d = None if mode.d_eff is None else mode.d_eff.to_float()
        curves.append(
            ModeCurve(
                pathway=pathway.name,
                label=mode.label,
                closed=closed.get(mode.label),
                integrated=integrated.get(mode.label),
                plateau=mode.s.to_float() / d if d else None,
                multiplicity=mode.multiplicity,
            )
        )
    return tuple(curves)


def enclose(
    derivation: Derivation, times: Sequence[int | Fraction], digits: int
) -> dict[str, tuple[arb, ...]]:
    """Return certified balls of every closed-form strength; see Derivation.enclose.

    The working precision is raised until every ball has the digits asked for.

    Raises:
        InputError: The times are no sequence of exact numbers from 0 on, or the digits no
            positive whole number.
    """
    from symreln.exact.enclosure import ball, precision

    network_of(derivation.spec)
    times = _exact_times(times)
    if not isinstance(digits, int) or digits < 1:
        msg = f"digits: found {digits!r}; give a positive whole number"
        raise InputError(msg)
    values = derivation.spec.values
    tau, start = derivation.tau or Fraction(1), derivation.strength0 or Fraction(0)
    wanted = digits * BITS_PER_DIGIT
    bits = int(wanted) + 40
    while True:
        with precision(bits):
            result = {
                mode.label: tuple(
                    strength_ball(s, d, ball(start), ball(Fraction(time)), ball(tau))
                    for time in times
                )
                for _, mode in learning_modes(derivation)
                for s, d in [_mode_balls(mode, values, bits)]
            }
            balls = [ball for curve in result.values() for ball in curve]
            if all(found.rel_accuracy_bits() >= wanted for found in balls):
                return result
        bits *= 2


def _exact_times(times: Sequence[int | Fraction]) -> list[Fraction]:
    needed = "give a sequence of exact steps from 0 on, for example [0, 100, Fraction(1, 3)]"
    if isinstance(times, str):
        msg = f"times: found a text; {needed}"
        raise InputError(msg)
    try:
        found = [Fraction(time) for time in times]
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        msg = f"times: found {times!r}; {needed}"
        raise InputError(msg) from error
    if any(time < 0 for time in found):
        msg = f"times: found {min(found)}; {needed}"
        raise InputError(msg)
    return found


def _mode_balls(mode: ModeDerivation, values: dict[str, Fraction], bits: int) -> tuple[arb, arb]:
    from symreln.exact.enclosure import ball

    if mode.d_eff is None:
        msg = f"mode {mode.label} has no closed form to enclose"
        raise InputError(msg)
    # A singular value that vanishes at these values must be exactly 0 to select its case; a ball
    # around 0 would never get sharp enough.
    vanishes = mode.s.sign(values) == 0
    return (ball(0) if vanishes else mode.s.ball(values, bits)), mode.d_eff.ball(values, bits)
