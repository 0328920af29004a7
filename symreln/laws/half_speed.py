r"""Symmetric bias-free ReLU family: linear dynamics at half speed.

Let the data be closed under x → −x with odd targets, and let the units come in pairs
:math:`(w, b), (-w, -b)`. Then the network is linear, :math:`f(x) = \tfrac{1}{2} W_2 W_1 x`:
relu(z) = (z + |z|)/2, and the |z| of a pair cancel. Its error e(x) is odd, so e(x)xᵀ is even, and
of every two samples ±x a unit is open on exactly one (w·x = 0 aside). Hence

.. math:: \sum_{w \cdot x > 0} e(x) x^T = \tfrac{1}{2} \sum_x e(x) x^T:

every unit follows the linear flow at half speed, and pairs stay pairs. Of a mode with
amplitudes a, b in W₁ and W₂ the network shows :math:`\pi = ab/2`; with
:math:`\tau \dot a = \tfrac{1}{2} b (s - d\pi) - \lambda a` and likewise for b, it obeys the
two-layer equations with 2τ in the place of τ, 2λ in that of λ and :math:`c = |a^2 - b^2|/2`.

So does every finite step: it is one of gradient descent of the linear network with weights
:math:`W/\sqrt{2}`, half the learning rate and twice the weight decay. Half of the units are counted
for the start, as π = ab/2 has it.

Source: [Zhang2024] (Zhang, Saxe, Latham, arXiv 2406.12615), where the pairs are replaced by small
initial weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import sympy as sp

from symreln.laws.line import Line, along
from symreln.laws.ops import defect

if TYPE_CHECKING:
    from symreln.exact.matrix import ExactMatrix
    from symreln.specs.spec import Spec

NAME = "symmetric bias-free ReLU"

#: Factor of the time constant.
SLOWER = 2

_S, _D, _A, _B, _TAU, _LAMBDA = sp.symbols("_s _d _a _b _tau _lambda", positive=True)


def _odd_symmetry(inputs: ExactMatrix, targets: ExactMatrix) -> tuple[bool, str]:
    """Decide exactly whether the samples (x, y) are, as a multiset, the samples (−x, −y).

    Args:
        inputs: X, shape (n_x, P).
        targets: Y, shape (n_y, P).

    Returns:
        Whether they are, and why or why not, with a sample that has no partner.
    """
    samples = list(zip(_columns(inputs), _columns(targets), strict=True))
    counts = Counter(samples)
    for place, (x, y) in enumerate(samples, start=1):
        found = counts[_negative(x), _negative(y)]
        if found != counts[x, y]:
            return False, (
                f"sample {place}: its copies are {counts[x, y]}, those of (−x, −y) {found}; the "
                "data are not closed under x → −x with odd targets"
            )
    return True, "the data are closed under x → −x with odd targets"


def asked(spec: Spec) -> tuple[bool, str]:
    """Say whether a spec's ReLU network is linear at half speed, and why or why not."""
    if spec.network is None:
        return False, "the spec names no network"
    if spec.network.layers != 2:
        return False, f"the family is for two layers of weights, there are {spec.network.layers}"
    if spec.network.activation != "relu":
        return False, "the network is linear, not a ReLU network"
    if not spec.is_one_map:
        return False, "the gates asked for are not those of a linear network"
    closed, why = _odd_symmetry(spec.dataset.inputs, spec.dataset.targets)
    if not closed:
        return False, why
    return True, (
        f"{why}: a bias-free ReLU network whose units come in pairs (w, b), (−w, −b) is linear, at "
        "half speed"
    )


@lru_cache(maxsize=1)
def _reduction_residual() -> sp.Expr:
    """Zero exactly when π = ab/2, c = |a² − b²|/2 obey the two-layer equations with 2τ and 2λ."""
    strength, c = _A * _B / 2, (_A**2 - _B**2) / 2
    drive = _S - _D * strength
    slopes = {
        _A: (_B * drive / 2 - _LAMBDA * _A) / _TAU,
        _B: (_A * drive / 2 - _LAMBDA * _B) / _TAU,
    }
    tau, decay = SLOWER * _TAU, SLOWER * _LAMBDA
    root = (_A**2 + _B**2) / 2  # positive, and its square is c² + 4 pi²
    return defect(
        sp.expand(tau * along(strength, slopes) - root * drive + 2 * decay * strength),
        sp.expand(root**2 - c**2 - 4 * strength**2),
        sp.expand(tau * along(c, slopes) + 2 * decay * c),
    )


def half_speed_lines() -> Iterator[Line]:
    """Yield that the network is linear, with which time constant and weight decay."""
    yield Line(
        says="The network has ReLU units without biases, and the data are odd: pairs of units "
        "$(w, b)$ and $(-w, -b)$ make it linear, each open on half of the samples. So with "
        r"$\pi = a b/2$ all equations below hold with",
        equation=(r"\tau \to 2 \tau, \qquad \lambda \to 2 \lambda",),
        because=r"of every two samples $\pm x$ a unit is open on exactly one",
        check=r"$\pi = a b/2$ and $c = |a^2 - b^2|/2$ put into the amplitudes' equations at "
        "half speed, cancelled to 0",
        holds=_reduction_residual() == 0,
        main=True,
    )


_Column = tuple[tuple[tuple[int, ...], int, int], ...]


def _columns(matrix: ExactMatrix) -> list[_Column]:
    """Return every column as its (exponents, row, numerator) over one common denominator."""
    entries: list[list[tuple[tuple[int, ...], int, int]]] = [[] for _ in range(matrix.shape[1])]
    for exponents, part in matrix.terms.items():
        for row, column, value in part.triples():
            entries[column].append((exponents, row, value))
    return [tuple(sorted(column)) for column in entries]


def _negative(column: _Column) -> _Column:
    return tuple((exponents, row, -value) for exponents, row, value in column)
