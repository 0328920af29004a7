r"""Coupled matrices: the reduction that holds whether or not anything diagonalises.

With :math:`W1_p = R B1_p V_p^T`, :math:`W2_p = U_p B2_p R^T` gradient flow becomes

.. math:: \tau \dot B1_p = B2_p^T E_p,\quad \tau \dot B2_p = E_p B1_p^T,\quad
          E_p = S_p - \sum_j K_{pj} B2_j B1_j G_{jp}

with K = U_pᵀ O_p O_j U_j and G = V_jᵀ Sigma^x(j,p) V_p. It is exact when V_p spans the
pathway's inputs and U_p every direction in which its error can point; both spans are built so.
Losses and strengths are followed in as few blocks as symmetries leave
(:mod:`symreln.laws.shared_blocks`), which is exact too.

Where gates switch the weights are carried over, and the equations change: V_p and U_p then span
what the phases see and want together, so the weights in them are all that any phase can read or
move.

Features are scaled by 1/sqrt(P) with the targets, so that correlations are plain products:
Sigma^yx_p = T R_pᵀ and Sigma^x(j,p) = R_j R_pᵀ. Float64 only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from symreln.base.records import record
from symreln.errors import NotSupportedError
from symreln.laws.block_flow import BlockFlow, MatrixCoupling, Trajectory
from symreln.laws.integrate import PRECISE
from symreln.laws.shared_blocks import tie
from symreln.laws.spans import orthonormal_span

#: A scipy.sparse.csr_array; scipy ships no types.
SparseArray = Any


@record(eq=False)
class GatedData:
    """Features of every pathway and the targets, sparse.

    Attributes:
        features: X_p diag(g_p)/sqrt(P), one a pathway, shape (inputs of the pathway, P).
        targets: Y/sqrt(P), shape (n_y, P).
        writes: Whether a pathway writes to an output, shape (pathways, n_y).
        stages: Training stage of every pathway.
        staged: Whether a stage ignores the outputs of later stages.
    """

    features: tuple[SparseArray, ...]
    targets: SparseArray
    writes: np.ndarray
    stages: tuple[int, ...]
    staged: bool

    @property
    def sees(self) -> np.ndarray:
        """Whether the error of pathway p contains the output of j, shape (pathways, pathways)."""
        stages = np.array(self.stages)
        return (stages[None, :] <= stages[:, None]) | (not self.staged)


@record(eq=False)
class EqualModes:
    """Equal modes of a pathway.

    Attributes:
        pathway: Which pathway.
        u: Left singular vectors, shape (n_y, multiplicity).
        v: Right singular vectors among the pathway's inputs, shape (inputs, multiplicity).
        factor: Q Qᵀ/g along their growing directions (v, u)/√2 at the start; 1 is expected.
    """

    pathway: int
    u: np.ndarray
    v: np.ndarray
    factor: float = 1.0


@record(eq=False)
class CoupledMatrices:
    """The reduced flow of a gated deep linear network with one hidden layer.

    Attributes:
        phases: The data under the gates of every phase; phases differ in features alone.
        switches: First step of every phase but the first, ascending.
        tau: Time constant in steps.
        gram_scale: g in E[Q Qᵀ] = g I for the initial weights of a pathway.
        weight_decay: λ of λ/2 times all squared weights, added to the mean loss; for gradient
            descent alone.
    """

    phases: tuple[GatedData, ...]
    switches: tuple[int, ...] = ()
    tau: float
    gram_scale: float
    weight_decay: float = 0.0

    @cached_property
    def _features(self) -> list[tuple[np.ndarray, ...]]:
        """What every pathway sees, one entry a phase."""
        return [tuple(f.toarray() for f in phase.features) for phase in self.phases]

    @cached_property
    def _targets(self) -> np.ndarray:
        return self.phases[0].targets.toarray()

    @cached_property
    def input_bases(self) -> tuple[np.ndarray, ...]:
        """V_p: orthonormal basis of the span of the pathway's inputs in all phases."""
        return tuple(
            orthonormal_span(np.hstack(each)) for each in zip(*self._features, strict=True)
        )

    @cached_property
    def output_bases(self) -> tuple[np.ndarray, ...]:
        """U_p: spans of the targets, enlarged until no coupling leads out of them."""
        data = self.phases[0]
        masked = [writes[:, None] for writes in data.writes]
        bases = [
            orthonormal_span(mask * np.hstack([self._targets * f.any(axis=0) for f in each]))
            for mask, each in zip(masked, zip(*self._features, strict=True), strict=True)
        ]
        grown = True
        while grown:
            grown = False
            for p, mask in enumerate(masked):
                seen = [mask * basis for j, basis in enumerate(bases) if j != p and data.sees[p, j]]
                basis = orthonormal_span(np.hstack([bases[p], *seen]))
                grown |= basis.shape[1] > bases[p].shape[1]
                bases[p] = basis
        return tuple(bases)

    @cached_property
    def _whole(self) -> np.ndarray:
        """One basis of everything that is written or wanted, so that the loss is a plain norm."""
        return orthonormal_span(np.hstack([self._targets, *self.output_bases]))

    @cached_property
    def _couplings(self) -> tuple[MatrixCoupling, ...]:
        """The phases in reduced coordinates."""
        whole = self._whole
        bases = [whole.T @ basis for basis in self.output_bases]
        return tuple(
            MatrixCoupling(
                [v.T @ f for v, f in zip(self.input_bases, own, strict=True)],
                bases,
                whole.T @ self._targets,
                phase.sees,
            )
            for phase, own in zip(self.phases, self._features, strict=True)
        )

    def flow(self, grams: Sequence[np.ndarray] | None = None) -> BlockFlow:
        """Return the flow from Q_p Q_pᵀ/g of every pathway, on [V_p; U_p]; the identity by default.

        The flow of W2_p W1_p depends on the weights through Q_p Q_pᵀ alone (it obeys a closed
        equation, Q̇ = F Q), so a network of many units follows the identity up to the relative
        fluctuation 1/sqrt(units) of its own Gram matrix.
        """
        begin = self._grams(()) if grams is None else grams
        start = [self.gram_scale * gram for gram in begin]
        return BlockFlow(self._couplings, self.tau, start, self.switches)

    def trajectory(
        self,
        times: np.ndarray,
        probes: Sequence[EqualModes] = (),
        accuracy: float = PRECISE,
        starts: Sequence[EqualModes] = (),
    ) -> Trajectory:
        """Integrate the flow from the expected start.

        Args:
            times: Ascending times in steps; times[0] is the start. At a switch the new gates hold.
            probes: Modes; the mean of uᵀ W_p v over the equal ones is returned, one row a probe.
            accuracy: How the flow is integrated.
            starts: Modes that do not start as expected, each once.

        Raises:
            NotSupportedError: There is weight decay, and the flow is written without.
        """
        if self.weight_decay:
            msg = "the flow of coupled matrices is written without weight decay; use descent"
            raise NotSupportedError(msg)
        flow, lift = self._tied(starts)
        return flow.trajectory(np.asarray(times, float), self.functionals(probes) @ lift, accuracy)

    def descent(
        self,
        steps: int,
        probes: Sequence[EqualModes] = (),
        starts: Sequence[EqualModes] = (),
        factors: Mapping[int, float] | None = None,
    ) -> Trajectory:
        """Return what :meth:`trajectory` does for gradient descent with its finite steps.

        Args:
            steps: How many steps are recorded, the start among them.
            probes: As for the flow.
            starts: As for the flow.
            factors: What Q Qᵀ of whole pathways is multiplied by, where it is not 1.
        """
        flow, lift = self._tied(starts, factors)
        keep = 1 - self.weight_decay / self.tau
        return flow.descent(steps, self.functionals(probes) @ lift, keep)

    def _tied(
        self, starts: Sequence[EqualModes], factors: Mapping[int, float] | None = None
    ) -> tuple[BlockFlow, np.ndarray]:
        """Return the flow in as few blocks as there are, and all maps by these."""
        grams, (whole, *later) = self._grams(starts, factors), self._couplings
        tied = None if later else tie(whole, self._start_tuples(starts, factors or {}))
        if tied is None:
            return self.flow(grams), np.eye(whole.size)
        begin = [self.gram_scale * gram for gram in tied.starts(grams)]
        return BlockFlow([tied.coupling], self.tau, begin), tied.lift

    def _start_tuples(
        self, starts: Sequence[EqualModes], factors: Mapping[int, float]
    ) -> np.ndarray:
        """Return what the initial weights are made of beside the identity, shape (any, entries)."""
        # Pathways with equal factors may stay tied to each other, but to no others.
        whole = self._couplings[0]
        drives = whole.maps(whole.errors(np.zeros(whole.size)))
        tuples = [
            [each * (factors.get(p, 1.0) == factor) for p, each in enumerate(drives)]
            for factor in sorted({*factors.values()} - {1.0})
        ]
        for factor in sorted({start.factor for start in starts}):
            tuples.append([np.zeros(each.shape) for each in drives])
            for start in starts:
                if start.factor == factor:
                    u, v = self._coordinates(start)
                    tuples[-1][start.pathway] += u @ v.T
        flat = [np.concatenate([each.ravel() for each in maps]) for maps in tuples]
        return np.reshape(flat, (len(flat), whole.size))

    @property
    def multiplications(self) -> int:
        """How many multiplications a step of one network takes, about."""
        shapes = self._couplings[0].shapes
        outputs, samples = self._whole.shape[1], self._targets.shape[1]
        total = 0
        for rows, width in shapes:
            total += 4 * width * rows * (width + rows)
            total += rows * width * (width * len(shapes) + samples)
            total += outputs * rows * samples
        return total

    def similarities(self, steps: Sequence[int], starts: Sequence[EqualModes] = ()) -> np.ndarray:
        r"""Return the products of what the hidden layer holds of samples, by gradient descent.

        .. math:: S_{\mu\nu} = \sum_p (V_p^T x_\mu)^T B_p^T B_p (V_p^T x_\nu), \quad
                  B_p = W_{1,p} V_p,

        x under the gates of the step's phase.

        Args:
            steps: K of them, ascending.
            starts: As for the flow.

        Returns:
            Shape (K, P, P).
        """
        flow, found = self.flow(self._grams(starts)), []
        samples = self._targets.shape[1]
        for step, factors in flow.factors_at(steps):
            features = self._couplings[flow.phase(step)].features
            held = [q[: len(x)].T @ x for q, x in zip(factors, features, strict=True)]
            found.append(samples * sum(h.T @ h for h in held))
        return np.array(found)

    def propagators(
        self, pathway: int, steps: Sequence[int], starts: Sequence[EqualModes] = ()
    ) -> np.ndarray:
        """Return Q(t) Q(0)⁻¹ of a pathway, by gradient descent: (V_pᵀ w, U_pᵀ b) of its units.

        Args:
            pathway: p.
            steps: K of them, ascending.
            starts: As for the flow.

        Returns:
            Shape (K, size, size), on [V_p; U_p].
        """
        flow = self.flow(self._grams(starts))
        back = np.linalg.inv(flow.factors(flow.start())[pathway])
        return np.array([factors[pathway] @ back for _, factors in flow.factors_at(steps)])

    def residuals(self, steps: int, starts: Sequence[EqualModes] = ()) -> Iterator[np.ndarray]:
        """Yield what the pathways leave of the targets at steps 0, 1, …, shape (n_y, P).

        Args:
            steps: How many.
            starts: As for the flow.
        """
        flow = self.flow(self._grams(starts))
        whole, scale = self._whole, np.sqrt(self._targets.shape[1])
        for step, (_, maps) in enumerate(flow.descended(steps)):
            yield scale * whole @ self._couplings[flow.phase(step)].residuals(maps)[0]

    def outputs(
        self, times: np.ndarray, accuracy: float, starts: Sequence[EqualModes] = ()
    ) -> np.ndarray:
        """Return what the pathways write over the flow, shape (times, n_y, P).

        Args:
            times: As of :meth:`trajectory`.
            accuracy: Likewise.
            starts: Likewise.
        """
        flow, scale = self.flow(self._grams(starts)), np.sqrt(self._targets.shape[1])
        maps = flow.trajectory(np.asarray(times, float), np.eye(flow.size), accuracy).strengths
        left = [
            self._couplings[flow.phase(time)].residuals(maps[:, place])[0]
            for place, time in enumerate(times)
        ]
        return scale * (self._targets - self._whole @ np.array(left))

    def functionals(self, probes: Sequence[EqualModes]) -> np.ndarray:
        """Return the probes as linear functions of all maps, shape (probes, entries)."""
        first = self._couplings[0]
        found = np.zeros((len(probes), first.size))
        for row, probe in zip(found, probes, strict=True):
            u, v = self._coordinates(probe)
            first.maps(row)[probe.pathway][:] = u @ v.T / u.shape[1]
        return found

    def _coordinates(self, modes: EqualModes) -> tuple[np.ndarray, np.ndarray]:
        u = self.output_bases[modes.pathway].T @ modes.u
        return u, self.input_bases[modes.pathway].T @ modes.v

    def _grams(
        self, starts: Sequence[EqualModes], factors: Mapping[int, float] | None = None
    ) -> list[np.ndarray]:
        """Return Q Qᵀ/g of every pathway."""
        grams = [np.eye(rows + width) for rows, width in self._couplings[0].shapes]
        for start in starts:
            u, v = self._coordinates(start)
            along = np.vstack([v, u])
            grams[start.pathway] += 0.5 * (start.factor - 1) * (along @ along.T)
        return [(factors or {}).get(p, 1.0) * gram for p, gram in enumerate(grams)]
