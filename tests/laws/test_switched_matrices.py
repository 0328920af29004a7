"""Gates that switch: the reduction against the weights themselves, joint and staged."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from symreln.laws.coupled_matrices import CoupledMatrices, EqualModes
from symreln.laws.gated_data import GatedData
from symreln.train.network import GatedPathway
from symreln.train.settings import TrainingSettings
from symreln.train.trainers import train_gdln
from symreln.train.weights import LayerWeights
from tests.laws.full_flow import GatedNetwork, gated_data

N_X, N_Y, P = 3, 4, 5
TAU, GRAM = 20.0, 0.03
SWITCHES = (30, 75)


class Case:
    """Random data, two pathways with overlapping gates, three phases."""

    def __init__(self, seed: int, *, staged: bool) -> None:
        random = np.random.default_rng(seed)
        self.x = random.standard_normal((N_X, P))
        self.y = random.standard_normal((N_Y, P))
        self.gates = random.integers(0, 2, (3, 2, P))
        self.gates[:, :, 0] = 1
        self.masks = np.array([[1, 1, 1, 1], [1, 1, 0, 1]])
        self.inputs = ((0, 1, 2), (0, 2))
        self.staged = staged
        self.matrices = self.of(0, 1, 2, switches=SWITCHES)

    def phase(self, gates: np.ndarray) -> GatedData:
        outputs = tuple(tuple(np.flatnonzero(mask).tolist()) for mask in self.masks)
        return gated_data(
            GatedNetwork(
                x=self.x,
                y=self.y,
                gates=gates,
                inputs=self.inputs,
                outputs=outputs,
                stages=(1, 2),
                staged=self.staged,
            )
        )

    def of(self, *phases: int, switches: tuple[int, ...] = ()) -> CoupledMatrices:
        return CoupledMatrices(
            phases=tuple(self.phase(self.gates[p]) for p in phases),
            switches=switches,
            tau=TAU,
            gram_scale=GRAM,
        )

    def weights(self) -> dict[str, LayerWeights]:
        """Weights whose Q Qᵀ is exactly g I, by an orthogonal matrix."""
        random = np.random.default_rng(99)
        found = {}
        for p, name in enumerate("ab"):
            columns, rows = len(self.inputs[p]), int(self.masks[p].sum())
            size = columns + rows
            q = np.sqrt(GRAM) * np.linalg.qr(random.standard_normal((size, size)))[0]
            found[name] = LayerWeights(w1=q[:columns].T[None], w2=q[columns:][None])
        return found

    def pathways(self, phase: int) -> list[GatedPathway]:
        return [
            GatedPathway(
                name=name,
                gate=tuple(self.gates[phase, p].astype(float)),
                inputs=self.inputs[p],
                outputs=tuple(np.nonzero(self.masks[p])[0].tolist()),
                hidden=len(self.inputs[p]) + int(self.masks[p].sum()),
                stage=p + 1,
            )
            for p, name in enumerate("ab")
        ]

    def trained(self, steps: int) -> tuple[np.ndarray, dict[str, LayerWeights]]:
        """Losses of gradient descent on the weights, phase after phase, and the last weights."""
        weights, losses = self.weights(), []
        edges = [0, *SWITCHES, steps]
        for phase, (begin, end) in enumerate(pairwise(edges)):
            settings = TrainingSettings(
                hidden=1, init_std=1.0, learning_rate=1 / TAU, loss="mean", steps=end - begin + 1
            )
            run = train_gdln(
                self.x,
                self.y,
                self.pathways(phase),
                settings,
                training="staged" if self.staged else "joint",
                initial=weights,
            )
            losses.append(run.losses[0, : end - begin])
            weights = dict(zip("ab", run.weights, strict=True))
        return np.concatenate(losses), weights


CASES = [(seed, staged) for seed in range(4) for staged in (False, True)]


@pytest.mark.parametrize(("seed", "staged"), CASES)
def test_descent_is_that_of_the_weights(seed, staged):
    case = Case(seed, staged=staged)
    losses, _ = case.trained(150)
    found = case.matrices.descent(150)
    np.testing.assert_allclose(found.losses, losses, rtol=1e-10)
    # The switches are seen: with the first gates for good the curve is another.
    still = case.of(0)
    assert np.abs(still.descent(150).losses - losses)[SWITCHES[0] :].max() > 1e-3


@pytest.mark.parametrize(("seed", "staged"), CASES[:4])
def test_strengths_are_those_of_the_weights(seed, staged):
    case = Case(seed, staged=staged)
    u = np.linalg.qr(case.y @ case.x.T)[0][:, :2]
    v = np.linalg.qr(np.random.default_rng(5).standard_normal((N_X, N_X)))[0][:, :2]
    # Directions inside the spans: those are what the reduction follows.
    u = case.matrices.output_bases[0] @ (case.matrices.output_bases[0].T @ u)
    probe = EqualModes(pathway=0, u=u, v=v)
    found = case.matrices.descent(151, [probe])
    _, weights = case.trained(150)
    maps = weights["a"].w2[0] @ weights["a"].w1[0]
    np.testing.assert_allclose(
        found.strengths[0, -1], np.mean(np.einsum("ij,ik,kj->j", u, maps, v)), rtol=1e-9
    )


@pytest.mark.parametrize(("seed", "staged"), CASES[:4])
def test_the_flow_is_that_of_the_weights(seed, staged):
    case = Case(seed, staged=staged)
    times = np.linspace(0, 140, 29)
    found = case.matrices.trajectory(times, accuracy=1e-11)
    np.testing.assert_allclose(found.losses, _integrated(case, times), rtol=1e-8)


def _integrated(case: Case, times: np.ndarray) -> np.ndarray:
    """Gradient flow on the weights themselves."""
    start = case.weights()
    shapes = [w.shape[1:] for name in "ab" for w in (start[name].w1, start[name].w2)]
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
    lift = [np.eye(N_Y)[:, np.nonzero(mask)[0]] for mask in case.masks]

    def unpack(flat):
        return [flat[a:b].reshape(s) for a, b, s in zip(ends[:-1], ends[1:], shapes, strict=True)]

    def outputs(flat, gates):
        parts = unpack(flat)
        return [
            gates[p] * (lift[p] @ parts[2 * p + 1] @ parts[2 * p] @ case.x[list(case.inputs[p])])
            for p in range(2)
        ]

    def velocity(flat, gates):
        parts, out, found = unpack(flat), outputs(flat, gates), []
        for p in range(2):
            seen = sum(out[j] for j in range(2) if not case.staged or j <= p)
            error = lift[p].T @ ((case.y - seen) * gates[p]) @ case.x[list(case.inputs[p])].T / P
            found += [(parts[2 * p + 1].T @ error).ravel(), (error @ parts[2 * p].T).ravel()]
        return np.concatenate(found) / TAU

    flat = np.concatenate([w.ravel() for name in "ab" for w in (start[name].w1, start[name].w2)])
    losses = np.empty(len(times))
    edges = [0.0, *SWITCHES, np.inf]
    for gates, begin, end in zip(case.gates, edges[:-1], edges[1:], strict=True):
        (places,) = np.nonzero((times >= begin) & (times < end))
        until = end if np.isfinite(end) else times[-1]
        solved = solve_ivp(
            lambda _, flat, gates=gates: velocity(flat, gates),
            (begin, until),
            flat,
            t_eval=np.unique([*times[places], until]),
            rtol=1e-11,
            atol=1e-14,
        )
        for place in places:
            column = solved.y[:, np.searchsorted(solved.t, times[place])]
            left = case.y - sum(outputs(column, gates))
            losses[place] = 0.5 * np.sum(left * left) / P
        flat = solved.y[:, -1]
    return losses


def test_a_start_of_a_mode_grows_from_there():
    """With factor f along (v, u)/√2 the strength starts at g (f − 1)/2 instead of 0."""
    case = Case(0, staged=False)
    u = case.matrices.output_bases[0][:, :1]
    v = case.matrices.input_bases[0][:, :1]
    mode = EqualModes(pathway=0, u=u, v=v, factor=3.0)
    found = case.matrices.descent(2, [mode], [mode])
    assert found.strengths[0, 0] == pytest.approx(GRAM * (3.0 - 1) / 2)
    assert case.matrices.descent(2, [mode]).strengths[0, 0] == pytest.approx(0, abs=1e-15)


def test_a_start_after_switches_is_in_its_own_phase():
    case = Case(1, staged=False)
    late = np.array([80.0, 95.0, 140.0])
    last = case.of(2)
    np.testing.assert_allclose(
        case.matrices.trajectory(late).losses, last.trajectory(late).losses, rtol=1e-7
    )
    at = np.array([75.0, 90.0])
    np.testing.assert_allclose(
        case.matrices.trajectory(at).losses, last.trajectory(at).losses, rtol=1e-7
    )
