r"""The law of gates: which share of a pathway's units still has its gate, to first order.

While a hidden unit (w, b) has a pathway's gate it moves linearly, driven as the pathway's modes
(s, u, v) are. With θ of each mode, by which amplitudes turn into each other
(:meth:`symreln.laws.law.Law.angles`),

.. math:: v^T w(t) = \cosh\theta\; v^T w(0) + \sinh\theta\; u^T b(0), \qquad
          u^T b(t) = \cosh\theta\; u^T b(0) + \sinh\theta\; v^T w(0),

and everything else stands still. Initial weights are Gaussian of variances σ₁² and σ₂², so the
pre-activations of the pathway's units at time t are Gaussian with the covariance

.. math:: K(t) = X^T [\sigma_1^2 I + (\sigma_1^2 + \sigma_2^2) V \sinh^2\theta(t)\, V^T] X.

Units are the pathway's that are so early on: whose part along the leading modes, which grow first,
opens its gate. The share of weight with the gate at time t is the mean of ‖w‖‖b‖ over an orthant of
K(t), given that: over seeded draws of the initial weights, with its standard error. Nothing is
trained, and nothing is simulated: a draw at one time does not depend on other times.

Where modes have no closed forms, units move as the matrix Φ(t) of
:meth:`symreln.laws.coupled_matrices.CoupledMatrices.propagators` says, in place of θ.

To first order: units that have left change the drive of no other, and move on as if they had not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
import sympy as sp

from symreln.base.processors import one_blas_thread
from symreln.base.records import record
from symreln.document.mathtext import slashed_latex, to_latex
from symreln.laws.flow_letters import decay_is_gradient, units_follow_layers
from symreln.laws.law import STRENGTH, STRENGTH0, TIME, TIME_CONSTANT, Law
from symreln.laws.line import CANCELS, Line, vanish

#: Units that are drawn: the standard error of a share is then below 0.5 %.
_DRAWN = 10_000
#: Fewest that are, where samples are many; and products of entries that all of them may take.
_FEWEST, _MOST_PRODUCTS = 1_000, 2e9
#: Cosine between a direction and a sample below which it does not decide the sample's gate.
_EDGE = 1e-9
#: Units that are drawn at once.
_CHUNK = 2_000

_X0, _Y0, _THETA = sp.symbols("x_0 y_0 theta", real=True)
_FIRST, _LAST = sp.symbols("sigma_1 sigma_2", positive=True)
#: v·w and u·b of a mode.
_SEEN = _X0 * sp.cosh(_THETA) + _Y0 * sp.sinh(_THETA)
_WRITTEN = _Y0 * sp.cosh(_THETA) + _X0 * sp.sinh(_THETA)


@record(eq=False)
class LinearUnits:
    """Hidden units of one pathway, which move linearly.

    A motion is θ of every mode, shape (modes,), or Φ on (Vᵀw, Uᵀb), shape (size, size); motions are
    those at several times, along a last axis.

    Attributes:
        samples: X of the pathway's inputs, all samples, shape (inputs, P).
        gate: Whether it is open, shape (P,).
        tells: Which samples tell gates apart, shape (P,).
        inputs: V of the modes that learn, shape (inputs, modes), the leading ones first; of Φ, of
            all that moves.
        outputs: U, shape (outputs, modes), likewise.
        leading: How many modes lead.
        scales: σ₁ and σ₂, up to a common factor.
    """

    samples: np.ndarray
    gate: np.ndarray
    tells: np.ndarray
    inputs: np.ndarray
    outputs: np.ndarray
    leading: int
    scales: tuple[float, float]

    @cached_property
    def signed(self) -> np.ndarray:
        """The samples that tell gates apart, turned so that the gate is where w·x > 0."""
        return (self.samples * np.where(self.gate, 1.0, -1.0))[:, self.tells]

    @cached_property
    def read(self) -> np.ndarray:
        """What every mode is of these samples, shape (modes, telling)."""
        return self.inputs.T @ self.signed

    @one_blas_thread()
    def shares(
        self, motions: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the share of ‖w‖‖b‖ with the gate and its standard error, both of shape (T,).

        None where no unit has the gate.

        Args:
            motions: At these, shape (modes, T) or (size, size, T).
            rng: Seed of the draws.
        """
        drawn = self._drawn(motions.shape[-1], rng)
        if not len(drawn.seen):
            return None
        share, error = np.array([*self._shares(drawn, motions)]).T
        return share, error

    def _shares(self, drawn: _DrawnUnits, motions: np.ndarray) -> Iterator[tuple[float, float]]:
        """Yield by time the share of ‖w‖‖b‖ whose gate is the pathway's, and its error.

        No unit gains or loses the gate before w has turned, since it was last looked at, as far as
        to the plane of a sample: the nearest one or, without the gate, that which it misses most.
        """
        lengths = np.linalg.norm(self.signed, axis=0)
        places = drawn.seen.T.copy()
        squares, margins = np.full((2, len(drawn.seen)), np.inf)
        for motion in np.moveaxis(motions, -1, 0):
            seen, first, last = drawn.moved(motion)
            first, last = first + drawn.beside, last + drawn.outside
            across = _dot(seen, places) + drawn.beside
            # ‖w‖² ‖w'‖² sin² of the angle between them; no rounding takes it below what it is.
            turned = (1 + _EDGE) * first * squares - across**2
            (far,) = np.nonzero(~((across > 0) & (turned < margins**2 * first)))
            places[:, far], squares[far] = seen[:, far], first[far]
            every = (drawn.still[far] + seen[:, far].T @ self.read) / lengths
            margins[far] = every.min(axis=1, initial=np.inf)
            weight, kept = np.sqrt(first * last), margins > 0
            total = weight.sum()
            share = (weight * kept).sum() / total
            yield share, np.sqrt((weight**2 * (kept - share) ** 2).sum()) / total

    def _drawn(self, times: int, rng: np.random.Generator) -> _DrawnUnits:
        """Return those of some units that take the gate early on: as many as so many times allow.

        Args:
            times: At how many shares are found.
            rng: Seed of the draws.
        """
        count = int(min(_DRAWN, max(_FEWEST, _MOST_PRODUCTS / (times * self.samples.size))))
        parts = [
            self._early(_DrawnUnits.of(self, min(_CHUNK, count - begin), rng))
            for begin in range(0, count, _CHUNK)
        ]
        arrays = zip(*(vars(part).values() for part in parts), strict=True)
        return _DrawnUnits(*map(np.concatenate, arrays))

    def _early(self, units: _DrawnUnits) -> _DrawnUnits:
        """Return the units that take the gate early on, those turned around that then do."""
        lead = units.seen[:, : self.leading] + units.written[:, : self.leading]
        early = lead @ (self.inputs[:, : self.leading].T @ self.signed)
        size = np.linalg.norm(lead, axis=1)[:, None] * np.linalg.norm(self.signed, axis=0)
        sides = [(side * early > -_EDGE * size).all(axis=1) for side in (1, -1)]
        sign = np.where(sides[0], 1.0, -1.0)[:, None]
        turned = sign * units.seen, sign * units.written, sign * units.still
        found = sides[0] | sides[1]
        return _DrawnUnits(*(each[found] for each in (*turned, units.beside, units.outside)))


@record(kw_only=False, eq=False)
class _DrawnUnits:
    """Initial weights of units.

    Attributes:
        seen: Vᵀw(0), shape (units, modes).
        written: Uᵀb(0), likewise.
        still: What w has beside V sees on the telling samples, shape (units, telling).
        beside: ‖w‖² beside V, shape (units,).
        outside: ‖b‖² beside U, shape (units,).
    """

    seen: np.ndarray
    written: np.ndarray
    still: np.ndarray
    beside: np.ndarray
    outside: np.ndarray

    @classmethod
    def of(cls, units: LinearUnits, count: int, rng: np.random.Generator) -> _DrawnUnits:
        """Draw some units of a pathway, whichever gates they take."""
        first, last = units.scales
        # Entries of w and b themselves: a basis of equal modes depends on the machine.
        first_layer = first * rng.standard_normal((count, len(units.inputs)))
        last_layer = last * rng.standard_normal((count, len(units.outputs)))
        seen, written = first_layer @ units.inputs, last_layer @ units.outputs
        rest = first_layer - seen @ units.inputs.T
        outside = np.maximum(_squares(last_layer) - _squares(written), 0.0)
        return cls(seen, written, rest @ units.signed, _squares(rest), outside)

    @cached_property
    def by_modes(self) -> np.ndarray:
        """Initial Vᵀw above Uᵀb, shape (rows, units), so that sums over modes are fast."""
        return np.ascontiguousarray(np.hstack([self.seen, self.written]).T)

    @cached_property
    def apart(self) -> np.ndarray:
        """‖Uᵀb‖² − ‖Vᵀw‖², which angles conserve: cosh² − sinh² = 1."""
        return _squares(self.written) - _squares(self.seen)

    def moved(self, motion: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return Vᵀw, shape (modes, units), ‖Vᵀw‖² and ‖Uᵀb‖², shape (units,), after a motion."""
        seen, written = np.split(self.by_modes, [self.seen.shape[1]])
        if motion.ndim == 1:
            now = np.cosh(motion)[:, None] * seen + np.sinh(motion)[:, None] * written
            square = _dot(now, now)
            return now, square, np.maximum(square + self.apart, 0.0)  # 0 where rounding is below
        now, written = np.split(motion @ self.by_modes, [len(seen)])
        return now, _dot(now, now), _dot(written, written)


def _squares(rows: np.ndarray) -> np.ndarray:
    return np.einsum("um,um->u", rows, rows)


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.einsum("mu,mu->u", one, other)


def turning_lines(laws: Iterable[Law], *, decays: bool) -> Iterator[Line]:
    """Yield how units of a pathway with closed modes move, and what K is.

    Args:
        laws: Of its modes, one of each kind.
        decays: Whether there is weight decay.
    """
    yield _driven(decays=decays)
    yield Line(
        says="Along a mode, $w$ and $b$ are driven by what the mode has not learned yet. With the "
        r"closed form $\pi_\alpha(t)$ of its strength, whose $\pi_0$ counts the units that "
        "turn to the pathway early on,",
        equation=(
            r"v_\alpha^{\top} w(t) = v_\alpha^{\top} w(0) \cosh\theta_\alpha + u_\alpha^{\top} "
            r"b(0) \sinh\theta_\alpha, \qquad \tau \dot{\theta}_\alpha = s_\alpha - d_\alpha "
            r"\pi_\alpha, \quad \theta_\alpha(0) = 0,",
        ),
        because=r"$v_\alpha^{\top} E_p^{\top} b = (s_\alpha - d_\alpha \pi_\alpha)\, "
        r"u_\alpha^{\top} b$, and likewise for $b$",
        check=r"differentiated by $\theta$ each is the other, and at $\theta = 0$ the start; "
        + CANCELS,
        holds=vanish(
            _SEEN.diff(_THETA) - _WRITTEN,
            _WRITTEN.diff(_THETA) - _SEEN,
            _SEEN.subs(_THETA, 0) - _X0,
            _WRITTEN.subs(_THETA, 0) - _Y0,
        ),
        main=True,
    )
    for law in laws:
        yield _angle(law)
    yield _covariance()


def _driven(*, decays: bool) -> Line:
    """Say by what a unit is driven."""
    less = [rf" - \lambda {letter}" * decays for letter in "wb"]
    return Line(
        says="A hidden unit with weights $w$ from the inputs and $b$ to the outputs moves "
        "linearly as long as it has its pathway's gate:",
        equation=(
            rf"\tau \dot{{w}} = E_p^{{\top}} b{less[0]}, \qquad \tau \dot{{b}} = E_p w{less[1]}",
        ),
        because="a row of the first and a column of the second layer's flow"
        + ". Weight decay multiplies all weights by one factor, which no share sees: it is left "
        "out below" * decays,
        check="the flow of both layers, times a unit vector of the hidden layer"
        + ", and the penalty's gradient" * decays
        + "; in letters, for matrices of every size",
        holds=units_follow_layers() and (not decays or decay_is_gradient()),
        main=True,
    )


def _angle(law: Law) -> Line:
    """Say what θ is by the strength, of a law in symbols."""
    flow, steps = replace(law, stepwise=False), replace(law, stepwise=True)
    angle, counted = (each.angle(STRENGTH, STRENGTH0, TIME) for each in (flow, steps))
    slope = angle.diff(STRENGTH) * law.rate + TIME_CONSTANT * angle.diff(TIME)
    clock = ""
    if angle.has(TIME):
        shares = (slashed_latex(each.fades) for each in (steps, flow))
        clock = "; in steps of gradient descent ${}$ stands for ${}$".format(*shares)
    return Line(
        says=f"The angle follows from the strength{clock}:",
        equation=(rf"\theta(t) = {to_latex(angle)}",),
        because="the mode equation divides out of the drive",
        check=r"its slope by $\pi$ times $\tau \dot{\pi}$, and by $t$, is $s - d\, \pi$; at the "
        f"start it is 0; {CANCELS}",
        holds=vanish(
            slope - (law.s - law.d * STRENGTH),
            angle.subs({STRENGTH: STRENGTH0, TIME: 0}),
            counted - angle - TIME * (steps.fades - flow.fades),
            sp.exp(-steps.fades) - (1 - flow.fades),  # what a step leaves of all weights
        ),
        main=True,
    )


def _covariance() -> Line:
    """Say what K is by θ."""
    terms = sp.Poly(sp.expand(_SEEN**2), _X0, _Y0)
    seen = terms.coeff_monomial(_X0**2) * _FIRST**2 + terms.coeff_monomial(_Y0**2) * _LAST**2
    grown = seen - _FIRST**2  # beside the units' own start, along every mode
    expected = (_FIRST**2 + _LAST**2) * sp.sinh(_THETA) ** 2
    return Line(
        says="Initial weights are Gaussian, so the pre-activations $X^{\\top} w$ of the pathway's "
        r"units are Gaussian at all times. The columns of $V$ are the $v_\alpha$, $\theta$ is "
        r"diagonal; entries of $w(0)$ and $b(0)$ have the variances $\sigma_1^2$ and $\sigma_2^2$. "
        "Their covariance is",
        equation=(
            r"K(t) = X^{\top} \left(\sigma_1^2 I + (\sigma_1^2 + \sigma_2^2)\, V "
            r"\sinh^2\theta(t)\, V^{\top}\right) X",
        ),
        because=r"entries of $w(0)$ and $b(0)$ are independent in every orthonormal basis",
        check=f"the mean of the square of each part, multiplied out, along a mode; {CANCELS}",
        holds=vanish(sp.expand((grown - expected).rewrite(sp.exp))),
        main=True,
    )


def moving_lines(*, decays: bool) -> Iterator[Line]:
    """Yield how units of a pathway without closed modes move; arguments as above."""
    yield _driven(decays=decays)
    yield Line(
        says="$E_p(t)$ is what all pathways leave of its correlation. Modes of the first stage "
        "have no closed forms: matrices are followed, with gradient descent's steps, for",
        equation=(
            r"\begin{pmatrix} w(t) \\ b(t) \end{pmatrix} = \Phi(t) \begin{pmatrix} w(0) \\ b(0) "
            r"\end{pmatrix}, \qquad \tau \dot{\Phi} = \begin{pmatrix} 0 & E_p^{\top} \\ E_p & 0 "
            r"\end{pmatrix} \Phi, \qquad \Phi(0) = I.",
        ),
        because="the flow of a unit is linear, and the same for all units of the pathway",
        check="the product with any start put into the line before, multiplied out",
        holds=_propagates(),
        main=True,
    )


def _propagates() -> bool:
    """Whether (w, b) = Φ (w₀, b₀) obeys a unit's equations, in two entries."""
    left = sp.Symbol("E")
    phi = sp.Matrix(2, 2, sp.symbols("f_:2:2"))
    slope = sp.Matrix([[0, left], [left, 0]]) * phi
    start = sp.Matrix(sp.symbols("w_0 b_0"))
    seen, written = phi * start
    return vanish(*(slope * start - sp.Matrix([left * written, left * seen])))


def crossings(
    times: np.ndarray, shares: np.ndarray, levels: tuple[float, ...]
) -> list[float | None]:
    """Return from which step on at most such shares of the weight have the gate; None for never.

    Units turn to the leading modes first: what is asked for is when they leave, not when they
    come; 0 where so many never have the gate.
    """
    most, found = int(np.argmax(shares[:-1])), []
    for share in levels:
        below = shares[most:-1] <= share
        place = most + int(np.argmax(below))
        if place == most:
            found.append(0.0 if below.any() else None)
            continue
        between = [place, place - 1]  # np.interp wants the shares to increase
        found.append(float(np.interp(share, shares[between], times[between])))
    return found
