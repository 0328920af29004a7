"""The flow of all weights of a gated deep linear network, written out.

    τ Ẇ1_p = W2_pᵀ E_p,  τ Ẇ2_p = E_p W1_pᵀ,  E_p = O_p (Y − Σ_j ŷ_j) diag(g_p) X_pᵀ / P

Its numbers are independent of the package: sample by sample, no spectrum, no basis, no reduction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp
from scipy.sparse import csr_array

from symreln.exact.scalar import Scalar
from symreln.laws.choice import solve
from symreln.laws.coupled_matrices import GatedData
from symreln.laws.law import Regime
from symreln.laws.ops import NUMPY
from symreln.specs.spec import Spec

Weights = list[tuple[np.ndarray, np.ndarray]]

#: Two orders below the 1e-9 that the reductions are held to.
RTOL, ATOL = 1e-11, 1e-13


@dataclass(frozen=True, kw_only=True, eq=False)
class GatedNetwork:
    """Data, gates and masks in floats; ``staged``: no stage sees the outputs of later ones."""

    x: np.ndarray
    y: np.ndarray
    gates: np.ndarray
    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    stages: tuple[int, ...]
    staged: bool = False

    @classmethod
    def of(cls, spec: Spec, targets: np.ndarray | None = None, staged: bool = False):
        paths = spec.pathways
        return cls(
            x=spec.dataset.inputs.to_numpy(),
            y=spec.dataset.targets.to_numpy() if targets is None else targets,
            gates=np.array([[float(Scalar.of(g).to_fraction()) for g in p.gate] for p in paths]),
            inputs=tuple(p.inputs for p in paths),
            outputs=tuple(p.outputs for p in paths),
            stages=tuple(p.stage for p in paths),
            staged=staged,
        )

    def gated_inputs(self, p: int) -> np.ndarray:
        return self.x[list(self.inputs[p])] * self.gates[p]

    def written(self, p: int, weights: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        w1, w2 = weights
        out = np.zeros_like(self.y)
        rows = list(self.outputs[p])
        out[rows] = (w2 @ (w1 @ self.gated_inputs(p)))[rows]
        return out

    def derivative(self, weights: Weights) -> Weights:
        written = [self.written(p, pair) for p, pair in enumerate(weights)]
        result = []
        for p, (w1, w2) in enumerate(weights):
            seen = [
                out
                for j, out in enumerate(written)
                if not self.staged or self.stages[j] <= self.stages[p]
            ]
            left = np.zeros_like(self.y)
            rows = list(self.outputs[p])
            left[rows] = (self.y - sum(seen))[rows]
            error = left @ self.gated_inputs(p).T / self.y.shape[1]
            result.append((w2.T @ error, error @ w1.T))
        return result

    def loss(self, weights: Weights) -> float:
        left = self.y - sum(self.written(p, pair) for p, pair in enumerate(weights))
        return float(np.sum(left**2)) / (2 * self.y.shape[1])

    def descent(self, weights: Weights, tau: float) -> Iterator[Weights]:
        """Weights at every step of gradient descent."""
        while True:
            yield weights
            moved = zip(weights, self.derivative(weights), strict=True)
            weights = [(a + da / tau, b + db / tau) for (a, b), (da, db) in moved]

    def flow(self, start: Weights, times: np.ndarray, tau: float = 1.0) -> list[Weights]:
        """Weights at the times, from ``start`` at times[0]."""
        shapes = [w.shape for pair in start for w in pair]
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]

        def unpack(flat: np.ndarray) -> Weights:
            parts = [a.reshape(s) for a, s in zip(np.split(flat, ends), shapes, strict=True)]
            return list(zip(parts[::2], parts[1::2], strict=True))

        def rhs(_: float, flat: np.ndarray) -> np.ndarray:
            return pack(self.derivative(unpack(flat))) / tau

        # Every time is the end of a step: between steps nothing controls the error.
        found = [pack(start)]
        for begin, end in pairwise(times):
            part = solve_ivp(
                rhs, (begin, end), found[-1], method="DOP853", t_eval=[end], rtol=RTOL, atol=ATOL
            )
            assert part.success
            found.append(part.y[:, -1])
        return [unpack(flat) for flat in found]


def pack(weights: Weights) -> np.ndarray:
    return np.concatenate([w.ravel() for pair in weights for w in pair])


def gated_data(network: GatedNetwork) -> GatedData:
    """The package's form of a network's data."""
    scale = 1 / np.sqrt(network.y.shape[1])
    writes = np.zeros((len(network.gates), len(network.y)), dtype=bool)
    for p, outputs in enumerate(network.outputs):
        writes[p, list(outputs)] = True
    return GatedData(
        features=tuple(
            csr_array(scale * network.gated_inputs(p)) for p in range(len(network.gates))
        ),
        targets=csr_array(scale * network.y),
        writes=writes,
        stages=network.stages,
        staged=network.staged,
    )


def aligned_start(
    modes: Sequence[tuple[np.ndarray, np.ndarray]], strength: float, rng: np.random.Generator
) -> Weights:
    """W1 = R √π0 Vᵀ, W2 = U √π0 Rᵀ with a random orthonormal R, two hidden units to spare."""
    weights = []
    for u, v in modes:
        count = u.shape[1]
        r = np.linalg.qr(rng.standard_normal((count + 2, count)))[0]
        weights.append((np.sqrt(strength) * r @ v.T, np.sqrt(strength) * u @ r.T))
    return weights


def strengths(modes: tuple[np.ndarray, np.ndarray], pair: tuple[np.ndarray, np.ndarray]):
    """(uᵀ W2 W1 v of every mode, largest entry of W2 W1 that is on no mode)."""
    u, v = modes
    w = pair[1] @ pair[0]
    core = np.einsum("ik,ij,jk->k", u, w, v)
    return core, float(np.abs(w - (u * core) @ v.T).max())


def layers_flow(w1, w2, sigma, sigma_x, t: float, atol: float = 1e-14):
    """W1 and W2 of one pathway at a time, from its correlations, at rtol 1e-12."""

    def rhs(_, w):
        first, second = w[: w1.size].reshape(w1.shape), w[w1.size :].reshape(w2.shape)
        error = sigma - second @ first @ sigma_x
        return np.concatenate([(second.T @ error).ravel(), (error @ first.T).ravel()])

    start = np.concatenate([w1.ravel(), w2.ravel()])
    end = solve_ivp(rhs, (0, t), start, rtol=1e-12, atol=atol, method="DOP853").y[:, -1]
    return end[: w1.size].reshape(w1.shape), end[w1.size :].reshape(w2.shape)


def gram(w1, w2):
    """Q Qᵀ of Q = (W1ᵀ, W2)."""
    q = np.vstack([w1.T, w2])
    return q @ q.T


def two_layers(s, d, strength0, times, tau):
    """Return the strengths of decoupled modes in float64, broadcast over the times in steps."""
    more = {"strength0": strength0, "tau": tau}
    return solve(Regime(), np.asarray(s), np.asarray(d), ops=NUMPY, **more).strengths(times)
