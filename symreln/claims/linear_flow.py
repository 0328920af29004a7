r"""One layer of weights on any data: its flow is linear, and solved whether or not modes close.

From its mean start, W(0) = 0, with E the fading of :math:`\Sigma^x`, in steps of gradient descent,

.. math:: W(t) = \Sigma^{yx} (\Sigma^x)^+ (1 - E(t)), \qquad E(t) = (1 - \Sigma^x/\tau)^t.

Numbers come from the singular value decomposition of the features X_p, in float64: it is the
eigenbasis of :math:`\Sigma^x` without its null directions, where nothing is learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from symreln.base.summaries import short_repr
from symreln.claims.divergence import check_step_size
from symreln.claims.integration import network_of
from symreln.claims.probes import mode_bases
from symreln.errors import NotSupportedError
from symreln.laws.line import Line

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation

#: LaTeX of the solution: of the flow, and in steps.
SOLUTION = (
    r"W_p(t) = W_p(0)\, E + \Sigma^{yx}(p)\, \Sigma^{x}(p)^{+} \left(1 - E\right)",
    r"E = e^{-\Sigma^{x}(p)\, t/\tau}",
    r"E = \left(1 - \tfrac{1}{\tau} \Sigma^{x}(p)\right)^{t}",
)


@short_repr
@dataclass(frozen=True, kw_only=True, eq=False)
class LinearCurves:
    """What one layer comes to at some times, float64.

    Attributes:
        losses: Shape (times,).
        strengths: uᵀ W_p v of every mode that learns, by label.
        outputs: Of all samples, shape (times, outputs, P); of no times where not asked for.
    """

    losses: np.ndarray
    strengths: Mapping[str, np.ndarray]
    outputs: np.ndarray


def is_linear(derivation: Derivation) -> bool:
    """Whether the maps of pathways are solved as they stand, because modes do not close."""
    return derivation.known.layers == 1 and not derivation.closed


def linear_curves(
    derivation: Derivation, times: np.ndarray, *, outputs: bool = False
) -> LinearCurves:
    """Return the curves of one layer whose pathways do not couple.

    Args:
        derivation: Of which :func:`is_linear` says so, at the declared values.
        times: In steps.
        outputs: Whether outputs are asked for.

    Raises:
        InputError: Gradient descent diverges.
        NotSupportedError: Modes start where the user says.
    """
    if derivation.given_start is not None:
        msg = "strength0: one layer whose modes do not close starts from its mean, 0. Leave it out"
        raise NotSupportedError(msg)
    dataset, tau = derivation.spec.dataset, float(derivation.tau or 1)
    root = np.sqrt(dataset.samples)
    targets = dataset.targets.to_numpy() / root
    losses = np.full(len(times), float(derivation.least_loss.to_fraction()))
    written = np.zeros((len(times) if outputs else 0, *targets.shape))
    strengths: dict[str, np.ndarray] = {}
    for pathway in derivation.pathways:
        rows = list(pathway.effective.pathway.outputs)
        features = pathway.effective.features.to_numpy() / root
        a, sizes, b = np.linalg.svd(features, full_matrices=False)
        kept = sizes > max(features.shape) * np.finfo(float).eps * sizes.max(initial=0)
        a, d, b = a[:, kept], sizes[kept, None] ** 2, sizes[kept, None] * b[kept]
        check_step_size(network_of(derivation.spec), d.max(initial=0) / tau)
        left = _left(d / tau, times)
        learned, goal = (1 - left) / d, np.zeros((len(targets), len(d)))
        goal[rows] = targets[rows] @ b.T  # Sigma^yx in the eigenbasis of Sigma^x
        losses += 0.5 * ((goal**2).sum(axis=0) / d[:, 0]) @ left**2
        if outputs:
            written += root * np.einsum("yk,kt,kp->typ", goal, learned, b, optimize=True)
        for label, (u, v) in mode_bases(pathway).items():
            seen = np.einsum("ym,yk,fk,fm->k", u, goal, a, v, optimize=True)
            strengths[label] = seen @ learned / u.shape[1]
    return LinearCurves(losses=losses, strengths=strengths, outputs=written)


def _left(rate: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return what is left of a distance that steps multiply by 1 − rate, shape (rates, times).

    Steps that jump over the goal, of a rate above 1, have nothing between them.
    """
    slow = np.minimum(rate, 0.5)
    between = np.exp(times * np.log1p(-slow))
    return np.where(rate <= slow, between, np.power(np.abs(1 - rate), times) * _sign(rate, times))


def _sign(rate: np.ndarray, times: np.ndarray) -> np.ndarray:
    return np.where(rate > 1, 1 - 2 * (np.floor(times) % 2), 1)


def linear_lines() -> Iterator[Line]:
    """Yield the solution of one layer's flow, put into it with matrices as symbols."""
    start, goal, x, fading, tau = sp.symbols("W_0 C X E tau", commutative=False)
    tau = sp.Symbol("tau", positive=True)

    def at(left: sp.Expr) -> sp.Expr:
        return start * left + goal * (1 - left)

    def ordered(found: sp.Expr) -> sp.Expr:
        return sp.expand(sp.expand(found).subs(fading * x, x * fading))

    error = goal * x - at(fading) * x  # Sigma^yx = C Sigma^x
    solution, flow, steps = SOLUTION
    yield Line(
        says="**Modes do not close, and need not:** a single layer's flow is linear in its weights "
        "and has its solution as a matrix, whether or not correlations commute. From the mean of "
        "random weights, $W_p(0) = 0$,",
        equation=(
            r"\tau \dot{W}_p &= \Sigma^{yx}(p) - W_p\, \Sigma^{x}(p),",
            rf"{solution.replace('=', '&=', 1)}, \qquad {flow}",
        ),
        because=r"pathways do not couple, and $\Sigma^{yx}(p)\, \Sigma^{x}(p)^{+}\, "
        r"\Sigma^{x}(p) = \Sigma^{yx}(p)$: what no input shows is in no correlation",
        check=r"put into the flow, with matrices as symbols that do not commute, but for $E$ and "
        r"$\Sigma^{x}(p)$; its value at $t = 0$",
        holds=ordered(at(-x * fading) - goal - error) == 0 and at(sp.S.One) == start,
        main=True,
    )
    stepped = sp.expand(at(fading) + error / tau)
    yield Line(
        says="Training takes finite steps, and they are solved as well:",
        equation=(steps,),
        because=r"a step multiplies what is left by $1 - \Sigma^{x}(p)/\tau$",
        check="put into a step of gradient descent, likewise",
        holds=ordered(at(fading * (1 - x / tau)) - stepped) == 0,
        main=True,
    )
