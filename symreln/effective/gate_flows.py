r"""The state at the horizon in closed form: every gate with its own linear flow and its own share.

A unit that keeps a gate g moves linearly, by F_g = [[0, Σ_gᵀ], [Σ_g, 0]] with Σ_g = Y G_g Xᵀ Π_g/P,
whose eigenpairs are (±s_k, (v_k, ±u_k)/√2); Π_g leaves out what samples on the gate's boundary see.
So the second moment of its units is known at every step of the early phase but for one number,

.. math:: M_g = H \sigma^2 \kappa_g \sum_k (1 + s_k/\tau)^{2h} e_k e_k^\top,

and the horizon h is where all gates together make ε of the targets. κ_g is 1/2 where all units that
begin with the growing sign of e_1 have the gate from the start. They do not: they turn before, and
gates compete for them. An error of 3 % in κ_g changes the loss by about 1 %, and no probability of
an orthant or a cone is as near as that. So κ_g is a Monte Carlo estimate over isolated units: the
mean of what units of all draws have along e_1, over what they would have had from the start. How
the H units of one draw differ from that mean follows from their initial weights.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.laws.line import CANCELS, Line, vanish
from symreln.laws.spans import orthonormal_span

if TYPE_CHECKING:
    from symreln.effective.descent import Descent
    from symreln.laws.early_phase import Horizon

#: Part of the leading rate by which the next one is clearly slower.
_CLEAR = 1e-6
#: Steps by which directions settle, over the fastest growth time; growth times at most; and cosine
#: of directions from which two are one gate's.
_STEPS, _MOST, _ALIKE = (0.1, 0.01, 0.001), 50, 0.97
_S, _X, _SIGMA = sp.symbols("s x sigma", positive=True)
_Flow = tuple[np.ndarray, np.ndarray, np.ndarray]


@record(eq=False)
class State:
    """Units of a draw at the horizon.

    Attributes:
        step: h.
        moments: M_g, shape (gates, n_x + rank, n_x + rank).
        directions: Their leading eigenvectors, in the rows.
    """

    step: int
    moments: np.ndarray
    directions: np.ndarray


def states(
    x: np.ndarray,
    y: np.ndarray,
    descent: Descent,
    epsilon: float,
    horizons: Sequence[Horizon | None],
    directions: np.ndarray,
) -> list[State | None]:
    """Return the state of every draw at the horizon; None where it has no closed form.

    Args:
        x: X, shape (n_x, P).
        y: Y in its span, shape (rank, P).
        descent: How the network is trained.
        epsilon: Outputs over targets at the horizon.
        horizons: Of every draw, the initial weights and what they became.
        directions: (w, b) of most units, from which they settle on their gates, in the rows.
    """
    flows, step = gate_flows(x, y, directions), descent.step
    if not flows:
        return [None] * len(horizons)
    signs, rates, modes = map(np.array, zip(*flows, strict=True))
    leading = modes[:, :, -1].T

    def drawn(each: Horizon) -> np.ndarray:
        return np.square(np.maximum(each.initial @ leading, 0)).sum(axis=0)

    def became(each: Horizon) -> np.ndarray:
        along = each.directions @ leading
        along[along < along.max(axis=1, keepdims=True).clip(0)] = 0  # a unit has one gate
        return each.sizes @ along**2 / (1 + step * rates[:, -1]) ** (2 * each.time / step)

    reached = [each for each in horizons if each is not None]
    ratio = np.sum([*map(became, reached)], axis=0) / np.sum([*map(drawn, reached)], axis=0)

    def state(each: Horizon) -> State:
        shares = ratio * drawn(each)  # H σ² κ_g, of these initial weights

        def moments(at: int) -> np.ndarray:
            factors = shares[:, None] * np.abs(1 + step * rates) ** (2 * at)
            return modes * factors[:, None] @ modes.swapaxes(1, 2)

        def output(at: int) -> float:
            outputs = moments(at)[:, len(x) :, : len(x)] @ x * (signs > 0)[:, None]
            return float(np.linalg.norm(outputs.sum(axis=0)))

        last = min(descent.steps, 2 + round(2 * each.time / step))
        at = bisect_left(range(last), epsilon * float(np.linalg.norm(y)), key=output)
        return State(step=at, moments=moments(at), directions=leading.T)

    return [None if each is None else state(each) for each in horizons]


def gate_flows(x: np.ndarray, y: np.ndarray, directions: np.ndarray) -> list[_Flow]:
    """Return the linear flows of gates that isolated units settle on, and that units then keep.

    Args:
        x: X, shape (n_x, P).
        y: Y in its span, shape (rank, P).
        directions: (w, b) of units, the strongest first, in the rows.

    Returns:
        Of every gate its signs, 0 on the boundary; the rates ±s_k, ascending; and e_k, in the
        columns, the last one with the sign that opens the gate.
    """
    flows, size = list[_Flow](), len(x)
    for signs in settled_gates(x, y, directions)[0]:
        if not (signs > 0).any():
            continue
        edge, field = orthonormal_span(x[:, signs == 0]), np.zeros((size + len(y),) * 2)
        field[size:, :size] = (y * (signs > 0)) @ (x - edge @ (edge.T @ x)).T / x.shape[1]
        rates, modes = np.linalg.eigh(field)  # of the lower half alone
        modes[:size] -= edge @ (edge.T @ modes[:size])  # held at zero
        modes[:, -1] *= np.sign((modes[:size, -1] @ x)[signs > 0].sum())
        keeps = (np.sign(modes[:size, -1] @ x) == signs)[signs != 0].all()
        # Of equal leading modes every direction leads.
        if keeps and rates[-2] < (1 - _CLEAR) * rates[-1]:
            flows.append((signs, rates, modes))
    return flows


def settled_gates(
    x: np.ndarray, y: np.ndarray, directions: np.ndarray, together: float = _ALIKE
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gates of isolated units that go on from directions until these stand still.

    Args:
        x: X, shape (n_x, P).
        y: Y in its span, shape (rank, P).
        directions: (w, b) in the rows; of those that come together one goes on.
        together: Cosine from which they have.

    Returns:
        Signs of each gate, 0 on the boundary, shape (gates, P), and the gate of each direction.
    """
    owner = np.arange(len(directions))
    fastest = max(np.linalg.norm(y * (w @ x > 0) @ x.T, 2) for w in directions[:, : len(x)])
    for part in _STEPS:
        step = part / fastest
        for _ in range(_MOST):
            first, second = np.split(directions, [len(x)], axis=1)
            for _ in range(round(1 / part)):
                seen = first @ x
                drive = (second @ y) * (seen > 0)
                second = second + step * np.maximum(seen, 0) @ y.T
                first = first + step * drive @ x.T
            before, directions = directions, np.hstack([first, second])
            directions /= np.linalg.norm(directions, axis=1, keepdims=True)
            moved = np.abs(directions - before).max()
            alike = np.triu(directions @ directions.T, 1) > together
            kept, first = ~alike.any(axis=0), alike.argmax(axis=0)
            first[kept] = np.cumsum(kept)[kept] - 1
            for place in np.flatnonzero(~kept):  # what it is like may itself be like another
                first[place] = first[first[place]]
            directions, owner = directions[kept], first[owner]
            if moved < part / 10:
                break
    first, second = np.split(directions, [len(x)], axis=1)
    # What is held on a boundary crosses it in every step.
    crossed = _STEPS[-1] / fastest * np.abs(second @ y) @ np.abs(x.T @ x)
    seen = first @ x
    return np.sign(seen) * (np.abs(seen) > crossed), owner


def state_lines() -> Iterator[Line]:
    """Yield how the second moment of a gate's units follows, from their equations on."""
    flow = sp.Matrix([[0, _S], [_S, 0]])  # on (v·w, u·b) of a mode
    pairs = [(sign * _S, sp.Matrix([1, sign]) / sp.sqrt(2)) for sign in (1, -1)]
    yield Line(
        says="While outputs are small a hidden unit $q = (w, b)$ that keeps a gate $g$ moves "
        "linearly, each step by the factor",
        equation=(
            r"I + \frac{F_g}{\tau}, \qquad F_g = \begin{pmatrix} 0 & \Sigma_g^{\top} \\ \Sigma_g & "
            r"0 \end{pmatrix}, \quad \Sigma_g = \tfrac{1}{P}\, Y G_g X^{\top} \Pi_g, \qquad "
            r"F_g e_k = \pm s_k e_k, \quad e_k = \tfrac{1}{\sqrt{2}} (v_k, \pm u_k),",
        ),
        because=r"$\tau \dot{w} = \Sigma_g^{\top} b$ and $\tau \dot{b} = \Sigma_g w$; $G_g$ has "
        r"open samples, $\Pi_g$ leaves out those on the boundary, to which $w$ is orthogonal",
        check=f"both vectors of a mode put in; {CANCELS}",
        holds=vanish(*(each for rate, e in pairs for each in flow * e - rate * e)),
        main=True,
    )
    density = sp.exp(-(_X**2) / (2 * _SIGMA**2)) / (_SIGMA * sp.sqrt(2 * sp.pi))
    half = sp.integrate(density, (_X, 0, sp.oo))
    square = sp.integrate(_X**2 * density, (_X, 0, sp.oo))
    yield Line(
        says="Were all units that begin with the growing sign of its leading mode, "
        "$e_1 \\cdot q(0) > 0$, to have the gate from the start, $\\kappa_g$ would be a half. They "
        "turn first, and gates compete for them. After $h$ steps their second moment is",
        equation=(
            r"M_g = H \sigma^2 \kappa_g \sum_k \left(1 + \frac{s_k}{\tau}\right)^{2h} "
            r"e_k e_k^{\top}, \qquad \sigma^2 = \tfrac{1}{2} (\sigma_1^2 + \sigma_2^2),",
        ),
        because="initial weights are Gaussian and independent in every orthonormal basis, so that "
        "the sign of one coordinate halves the square of each; $\\kappa_g$ is a Monte Carlo "
        "estimate over isolated units, in proportion to what initial weights have along $e_1$",
        check="both halves integrated: of the square of a coordinate, and of the density",
        holds=vanish(half - sp.Rational(1, 2), square - _SIGMA**2 / 2),
        main=True,
    )
    yield Line(
        says="and at the horizon all gates together make $\\epsilon$ of the targets:",
        equation=(
            r"\left\| \sum_g \frac{H \sigma^2 \kappa_g}{2} \sum_{s_k > 0} \left[ \left(1 + "
            r"\frac{s_k}{\tau}\right)^{2h} - \left(1 - \frac{s_k}{\tau}\right)^{2h} \right] u_k "
            r"v_k^{\top} X G_g \right\| = \epsilon \left\| Y \right\|",
        ),
        because=r"the blocks of $e_k e_k^{\top}$ that map inputs to outputs are "
        r"$\pm \tfrac{1}{2} u_k v_k^{\top}$",
        check=f"both vectors of a mode put in; {CANCELS}",
        holds=vanish(*(e[0] * e[1] - rate / (2 * _S) for rate, e in pairs)),
        main=True,
    )
