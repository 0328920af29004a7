r"""Coupled matrices: the reduction that holds whether or not anything diagonalises.

With :math:`W1_p = R B1_p V_p^T`, :math:`W2_p = U_p B2_p R^T` the flow of theory.md 2 becomes

.. math:: \tau \dot B1_p = B2_p^T E_p,\quad \tau \dot B2_p = E_p B1_p^T,\quad
          E_p = S_p - \sum_j K_{pj} B2_j B1_j G_{jp}

with K = U_pᵀ O_p O_j U_j and G = V_jᵀ Sigma^x(j,p) V_p. It is exact when V_p spans the
pathway's inputs and U_p every direction in which its error can point; both spans are built so.

Float64 only: this is the named place where a derivation's exact data become floats.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.summaries import short_repr
from symreln.laws.integrate import PRECISE, Accuracy, integrate
from symreln.laws.packing import Packing

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "coupled matrices"

#: Directions below this share of the largest singular value are float64 noise, not data. Measured
#: on the features and targets of the ready-made tasks: noise at most 2e-16, data at least 1e-2.
#: A direction of that size has s of its square, 1e-22 of the largest: no stable training of fewer
#: than 1e20 steps would learn it.
SPAN_TOLERANCE = 1e-11


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixPathway:
    """A pathway in floats.

    Attributes:
        inputs: X_p, shape (inputs of the pathway, P), closed samples zero.
        gate: 0 or 1 a sample, shape (P,).
        outputs: 1 for the outputs that the pathway writes to, else 0, shape (n_y,).
        stage: Training stage.
    """

    inputs: np.ndarray
    gate: np.ndarray
    outputs: np.ndarray
    stage: int


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixTrajectory:
    """What the integration gives.

    Attributes:
        losses: Mean loss 1/(2P) Σ‖y − ŷ‖² at every time, shape (times,).
        strengths: One array a pathway, shape (probes of the pathway, times): uᵀ W_p(t) v for
            every probe pair asked for.
    """

    losses: np.ndarray
    strengths: tuple[np.ndarray, ...]


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class CoupledMatrices:
    """The reduced flow of a gated deep linear network with one hidden layer.

    Attributes:
        pathways: The pathways.
        targets: Y, shape (n_y, P).
        staged: Whether a stage ignores the outputs of later stages (theory.md 2); otherwise all
            pathways see the whole residual.
        tau: Time constant in steps.
        gram_scale: g in E[Q Qᵀ] = g I for the initial weights of a pathway.
    """

    pathways: tuple[MatrixPathway, ...]
    targets: np.ndarray
    staged: bool
    tau: float
    gram_scale: float

    def sees(self, p: int, j: int) -> bool:
        """Whether the error of pathway p contains the output of pathway j."""
        return not self.staged or self.pathways[j].stage <= self.pathways[p].stage

    @cached_property
    def input_bases(self) -> tuple[np.ndarray, ...]:
        """V_p: orthonormal basis of the span of the pathway's inputs."""
        return tuple(orthonormal_span(pathway.inputs) for pathway in self.pathways)

    @cached_property
    def output_bases(self) -> tuple[np.ndarray, ...]:
        """U_p: spans of the targets, enlarged until no coupling leads out of them."""
        masked = [path.outputs[:, None] for path in self.pathways]
        bases = [
            orthonormal_span(mask * self.targets * path.gate)
            for mask, path in zip(masked, self.pathways, strict=True)
        ]
        grown = True
        while grown:
            grown = False
            for p, mask in enumerate(masked):
                seen = [mask * bases[j] for j in range(len(bases)) if j != p and self.sees(p, j)]
                basis = orthonormal_span(np.hstack([bases[p], *seen]))
                grown |= basis.shape[1] > bases[p].shape[1]
                bases[p] = basis
        return _shared(bases)

    @cached_property
    def _reduced(self) -> ReducedMatrices:
        return reduced_in(self, self.output_bases, self.input_bases)

    @property
    def rate(self) -> float:
        """Largest rate with which a mode relaxes to its plateau, 2 s/tau, in 1/steps."""
        return self._reduced.rate / self.tau

    def start(self) -> list[np.ndarray]:
        """Return Q_p = [B1_pᵀ; B2_p] with Q_p Q_pᵀ equal to its expectation g I.

        The flow of W2_p W1_p depends on the weights through Q_p Q_pᵀ alone (it obeys a closed
        equation, Q̇ = F Q), so a network of many units follows this start up to the relative
        fluctuation 1/sqrt(units) of its own Gram matrix.
        """
        sizes = [
            v.shape[1] + u.shape[1]
            for v, u in zip(self.input_bases, self.output_bases, strict=True)
        ]
        return [np.sqrt(self.gram_scale) * np.eye(size) for size in sizes]

    def trajectory(
        self,
        times: np.ndarray,
        probes: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
        start: Sequence[np.ndarray] | None = None,
        accuracy: Accuracy = PRECISE,
    ) -> MatrixTrajectory:
        """Integrate the flow.

        Args:
            times: Ascending times in steps; times[0] is the start.
            probes: One pair (U, V) of orthonormal columns a pathway, shapes (n_y, k) and
                (inputs of the pathway, k); the strengths uᵀ W_p v are returned.
            start: One Q_p a pathway, shape (inputs span + outputs span, any); the expected
                start by default.
            accuracy: How the flow is integrated.
        """
        reduced = self._reduced
        state = [np.array(q) for q in (start or self.start())]
        packing = Packing.of(state)
        seen = self._probes(probes)

        def rhs(_: float, flat: np.ndarray) -> np.ndarray:
            return reduced.derivative(packing.unpack(flat)) / self.tau

        losses = np.empty(len(times))
        strengths = [np.empty((u.shape[0], len(times))) for u, _ in seen]
        grid = np.asarray(times, dtype=float)
        first = packing.pack(state)
        for part, states in integrate(rhs, first, grid, self.rate, accuracy):
            for index, flat in zip(range(part.start, part.stop), states.T, strict=True):
                maps = reduced.maps(packing.unpack(flat))
                losses[index] = reduced.loss(maps)
                for p, (left, right) in enumerate(seen):
                    strengths[p][:, index] = np.einsum("kr,rc,ck->k", left, maps[p], right)
        return MatrixTrajectory(losses=losses, strengths=tuple(strengths))

    def _probes(
        self, probes: Sequence[tuple[np.ndarray, np.ndarray]] | None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the probe pairs of every pathway in reduced coordinates; none by default."""
        outputs = len(self.targets)
        nothing = [(np.zeros((outputs, 0)), np.zeros((len(p.inputs), 0))) for p in self.pathways]
        bases = self.output_bases, self.input_bases
        return [
            (u.T @ base_u, base_v.T @ v)
            for (u, v), base_u, base_v in zip(probes or nothing, *bases, strict=True)
        ]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Coupled:
    """What the error of one pathway contains: Σ_j K_j W_j G_j as one product of wide matrices."""

    partners: tuple[int, ...]
    k: tuple[np.ndarray | None, ...]
    g: np.ndarray

    def seen(self, maps: list[np.ndarray]) -> np.ndarray:
        wide = [
            maps[j] if k is None else k @ maps[j]
            for j, k in zip(self.partners, self.k, strict=True)
        ]
        return np.concatenate(wide, axis=-1) @ self.g


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class ReducedMatrices:
    """S, K, G and the data in reduced coordinates.

    Attributes:
        widths: Columns of V of every pathway.
        s: S of every pathway.
        couplings: What the errors contain.
        targets: Y in a basis of all that is written or wanted.
        lifts: U of every pathway in that basis.
        inputs: Vᵀ X of every pathway.
    """

    widths: tuple[int, ...]
    s: tuple[np.ndarray, ...]
    couplings: tuple[_Coupled, ...]
    targets: np.ndarray
    lifts: tuple[np.ndarray, ...]
    inputs: tuple[np.ndarray, ...]

    @property
    def rate(self) -> float:
        """2 s of the largest singular value: the rate at which its mode relaxes to its plateau."""
        return 2 * max((float(np.linalg.norm(s, 2)) for s in self.s if s.size), default=0.0)

    def maps(self, state: list[np.ndarray]) -> list[np.ndarray]:
        """Return W_p = B2_p B1_p of every pathway; of many networks, one after another first."""
        return [
            q[..., w:, :] @ q[..., :w, :].swapaxes(-1, -2)
            for q, w in zip(state, self.widths, strict=True)
        ]

    def stepped(
        self, state: list[np.ndarray], maps: list[np.ndarray], rate: float
    ) -> list[np.ndarray]:
        """Return Q of every pathway of many networks after a step of gradient descent.

        Args:
            state: Q of every pathway, shape (networks, size, any).
            maps: Their maps.
            rate: 1/τ with τ in steps.
        """
        moved = []
        for p, (q, width) in enumerate(zip(state, self.widths, strict=True)):
            pull = rate * (self.s[p] - self.couplings[p].seen(maps))
            first, second = q[..., :width, :], q[..., width:, :]
            steps = (pull.swapaxes(-1, -2) @ second, pull @ first)
            moved.append(q + np.concatenate(steps, axis=-2))
        return moved

    def losses(self, maps: list[np.ndarray]) -> np.ndarray:
        """Return the mean loss of maps of many networks, shape (networks,)."""
        error = self.targets - sum(
            lift @ (m @ x) for lift, m, x in zip(self.lifts, maps, self.inputs, strict=True)
        )
        return 0.5 * np.einsum("kij,kij->k", error, error) / self.targets.shape[1]

    def derivative(self, state: list[np.ndarray]) -> np.ndarray:
        """Return τ Q̇ of every pathway, one after another, flat."""
        maps = self.maps(state)
        parts = []
        for p, (q, width) in enumerate(zip(state, self.widths, strict=True)):
            error = self.s[p] - self.couplings[p].seen(maps)
            parts += [(error.T @ q[width:]).ravel(), (error @ q[:width]).ravel()]
        return np.concatenate(parts)

    def loss(self, maps: list[np.ndarray]) -> float:
        """Return the mean loss of maps W_p."""
        error = self.targets - sum(
            lift @ (m @ x) for lift, m, x in zip(self.lifts, maps, self.inputs, strict=True)
        )
        return 0.5 * float(np.vdot(error, error)) / self.targets.shape[1]


def _coupled(
    system: CoupledMatrices, u: tuple[np.ndarray, ...], inputs: list[np.ndarray], p: int
) -> _Coupled:
    mask = system.pathways[p].outputs[:, None]
    partners, ks, gs = [], [], []
    for j in range(len(u)):
        k = u[p].T @ (mask * u[j])
        g = inputs[j] @ inputs[p].T / system.targets.shape[1]
        # A pathway always sees itself, so that there is something to concatenate.
        if j == p or (system.sees(p, j) and np.any(k) and np.any(g)):
            partners.append(j)
            # U_p lies inside O_p, so with one basis for both K is the identity.
            ks.append(None if u[j] is u[p] else k)
            gs.append(g)
    return _Coupled(partners=tuple(partners), k=tuple(ks), g=np.concatenate(gs))


def _shared(bases: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Give pathways with the same span the same basis, so that their K is the identity."""
    shared: list[np.ndarray] = []
    for basis in bases:
        same = (
            known
            for known in shared
            if known.shape == basis.shape
            and np.abs(basis - known @ (known.T @ basis)).max(initial=0.0) < SPAN_TOLERANCE
        )
        shared.append(next(same, basis))
    return tuple(shared)


def reduced_in(
    system: CoupledMatrices, u: tuple[np.ndarray, ...], v: tuple[np.ndarray, ...]
) -> ReducedMatrices:
    """Return S, K, G and the data of a system in bases that hold its own spans, or more.

    Args:
        system: The system.
        u: U of every pathway, orthonormal columns, shape (n_y, any).
        v: V of every pathway, orthonormal columns, shape (inputs of the pathway, any).
    """
    samples = system.targets.shape[1]
    inputs = [base.T @ path.inputs for base, path in zip(v, system.pathways, strict=True)]
    # One basis of everything that is written or wanted, so that the loss is a plain norm.
    whole = orthonormal_span(np.hstack([system.targets, *u]))
    return ReducedMatrices(
        widths=tuple(base.shape[1] for base in v),
        s=tuple(base.T @ system.targets @ x.T / samples for base, x in zip(u, inputs, strict=True)),
        couplings=tuple(_coupled(system, u, inputs, p) for p in range(len(u))),
        targets=whole.T @ system.targets,
        lifts=tuple(whole.T @ base for base in u),
        inputs=tuple(inputs),
    )


def orthonormal_span(matrix: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the column space, shape (rows, rank)."""
    if matrix.size == 0:
        return np.zeros((matrix.shape[0], 0))
    u, s, _ = np.linalg.svd(matrix, full_matrices=False)
    return u[:, s > SPAN_TOLERANCE * max(s[0], np.finfo(float).tiny)]
