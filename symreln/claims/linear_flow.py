r"""One layer of weights on any data: its flow is linear, and solved whether or not modes close.

From its mean start, W(0) = 0, with E the fading of :math:`\Sigma^x`, in steps of gradient descent,

.. math:: W(t) = \Sigma^{yx} (\Sigma^x)^+ (1 - E(t)), \qquad E(t) = (1 - \Sigma^x/\tau)^t.

Numbers come from the singular value decomposition of the features X_p, in float64: it is the
eigenbasis of :math:`\Sigma^x` without its null directions, where nothing is learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import sympy as sp

from symreln.claims.derivation import Derivation
from symreln.claims.integration import network_of
from symreln.claims.probes import mode_bases
from symreln.claims.relaxation import check_step_size
from symreln.errors import NotSupportedError
from symreln.laws.line import Line

#: LaTeX of the solution: of the flow, and in steps.
SOLUTION = (
    r"W_p(t) = W_p(0)\, E + \Sigma^{yx}(p)\, \Sigma^{x}(p)^{+} \left(1 - E\right)",
    r"E = e^{-\Sigma^{x}(p)\, t/\tau}",
    r"E = \left(1 - \tfrac{1}{\tau} \Sigma^{x}(p)\right)^{t}",
)


def is_linear(derivation: Derivation) -> bool:
    """Whether the maps of pathways are solved as they stand, because modes do not close."""
    return derivation.known.layers == 1 and not derivation.closed and not derivation.by_edges


def linear_curves(
    derivation: Derivation, times: np.ndarray, *, outputs: bool = False
) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Return the curves of one layer whose pathways do not couple.

    Steps that jump over the goal have nothing between them: a step's values hold up to the next.

    Args:
        derivation: Of which :func:`is_linear` says so, at the declared values.
        times: In steps.
        outputs: Whether outputs are asked for.

    Returns:
        The loss, uᵀ W_p v of every mode that learns by label, and where they are asked for the
        outputs of all samples, shape (times, outputs, P).

    Raises:
        InputError: Gradient descent diverges.
        NotSupportedError: Modes start where the user says.
    """
    if derivation.given_start is not None:
        msg = "strength0: one layer whose modes do not close starts from its mean, 0. Leave it out"
        raise NotSupportedError(msg)
    dataset, tau = derivation.spec.dataset, float(derivation.tau or 1)
    root, strengths = np.sqrt(dataset.samples), {}
    targets = dataset.targets.to_numpy() / root
    losses = np.full(len(times), float(derivation.least_loss.to_fraction()))
    written = np.zeros((len(times) if outputs else 0, *targets.shape))
    for pathway in derivation.pathways:
        own = np.isin(np.arange(len(targets)), pathway.effective.pathway.outputs)[:, None]
        features = pathway.effective.features.to_numpy() / root
        a, sizes, b = np.linalg.svd(features, full_matrices=False)
        kept = sizes > max(features.shape) * np.finfo(float).eps * sizes.max(initial=0)
        a, d, b = a[:, kept], sizes[kept, None] ** 2, sizes[kept, None] * b[kept]
        check_step_size(network_of(derivation.spec), d.max(initial=0) / tau)
        rates = d / tau
        jumps = rates >= 1
        relaxed = np.exp(times * np.log1p(-np.where(jumps, 0, rates)))
        left = np.where(jumps, (1 - rates) ** np.floor(times), relaxed)
        learned, goal = (1 - left) / d, (targets * own) @ b.T  # Sigma^yx in the basis of Sigma^x
        losses += 0.5 * ((goal**2).sum(axis=0) / d[:, 0]) @ left**2
        if outputs:
            written += root * np.einsum("yk,kt,kp->typ", goal, learned, b, optimize=True)
        for label, (u, v) in mode_bases(pathway).items():
            seen = np.einsum("ym,yk,fk,fm->k", u, goal, a, v, optimize=True)
            strengths[label] = seen @ learned / u.shape[1]
    return losses, strengths, written


def linear_lines() -> Iterator[Line]:
    """Yield the solution of one layer's flow, put into it with matrices as symbols."""
    start, goal, x, fading = sp.symbols("W_0 C X E", commutative=False)
    tau = sp.Symbol("tau", positive=True)

    def at(left: Any) -> Any:
        return start * left + goal * (1 - left)

    def vanishes(found: Any) -> bool:
        return sp.expand(sp.expand(found).subs(fading * x, x * fading)) == 0

    error = goal * x - at(fading) * x  # Sigma^yx = C Sigma^x
    yield Line(
        says="**Modes do not close, and need not:** a single layer's flow is linear in its weights "
        "and has its solution as a matrix, whether or not correlations commute; with the second "
        "$E$ that of finite steps. Random weights have the mean $W_p(0) = 0$.",
        equation=(
            r"\tau \dot{W}_p &= \Sigma^{yx}(p) - W_p\, \Sigma^{x}(p),",
            rf"{SOLUTION[0].replace('=', '&=', 1)},",
            rf"{SOLUTION[1].replace('=', '&=', 1)}, \qquad {SOLUTION[2]}",
        ),
        because=r"pathways do not couple, and $\Sigma^{yx}(p)\, \Sigma^{x}(p)^{+}\, "
        r"\Sigma^{x}(p) = \Sigma^{yx}(p)$: what no input shows is in no correlation",
        check=r"put into the flow and into a step of gradient descent, with matrices as symbols "
        r"that do not commute, but for $E$ and $\Sigma^{x}(p)$; its value at $t = 0$",
        holds=vanishes(at(-x * fading) - goal - error)
        and vanishes(at(fading * (1 - x / tau)) - at(fading) - error / tau)
        and at(sp.S.One) == start,
        main=True,
    )
