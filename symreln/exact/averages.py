"""The mean of Sigma^x on a mode's space, where it is not scalar there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.exact.field import Field, quotient_coefficients, solve, total
from symreln.exact.scalar import Scalar

if TYPE_CHECKING:
    from symreln.exact.algebraic import Coefficients
    from symreln.exact.matrix import ExactMatrix


def compressed_average(
    operator: ExactMatrix,
    minpoly: Coefficients,
    generators: ExactMatrix,
    sigma_x: ExactMatrix,
) -> Coefficients:
    r"""Return the mean tr(P_theta Sigma^x)/m of Sigma^x on a mode's space.

    With V_theta = Σ_j c_j(theta) T^j W, f(x)/(x - theta) = Σ_j c_j(theta) x^j, whose columns span
    the space, it is tr((V^T V)^{-1} V^T Sigma^x V)/m over Q(parameters)(theta).
    """
    field = Field(minpoly)
    count = generators.shape[1]
    words = [generators]
    while len(words) < field.degree:
        words.append((operator @ words[-1]).reduced())
    factors = [field.reduce(c) for c in quotient_coefficients(minpoly)]
    gram = [[field.constant(0)] * count for _ in range(count)]
    middle = [[field.constant(0)] * count for _ in range(count)]
    moved = [(sigma_x @ word).reduced() for word in words]
    for i, left in enumerate(words):
        for j in range(field.degree):
            weight = field.multiply(factors[i], factors[j])
            plain, inner = (left.T @ words[j]).rows(), (left.T @ moved[j]).rows()
            for a in range(count):
                for b in range(count):
                    gram[a][b] = field.add(gram[a][b], field.scale(weight, plain[a][b]))
                    middle[a][b] = field.add(middle[a][b], field.scale(weight, inner[a][b]))
    ratio = solve(field, gram, middle)
    trace = total(field, [ratio[i][i] for i in range(count)])
    return field.scale(trace, Scalar(field.parameters, 1) / count)
