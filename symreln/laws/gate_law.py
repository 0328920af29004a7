r"""The law of gates: which share of a pathway's units still has its gate, to first order.

While a hidden unit (w, b) has a pathway's gate it moves linearly, driven as the pathway's modes
(s, u, v) are. With θ of each mode, by which amplitudes turn into each other
(:meth:`symreln.laws.law.Law.angles`),

.. math:: v^T w(t) = \cosh\theta\; v^T w(0) + \sinh\theta\; u^T b(0), \qquad
          u^T b(t) = \cosh\theta\; u^T b(0) + \sinh\theta\; v^T w(0),

and everything else stands still. Initial weights are Gaussian of variances σ₁² and σ₂², so the
pre-activations of the pathway's units at time t are Gaussian with the covariance

.. math:: K(t) = X^T [\sigma_1^2 I + (\sigma_1^2 + \sigma_2^2) V \sinh^2\theta(t)\, V^T] X,

for equal layers :math:`\sigma^2 X^T V \cosh 2\theta\, V^T X` and what is not in the span of V.
Units are the pathway's that are so early on: whose part along the leading modes, which grow first,
opens its gate. The share of them with the gate at time t is an orthant probability of K(t), given
that; the share of weight is the mean of ‖w‖‖b‖ over that orthant. At convergence K is the
similarity matrix of the hidden representation.

Orthants of one and two dimensions with one leading mode are exact (the solid angle of three
half-spaces); all others are means over seeded draws of the law, with their standard errors. Nothing
is trained, and nothing is simulated: a draw at one time does not depend on other times.

Where modes have no closed forms, units move as the matrix Φ(t) of
:meth:`symreln.laws.coupled_matrices.CoupledMatrices.propagators` says, in place of θ.

To first order: units that have left change the drive of no other, and move on as if they had not.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from symreln.base.processors import one_blas_thread
from symreln.base.records import record

#: Units that are drawn: the standard error of a share is then below 0.5 %.
_DRAWN = 10_000
#: Fewest that are, where samples are many; and products of entries that all of them may take.
_FEWEST, _MOST_PRODUCTS = 1_000, 2e9
#: Cosine between a direction and a sample below which it does not decide the sample's gate.
_EDGE = 1e-9
#: Units that are drawn at once.
_CHUNK = 2_000


@record(eq=False)
class GateShares:
    """Shares at T times of a pathway's units with its gate.

    Attributes:
        weight: Share of their weight ‖w‖‖b‖, shape (T,).
        error: Its standard error, from the draws.
        units: Share of the units themselves.
        units_error: Its standard error; zero where the share is exact.
        walls: How many samples bound the gate, 1 or 2, where shares of units are exact; else 0.
    """

    weight: np.ndarray
    error: np.ndarray
    units: np.ndarray
    units_error: np.ndarray
    walls: int

    @property
    def exact(self) -> bool:
        """Whether shares of units are."""
        return self.walls > 0


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

    def covariance(self, angles: np.ndarray, samples: np.ndarray) -> np.ndarray:
        """Return K of P samples, shape (P, P), from θ of every mode."""
        first, last = self.scales
        seen = self.inputs.T @ samples
        grown = (first**2 + last**2) * np.sinh(angles) ** 2
        return first**2 * samples.T @ samples + (seen.T * grown) @ seen

    def shares(self, motions: np.ndarray, rng: np.random.Generator) -> GateShares | None:
        """Return the shares at T times; None where no unit has the gate.

        Args:
            motions: At these, shape (modes, T) or (size, size, T).
            rng: Seed of the draws.
        """
        return self.shares_of(self.drawn(motions.shape[-1], rng), motions)

    @one_blas_thread()
    def shares_of(self, drawn: _DrawnUnits, motions: np.ndarray) -> GateShares | None:
        """Return the shares of units that are drawn already, as :meth:`shares`."""
        if not len(drawn.seen):
            return None
        share, error, units = np.array([*self._moved(drawn, motions)]).T
        walls, spread = 0, np.sqrt(units * (1 - units) / len(drawn.seen))
        if motions.ndim == 2 and self._binding is not None:
            walls, spread = self._binding.shape[1], np.zeros_like(spread)
            units = np.array([self._exact(angles) for angles in motions.T])
        return GateShares(weight=share, error=error, units=units, units_error=spread, walls=walls)

    def _moved(self, drawn: _DrawnUnits, motions: np.ndarray) -> Iterator[tuple[float, ...]]:
        """Yield by time the share of ‖w‖‖b‖ whose gate is the pathway's, its error, and of units.

        No unit gains or loses the gate before w has turned, since it was last looked at, as far as
        to the plane of a sample: of one that it misses, where it lacks the gate, and of the nearest
        one, where it has it.
        """
        lengths = np.linalg.norm(self.signed, axis=0)
        places, nearest = drawn.seen.T.copy(), np.zeros(len(drawn.seen), dtype=int)
        squares, margins = np.full((2, len(nearest)), np.inf)
        for motion in np.moveaxis(motions, -1, 0):
            seen, first, last = drawn.moved(motion)
            first, last = first + drawn.beside, last + drawn.outside
            across = _dot(seen, places) + drawn.beside
            # |w|² |w'|² sin² of the angle between them; no rounding takes it below what it is.
            turned = (1 + _EDGE) * first * squares - across**2
            (far,) = np.nonzero(~((across > 0) & (turned < margins**2 * first)))
            if len(far) and len(lengths):
                places[:, far], squares[far], near = seen[:, far], first[far], nearest[far]
                seeing = drawn.still[far, near] + _dot(seen[:, far], self.read[:, near])
                margins[far] = seeing / lengths[near]
                far = far[~(seeing < 0)]
                every = (drawn.still[far] + seen[:, far].T @ self.read) / lengths
                nearest[far], margins[far] = every.argmin(axis=1), every.min(axis=1)
            weight, kept = np.sqrt(first * last), margins > 0
            total = weight.sum()
            share = (weight * kept).sum() / total
            error = np.sqrt((weight**2 * (kept - share) ** 2).sum()) / total
            yield share, error, kept.mean()

    @one_blas_thread()
    def drawn(self, times: int, rng: np.random.Generator) -> _DrawnUnits:
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

    @cached_property
    def _binding(self) -> np.ndarray | None:
        """The half-spaces that bound the gate's, shape (inputs, 1 or 2); None where not exact."""
        signed = self.signed
        basis, sizes, _ = np.linalg.svd(signed, full_matrices=False)
        rank = int((sizes > _EDGE * sizes[0]).sum())
        if self.leading > 1 or rank > 2:
            return None
        lead = self.inputs[:, 0] * np.sign((self.inputs[:, 0] @ signed).sum())
        if rank == 1:
            return signed[:, :1]
        plane = basis[:, :2].T
        centre = plane @ lead
        along, across = centre @ (plane @ signed), _turned(centre) @ (plane @ signed)
        order = np.argsort(np.arctan2(across, along))
        return signed[:, order[[0, -1]]]

    def _exact(self, angles: np.ndarray) -> float:
        """Return the share of units by the solid angle of up to three half-spaces."""
        assert self._binding is not None  # asked before
        first, last = self.scales
        walls = self._binding / np.linalg.norm(self._binding, axis=0)
        between = self.covariance(angles, walls)
        # The early part is v·w + u·b of the leading mode, on the side that opens the gate.
        side = np.sign((self.inputs[:, 0] @ self.signed).sum())
        early = first**2 * np.cosh(angles[0]) + last**2 * np.sinh(angles[0])
        wall, own = side * (self.inputs[:, 0] @ walls) * early, first**2 + last**2
        # The rest of w is independent of the early part.
        sizes = np.sqrt(np.diag(between))
        given = np.arcsin(np.clip(wall / (sizes * np.sqrt(own)), -1, 1)).sum()
        if len(sizes) == 1:
            return float(0.5 + given / np.pi)
        pair = np.arcsin(np.clip(between[0, 1] / sizes.prod(), -1, 1))
        return float(0.25 + (given + pair) / (2 * np.pi))


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


def _turned(vector: np.ndarray) -> np.ndarray:
    return np.array([-vector[1], vector[0]])
