r"""A pathway with few hidden units, averaged over the law of its initial weights.

With many units the initial Gram matrix of a pathway is its mean, and one start stands for all. With
few it scatters by as much as its size (its law is a Wishart law, of a single unit the square of a
Gaussian), some modes of one network share a unit that others do not, and the mean of the loss over
networks is not the loss of the mean. So many networks are drawn from the law, all in the mode
coordinates of the pathway,

.. math:: A = W_1 V, \quad B = U^T W_2, \quad M = B A, \quad
   A' = A + \eta B^T (S - M D), \quad B' = B + \eta (S - M D) A^T,

with S and D the diagonal matrices of s and d: gradient descent itself, by finite steps, of a
pathway that no other couples to. Inputs with s = 0 and d > 0 and outputs without a mode are in it,
since noise moves through them too. Rotations that the law does not feel make it small: outputs
without a mode, more than units, and units, more than coordinates, are turned into a triangle.

Float64, seeded. Nothing is fitted, no network is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symreln.base.summaries import short_repr

#: Eigenvalue of the inputs' correlation, relative to the largest, that counts as none.
_NOTHING = 1e-12


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class FewUnits:
    """Networks of one pathway in its mode coordinates.

    Attributes:
        s: Singular values of its modes, shape (modes,), equal ones one by one.
        d: Eigenvalues of its inputs, those of the modes first, then those with s = 0.
        silent: Outputs that no mode writes to.
        units: H.
        init_std: Standard deviation of the initial weights.
    """

    s: np.ndarray
    d: np.ndarray
    silent: int
    units: int
    init_std: float

    @classmethod
    def of(
        cls,
        s: np.ndarray,
        v: np.ndarray,
        sigma_x: np.ndarray,
        outputs: int,
        units: int,
        init_std: float,
    ) -> FewUnits:
        """Find the coordinates.

        Args:
            s: Singular values of the modes.
            v: Their input vectors, orthonormal eigenvectors of ``sigma_x``, shape (inputs, modes).
            sigma_x: Correlation of the inputs.
            outputs: How many outputs the pathway writes to.
            units: H.
            init_std: Standard deviation of the initial weights.
        """
        rest = sigma_x - (sigma_x @ v) @ v.T
        rest = rest - v @ (v.T @ rest)
        others = np.linalg.eigvalsh((rest + rest.T) / 2)
        own = np.einsum("ia,ij,ja->a", v, sigma_x, v)
        largest = max(float(own.max(initial=0.0)), float(others.max(initial=0.0)))
        return cls(
            s=s,
            d=np.concatenate([own, others[others > _NOTHING * largest]]),
            silent=outputs - len(s),
            units=units,
            init_std=init_std,
        )

    @property
    def multiplications(self) -> int:
        """How many multiplications a step of one network takes, about."""
        return 3 * self._rows * self._units * len(self.d)

    @property
    def _rows(self) -> int:
        return len(self.s) + min(self.silent, self.units)

    @property
    def _units(self) -> int:
        return min(self.units, self._rows + len(self.d))

    def drawn(self, draws: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return A and B of networks, shapes (draws, H, inputs) and (draws, outputs, H)."""
        first = random.standard_normal((draws, self.units, len(self.d)))
        second = random.standard_normal((draws, len(self.s) + self.silent, self.units))
        if self.silent > self.units:
            modes, silent = second[:, : len(self.s)], second[:, len(self.s) :]
            second = np.concatenate([modes, np.asarray(np.linalg.qr(silent, mode="r"))], axis=1)
        if self.units > self._units:
            both = np.concatenate([first, second.swapaxes(1, 2)], axis=2)
            both = np.asarray(np.linalg.qr(both, mode="r"))
            first, second = both[:, :, : len(self.d)], both[:, :, len(self.d) :].swapaxes(1, 2)
        return self.init_std * first, self.init_std * second

    def descend(
        self, draws: int, steps: int, rate: float, random: np.random.Generator
    ) -> Descended:
        """Take the steps of gradient descent.

        Args:
            draws: How many networks.
            steps: How many steps are recorded, the start among them.
            rate: 1/τ with τ in steps.
            random: Where the initial weights come from.
        """
        first, second = self.drawn(draws, random)
        modes = len(self.s)
        target = np.zeros((second.shape[1], len(self.d)))
        target[np.arange(modes), np.arange(modes)] = self.s
        losses, strengths = np.empty((draws, steps)), np.empty((modes, steps))
        maps = second @ first
        with np.errstate(over="ignore", invalid="ignore"):
            for step in range(steps):
                seen = maps * self.d
                losses[:, step] = ((0.5 * seen - target) * maps).sum(axis=(1, 2))
                strengths[:, step] = np.einsum("kaa->a", maps[:, :modes, :modes]) / draws
                if step == steps - 1:
                    break
                pull = rate * (target - seen)
                moved = second.swapaxes(1, 2) @ pull
                second = second + pull @ first.swapaxes(1, 2)
                first = first + moved
                maps = second @ first
        return Descended(losses=losses, strengths=strengths, maps=maps[:, :modes, :modes])


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class Descended:
    """What drawn networks of one pathway did.

    Attributes:
        losses: What they add to the loss of outputs that are zero, shape (draws, steps).
        strengths: uᵀ W v of every mode, mean over the networks, shape (modes, steps).
        maps: Uᵀ W V at the last step, shape (draws, modes, modes).
    """

    losses: np.ndarray
    strengths: np.ndarray
    maps: np.ndarray
