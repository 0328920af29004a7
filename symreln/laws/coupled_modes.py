r"""Coupled modes: a competitive Lotka-Volterra system, one scalar a mode.

.. math:: \tau \dot\pi_a = 2 \pi_a \Bigl(s_a - \sum_b \kappa_{ab} \pi_b\Bigr)

where :math:`\kappa_{aa} = d_a` and :math:`\kappa_{ab} = k_{ab} g_{ba}` is the product of the
overlap of outputs and of the correlation of inputs.

Source: [Saxe2022], the neural race reduction.
Assumes: two layers, balanced and aligned at t = 0; mode-diagonal couplings PROVEN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.laws.integrate import integrate
from symreln.laws.line import CANCELS, Line, vanish

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike


def competition_lines() -> Iterator[Line]:
    """Yield the equations of modes that couple without a symmetry, from their amplitudes, and loss.

    The chain ends here: their strengths are integrated, so that no half-time is a formula.
    """
    names = ("a_1", "b_1", "a_2", "b_2", "s_1", "kappa_1", "kappa_12")
    a, b, other, second, s, own, across = sp.symbols(" ".join(names), positive=True)
    drive = s - own * a * b - across * other * second
    moved = (b * drive * b + a * drive * a).subs(b, a)
    strength, partner = sp.symbols("pi_1 pi_2", positive=True)
    claimed = 2 * strength * (s - own * strength - across * partner)
    claimed = claimed.subs({strength: a**2, partner: other * second})
    yield Line(
        says="Modes of several pathways **couple**, each with amplitudes $a$ and $b$ and the "
        r"strength $\pi = a b$; $K$ and $G$ map modes to modes, $\kappa_{ab} = k_{ab}\, g_{ba}$ "
        r"and $\kappa_{aa} = d_a$. Balanced, they compete:",
        equation=(r"\tau \dot{\pi}_a = 2 \pi_a \Bigl( s_a - \sum_b \kappa_{ab}\, \pi_b \Bigr)",),
        because=r"product rule for $\pi = a b$, at $a = b$; no symmetry makes the sum close, so "
        "that the system is integrated, in logarithms, in float64",
        check=f"two modes; {CANCELS}",
        holds=vanish(moved - claimed),
        main=True,
    )
    yield _competition_loss()


def _competition_loss() -> Line:
    """Say the loss of modes that couple: of two pathways with two modes each."""
    drives, own, overlaps, inputs = (
        sp.symbols(f"{name}_1:5", positive=True) for name in ("s", "d", "k", "g")
    )
    k, g = sp.diag(*overlaps[:2]), sp.diag(*inputs[:2])
    strengths = sp.symbols("pi_1:5", positive=True)
    kappa = sp.Matrix(sp.BlockMatrix(
        [[sp.diag(*own[:2]), k * g], [k * g, sp.diag(*own[2:])]]
    ))  # fmt: skip
    left = sp.Matrix(drives) - kappa * sp.Matrix(strengths)
    # In matrices: those of one pathway turned are K and G of the other.
    b, other = (sp.diag(*strengths[place : place + 2]) for place in (0, 2))
    square = b.T * b * sp.diag(*own[:2]) + other.T * other * sp.diag(*own[2:])
    square += b.T * k * other * g + other.T * k.T * b * g.T
    traced = (
        square.trace() / 2 - (b.T * sp.diag(*drives[:2]) + other.T * sp.diag(*drives[2:])).trace()
    )
    pairs = list(zip(strengths, left, strict=True))
    # Minus half of every strength times its drive and its bracket.
    summed = sp.Add(*(-x * (s + drive) / 2 for s, (x, drive) in zip(drives, pairs, strict=True)))
    return Line(
        says="The loss in the strengths, equal modes one by one:",
        equation=(
            r"L(t) = \tfrac{1}{2} \operatorname{tr} \Sigma^{y} - \sum_a s_a\, \pi_a(t) + "
            r"\tfrac{1}{2} \sum_{a, b} \kappa_{ab}\, \pi_a(t)\, \pi_b(t)",
        ),
        because=r"the loss in these bases, with diagonal matrices; $\kappa$ is symmetric",
        check="two pathways of two modes, as matrices and as the sum, and its derivatives by the "
        f"strengths are minus the brackets above; {CANCELS}",
        holds=vanish(sp.expand(traced - summed), *(traced.diff(x) + drive for x, drive in pairs)),
        main=True,
    )


@record(eq=False)
class ModeSystem:
    r"""tau dπ_a/dt = 2 π_a (s_a − Σ_b kappa_ab π_b) in floats.

    Attributes:
        labels: Strength of every mode with s > 0; null modes start at zero and stay there.
        s: Singular values, shape (modes,).
        kappa: Couplings, shape (modes, modes): d on the diagonal.
        multiplicity: Equal modes that an entry stands for, shape (modes,).
    """

    labels: tuple[str, ...]
    s: np.ndarray
    kappa: np.ndarray
    multiplicity: np.ndarray

    def loss(self, initial: float, strengths: np.ndarray) -> np.ndarray:
        """Return L0 − Σ m_a s_a π_a + ½ Σ m_a kappa_ab π_a π_b, shape (times,).

        Args:
            initial: Loss with all outputs zero.
            strengths: Shape (modes, times).
        """
        weighted = self.multiplicity[:, None] * strengths
        quadratic = np.einsum("at,ab,bt->t", weighted, self.kappa, strengths)
        return initial - self.s @ weighted + 0.5 * quadratic


def integrate_modes(
    s: ArrayLike, kappa: np.ndarray, strength0: ArrayLike, times: np.ndarray, tau: float
) -> np.ndarray:
    """Integrate coupled modes in float64; return strengths of shape (modes, times).

    The logarithms are integrated: strengths stay positive, and a start of 1e-30 costs nothing.

    Args:
        s: Singular values.
        kappa: Couplings, shape (modes, modes), the modes' own d on the diagonal.
        strength0: Initial strengths, positive.
        times: Ascending times in steps, times[0] is the start.
        tau: Time constant in steps.
    """
    drive = np.asarray(s, dtype=float)

    def rhs(_: float, logs: np.ndarray) -> np.ndarray:
        return (2 / tau) * (drive - kappa @ np.exp(logs))

    result = np.empty((len(drive), len(times)))
    start = np.log(np.asarray(strength0, dtype=float))
    # A mode relaxes to its plateau with the rate 2s/tau.
    fastest = 2 * float(drive.max()) / tau
    for part, logs in integrate(rhs, start, times, fastest, logs=True):
        result[:, part] = np.exp(logs)
    return result
