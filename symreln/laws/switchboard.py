"""Which solution family a mode takes, and why the earlier ones do not fit.

Families are asked in order; the first that matches solves. Each answers with its reason, so that
the choice can be followed line by line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.errors import NoClosedFormError, NotSupportedError
from symreln.laws import (
    decaying_imbalance,
    deep,
    deep_numbers,
    descent,
    initial,
    lambda_balanced,
    odd_relu,
    shallow,
    two_layer,
    unbalanced,
    weight_decay,
)

if TYPE_CHECKING:
    import numpy as np
    from flint import arb

    from symreln.laws.common import AbstractMode
    from symreln.spec.model import NetworkSpec, Spec

#: Families whose modes start at strength 0 in expectation, see :func:`expected_start`.
STARTS_AT_ZERO = (shallow.NAME, unbalanced.NAME, decaying_imbalance.NAME)

_WEIGHTS = (
    "random weights are balanced in the mean only; from weights that are, and white inputs, "
    "from_weights(derivation, w1, w2) solves the whole matrices"
)
_FLOW = "steps of gradient descent are asked for, and the family is of the flow"


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of a mode before it is solved.

    Attributes:
        decoupled: Whether it is proven to evolve on its own.
        layers: Layers of weights of its pathway.
        balanced: Whether its layers start with equal amplitudes.
        weight_decay: λ of the penalty ½ λ Σ ‖W‖², in units of the mean loss.
        discrete: Whether steps of gradient descent are asked for rather than the flow.
        half_speed: Whether its ReLU network is linear at half speed, and why or why not
            (:func:`symreln.laws.odd_relu.asked`).
    """

    decoupled: bool
    layers: int = 2
    balanced: bool = True
    weight_decay: Fraction = Fraction(0)
    discrete: bool = False
    half_speed: tuple[bool, str] = (False, "the data were not looked at")

    @classmethod
    def of_spec(cls, spec: Spec, *, decoupled: bool) -> Known:
        """Return what a spec says of its modes."""
        known = cls.of(spec.network, decoupled=decoupled)
        return replace(known, half_speed=odd_relu.asked(spec))

    @classmethod
    def of(cls, network: NetworkSpec | None, *, decoupled: bool) -> Known:
        """Return what a spec's [network] says; without one, two balanced layers."""
        if network is None:
            return cls(decoupled=decoupled)
        return cls(
            decoupled=decoupled,
            layers=network.layers,
            balanced=network.init_std_out is None,
            weight_decay=network.weight_decay,
        )

    @property
    def linear(self) -> Known:
        """The mode of the linear network that a ReLU network at half speed is."""
        return replace(
            self,
            weight_decay=self.weight_decay * odd_relu.SLOWER,
            half_speed=(False, "this is the linear network that the ReLU network is"),
        )


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A family, or none.

    Attributes:
        name: Name of the family, or None where no family solves the mode.
        why: Why it does, or why the last one that was asked does not.
        passed_over: (name, why not) of every family that was asked before.
        equations: The family whose equations hold, with another time constant where it is not
            ``name`` itself.
    """

    name: str | None
    why: str
    passed_over: tuple[tuple[str, str], ...]
    equations: str | None = None

    def lines(self) -> tuple[str, ...]:
        """Return one line a family: those passed over, then the one taken."""
        lines = [f"not {name}: {why}" for name, why in self.passed_over]
        return (*lines, f"{self.name}: {self.why}") if self.name else tuple(lines)


def choose(known: Known) -> Choice:
    """Ask the families in order and return the first that matches."""
    passed: list[tuple[str, str]] = []
    for name, matches in _families(known).items():
        found, why = matches()
        if found and known.discrete and name != descent.NAME:
            found, why = False, _FLOW
        if found and name == odd_relu.NAME:
            return _at_half_speed(known, why)
        if found:
            return Choice(name=name, why=why, passed_over=tuple(passed), equations=name)
        passed.append((name, why))
    return Choice(name=None, why=passed[-1][1], passed_over=tuple(passed))


def _at_half_speed(known: Known, why: str) -> Choice:
    linear = choose(known.linear)
    if linear.name is None:
        return linear
    return Choice(
        name=odd_relu.NAME,
        why=f"{why}; its equations, of twice the time constant, are {linear.name}: {linear.why}",
        passed_over=(),
        equations=linear.name,
    )


def _families(known: Known) -> dict[str, Callable[[], tuple[bool, str]]]:
    common: dict[str, Any] = {
        "layers": known.layers,
        "decoupled": known.decoupled,
        "weight_decay": known.weight_decay != 0,
    }
    start = {**common, "balanced": known.balanced}
    return {
        odd_relu.NAME: lambda: known.half_speed,
        lambda_balanced.NAME: lambda: (False, _WEIGHTS),
        shallow.NAME: partial(shallow.matches, **common),
        two_layer.NAME: partial(two_layer.matches, **start),
        unbalanced.NAME: partial(unbalanced.matches, **start),
        weight_decay.NAME: partial(weight_decay.matches, **start),
        decaying_imbalance.NAME: partial(decaying_imbalance.matches, **start),
        deep.NAME: partial(deep.matches, **start),
        descent.NAME: partial(descent.matches, **start, discrete=known.discrete),
    }


def solve(
    name: str,
    known: Known,
    s: sp.Expr,
    d: sp.Expr,
    *,
    height: sp.Expr | None = None,
    **context: Any,
) -> AbstractMode:
    """Return the trajectory of a mode with the given s and d (or d_eff).

    Args:
        name: A family of gradient flow, from :func:`choose`.
        known: What the choice was made from.
        s: Singular value.
        d: Input eigenvalue.
        height: s/d in a shorter form, where it is known.
        context: ``strength0``, ``imbalance``, ``t`` and ``tau``, where they are not symbols.

    Raises:
        NotSupportedError: The family has no trajectory in continuous time.
    """
    if name == odd_relu.NAME:
        equations = choose(known).equations or ""
        return solve(equations, known.linear, s, d, height=height, **context)
    penalty = sp.Rational(known.weight_decay)
    if name == two_layer.NAME:
        return two_layer.solve(s, d, height=height, **context)
    kinds: dict[str, Callable[..., AbstractMode]] = {
        shallow.NAME: shallow.ShallowMode,
        unbalanced.NAME: unbalanced.UnbalancedMode,
        weight_decay.NAME: partial(weight_decay.DecayingMode, weight_decay=penalty),
        decaying_imbalance.NAME: partial(
            decaying_imbalance.DecayingImbalanceMode, weight_decay=penalty
        ),
        deep.NAME: partial(deep.DeepMode, layers=sp.Integer(known.layers)),
    }
    if name not in kinds:
        msg = f"{name} has no trajectory in continuous time; iterate its map"
        raise NotSupportedError(msg)
    return kinds[name](s=s, d=d, **context)


@dataclass(frozen=True, kw_only=True)
class Start:
    """Where the modes of a network start, in expectation.

    Attributes:
        strength0: Initial strength; for balanced layers that of the growing combination.
        imbalance: c of the unbalanced families, 0 for the others.
    """

    strength0: Fraction
    imbalance: Fraction = Fraction(0)


def expected_start(network: NetworkSpec) -> Start:
    r"""Return where a network's modes start.

    A mode's amplitudes are vectors a, b over the hidden units, with
    :math:`\dot a = b(s - d\pi)`, :math:`\dot b = a(s - d\pi)`, π = a·b. So a + b grows as a − b
    shrinks, :math:`|a + b||a - b|` is conserved, and
    :math:`(|a|^2 + |b|^2)^2 = 4\pi^2 + c^2` with c that product: the unbalanced equation, whatever
    the two laws. For independent entries π starts at 0 on average and c at units·(σ₁² + σ₂²), each
    with relative fluctuations of order 1/sqrt(units).

    Raises:
        NotSupportedError: The layers are more than two: see :mod:`symreln.laws.chain_start`.
    """
    if network.layers == 1:
        return Start(strength0=Fraction(0))
    if network.layers > 2:
        msg = (
            f"network.layers = {network.layers}: the initial strength of a product of that many "
            "random matrices is no formula; symreln validate follows single modes for it, and the "
            "closed forms hold for any strength0: derivation.enclose(times, strength0=…) takes one"
        )
        raise NotSupportedError(msg)
    if network.init_std_out is None:
        return Start(strength0=initial.initial_strength(network))
    squares = network.init_std**2 + network.init_std_out**2
    return Start(strength0=Fraction(0), imbalance=initial.pathway_units(network) * squares)


def strengths_float(
    network: NetworkSpec,
    s: np.ndarray,
    d: np.ndarray,
    times: np.ndarray,
    tau: float,
    start: Start | None = None,
) -> np.ndarray:
    """Evaluate decoupled modes of a network in float64.

    Args:
        network: It says which family.
        s: Singular values, shape (modes, 1).
        d: Input eigenvalues, shape (modes, 1).
        times: Times in steps, shape (times,).
        tau: Time constant in steps.
        start: Where every mode starts; by default where it is expected to.

    Returns:
        Shape (modes, times).

    Raises:
        NotSupportedError: There is no expected start, and none is given.
    """
    name, start = _named(network), start or expected_start(network)
    p0, c, penalty = map(float, (start.strength0, start.imbalance, network.weight_decay))
    if name == shallow.NAME:
        return shallow.strength_float(s, d, s * 0 + p0, times, tau)
    if name == unbalanced.NAME:
        return unbalanced.strength_float(s, d, s * 0 + c, s * 0 + p0, times, tau)
    if name == weight_decay.NAME:
        return weight_decay.strength_float(s - penalty, d, s * 0 + p0, times, tau)
    if name == decaying_imbalance.NAME:
        scales = (s * 0 + penalty, s * 0 + c, s * 0 + p0)
        return decaying_imbalance.strength_float(s, d, *scales, times, tau)
    if name == deep.NAME:
        return deep_numbers.strength_float(network.layers, s, d, s * 0 + p0, times, tau)
    return two_layer.strength_float(s, d, s * 0 + p0, times, tau)


def strength_balls(
    network: NetworkSpec, s: arb, d: arb, times: Sequence[arb], tau: arb, start: Start | None = None
) -> tuple[arb, ...]:
    """Evaluate a decoupled mode of a network in certified balls, at Arb's working precision.

    Args:
        network: It says which family.
        s: Singular value.
        d: Input eigenvalue.
        times: Times in steps.
        tau: Time constant in steps.
        start: Where the mode starts; by default where it is expected to.

    Raises:
        NotSupportedError: There is no expected start, and none is given.
        LimitReachedError: The precision is too low.
    """
    from symreln.exact.enclosure import ball
    from symreln.laws import decaying_balls, deep_balls

    name, start = _named(network), start or expected_start(network)
    p0, c, penalty = map(ball, (start.strength0, start.imbalance, network.weight_decay))
    if name == shallow.NAME:
        return tuple(shallow.strength_ball(s, d, p0, t, tau) for t in times)
    if name == unbalanced.NAME:
        return unbalanced.strength_balls(s, d, c, p0, times, tau)
    if name == weight_decay.NAME:
        return tuple(weight_decay.strength_ball(s - penalty, d, p0, t, tau) for t in times)
    if name == decaying_imbalance.NAME:
        return decaying_balls.strength_balls(s, d, penalty, c, p0, times, tau)
    if name == deep.NAME:
        return deep_balls.strength_balls(network.layers, s, d, p0, times, tau)
    return tuple(two_layer.strength_ball(s, d, p0, t, tau) for t in times)


def _named(network: NetworkSpec) -> str:
    choice = choose(Known.of(network, decoupled=True))
    if choice.name is None:
        msg = f"no closed form: {choice.why}"
        raise NoClosedFormError(msg)
    return choice.name
