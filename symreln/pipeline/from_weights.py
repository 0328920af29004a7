"""The learning of one pathway from weights that are given: whole matrices, no alignment assumed."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from symreln.claims.derivation import Derivation
from symreln.claims.solve import at_values
from symreln.errors import InputError, NotSupportedError
from symreln.exact.matrix import ExactMatrix
from symreln.laws import lambda_balanced
from symreln.laws.lambda_balanced import BalancedMatrices
from symreln.specs.arguments import instance_of
from symreln.specs.finding import Finding
from symreln.specs.number import exact_number

#: Rows of numbers: whole numbers, fractions, or texts such as "1/10"; a float is its decimals.
_NUMBERS = (int, float, Fraction, np.number)
Number = int | Fraction | float | str
Rows = Sequence[Sequence[Number]] | np.ndarray


def from_weights(
    derivation: Derivation,
    w1: ExactMatrix | Rows | Number,
    w2: ExactMatrix | Rows | Number,
) -> BalancedMatrices:
    r"""Solve the flow of a single pathway from its initial weights.

    No alignment and no small start is assumed. The inputs must be white and the weights λ-balanced,
    :math:`W_2^T W_2 - W_1 W_1^T = \lambda I`; λ may be 0 or of either sign. Of exact weights both
    is decided exactly. Where a weight is a float, both may be off by 1e-9 of their size.

    Args:
        derivation: Of one pathway of two layers without weight decay. Parameters take their
            declared values.
        w1: W₁, H rows, one column an input of the pathway; a number is one row and column.
        w2: W₂, one row an output of the pathway, H columns; likewise.

    Returns:
        The solution: ``to_numpy(times)`` of W₂W₁ and ``gram(times)`` of W₁ᵀW₁, W₂W₁ and W₂W₂ᵀ;
        times in steps, with the time constant of the spec's network, or in units of it without a
        network.

    Raises:
        InputError: The sizes do not fit, or an entry is no number.
        NoClosedFormError: The inputs are coloured, or the weights are not λ-balanced.
        NotSupportedError: The spec is not of one such pathway.

    Example:
        >>> import symreln as sr
        >>> data = {"X": [[1, 1], [1, -1]], "Y": [[3, 1], [1, 3]]}
        >>> spec = sr.load({"dataset": data, "pathway": [{"name": "whole"}]})
        >>> w1, w2 = [["1/100", 0], [0, "1/100"]], [["1/100", 0], [0, "-1/100"]]
        >>> solution = sr.from_weights(sr.derive(spec), w1, w2)
        >>> solution.residual()
        0
        >>> solution.to_numpy([0, 50])[1].round(6).tolist()
        [[2.0, 1.0], [2.0, -1.0]]
    """
    what, call = "a derivation", "sr.from_weights(sr.derive(spec), w1, w2)"
    derivation = instance_of(derivation, Derivation, what, "from_weights", call)
    why = _why_not(derivation)
    if why:
        msg = f"from_weights: {why}"
        raise NotSupportedError(msg)
    numbers = derivation.ask(at_values)
    effective = numbers.pathways[0].effective
    rows = effective.sigma_yx.select(rows=effective.pathway.outputs)
    (first, rounded), (second, also) = _exact(w1, "w1"), _exact(w2, "w2")
    tau, sigma_x = numbers.tau or Fraction(1), effective.sigma_x
    return lambda_balanced.solve(rows, sigma_x, first, second, tau, rounded=rounded or also)


def _why_not(derivation: Derivation) -> str:
    """Say why no weights can be given, or "". Whether the inputs are white is another question."""
    spec = derivation.spec
    if len(spec.pathways) != 1:
        return f"the solution is of a single pathway, and the spec has {len(spec.pathways)}"
    if spec.pathways[0].then:
        return "the pathway's gate switches, and the solution is of a fixed one"
    return lambda_balanced.BalancedMatrices.unfit(derivation.known)


def white_inputs(derivation: Derivation) -> bool:
    """Whether weights can be given: one pathway, and its inputs are white for all parameters."""
    if _why_not(derivation):
        return False
    sigma_x = derivation.pathways[0].effective.sigma_x
    white = ExactMatrix.identity(sigma_x.shape[0]).scale(sigma_x.entry(0, 0))
    return sigma_x.is_constant and sigma_x == white


def _exact(weights: ExactMatrix | Rows | Number, name: str) -> tuple[ExactMatrix, bool]:
    """Return weights as exact numbers, a float as its decimals, and whether there was a float."""
    if isinstance(weights, ExactMatrix):
        return weights, False
    try:
        if isinstance(weights, (*_NUMBERS, str)):
            weights = [[weights]]
        if any(isinstance(row, str) for row in weights):
            raise TypeError
        rows = [
            [entry.item() if isinstance(entry, np.generic) else entry for entry in row]
            for row in weights
        ]
        exact = [[exact_number(entry) for entry in row] for row in rows]
    except Finding as finding:
        msg = f"{name}: found {finding.found}, expected {finding.expected}. {finding.hint}"
        raise InputError(msg.strip()) from finding
    except TypeError as error:
        msg = f"{name}: give rows of numbers, for example [[1, 0], [0, '1/2']]"
        raise InputError(msg) from error
    rounded = any(isinstance(entry, float) for row in rows for entry in row)
    return ExactMatrix.from_rows(exact), rounded
