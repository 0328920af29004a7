"""The competitive Lotka-Volterra system of a stage whose couplings map modes to modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from symreln.base.records import record
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.laws.coupled_modes import CoupledModes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.derivation import ModeDerivation, PathwayDerivation, StageDerivation
    from symreln.verdict.coupling import Coefficients, ModeCoupling


@record(eq=False)
class _ModeSystem:
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


def _learning(stage: StageDerivation) -> list[tuple[int, PathwayDerivation, ModeDerivation]]:
    pathways = enumerate(stage.pathways)
    return [(p, pathway, m) for p, pathway in pathways for m in pathway.modes if not m.is_null]


def mode_system(stage: StageDerivation) -> _ModeSystem:
    """Build the system of a stage without free parameters, verdict `coupled modes`.

    A source class of degree k whose strengths are the function phi of its root acts by the
    polynomial that interpolates phi; the factors of the coupling say what each power of the root
    does to the target, so interpolating one root at a time gives the coupling of every mode.
    """
    entries = _learning(stage)
    s = np.array([mode.s.to_float() for _, _, mode in entries])
    kappa = np.diag([0.0 if m.d is None else m.d.to_float() for _, _, m in entries])
    place = {
        (p, mode.class_index, _root_index(pathway, mode)): index
        for index, (p, pathway, mode) in enumerate(entries)
    }
    for coupling in stage.verdict.couplings.couplings:
        for a, b, value in _couplings(stage, coupling):
            row, column = place[(*coupling.target, a)], place[(*coupling.source, b)]
            kappa[row, column] += value * s[row] / s[column]
    return _ModeSystem(
        labels=tuple(mode.label for _, _, mode in entries),
        s=s,
        kappa=kappa,
        multiplicity=np.array([mode.multiplicity for _, _, mode in entries], dtype=float),
    )


def symbolic_system(
    stage: StageDerivation, symbols: Mapping[str, sp.Symbol]
) -> CoupledModes | None:
    """Return the system of a stage's learning modes, or None where an s² is not rational."""
    entries = _learning(stage)
    if any(mode.s.scalar is None for _, _, mode in entries):
        return None
    place = {(p, mode.class_index): i for i, (p, _, mode) in enumerate(entries)}
    kappa = sp.zeros(len(entries))
    for index, (_, _, mode) in enumerate(entries):
        kappa[index, index] = sp.S.Zero if mode.d is None else mode.d.to_sympy(symbols)
    for coupling in stage.verdict.couplings.couplings:
        row, column = place.get(coupling.target), place.get(coupling.source)
        if row is None or column is None or coupling.factors is None:
            continue
        squares = entries[row][2].s.scalar, entries[column][2].s.scalar
        assert squares[0] is not None
        assert squares[1] is not None
        root = AlgebraicNumber.rational(squares[0] / squares[1], is_sqrt=True)
        kappa[row, column] += coupling.factors[0][0].to_sympy(symbols) * root.to_sympy(symbols)
    return CoupledModes(
        names=tuple(mode.label for _, _, mode in entries),
        s=tuple(mode.s.to_sympy(symbols) for _, _, mode in entries),
        kappa=sp.ImmutableMatrix(kappa),
    )


def _root_index(pathway: PathwayDerivation, mode: ModeDerivation) -> int:
    return pathway.spectrum.modes[mode.number - 1].root


def _roots(pathway: PathwayDerivation, class_index: int) -> np.ndarray:
    """Return the roots of a class's minimal polynomial, ascending."""
    found = pathway.spectrum.classes[class_index]
    if found.degree == 1:
        return np.zeros(1)  # a polynomial of degree 0 does not see its root
    names = found.minpoly[0].parameters
    identity = (Scalar(names, 0), Scalar(names, 1), *(Scalar(names, 0),) * (found.degree - 2))
    return np.array(
        [
            AlgebraicNumber(minpoly=found.minpoly, coefficients=identity, root=root).to_float()
            for root in range(found.degree)
        ]
    )


def _couplings(stage: StageDerivation, coupling: ModeCoupling) -> list[tuple[int, int, float]]:
    """Return (target root, source root, factor of Sigma^{yx}(p) P per unit of phi)."""
    (p, a), (j, i) = coupling.target, coupling.source
    targets = _roots(stage.pathways[p], a)
    sources = _roots(stage.pathways[j], i)
    powers = np.array([[_evaluate(q, theta) for theta in targets] for q in coupling.factors or ()])
    # Column b of the inverse Vandermonde matrix interpolates 1 at root b and 0 at the others.
    interpolation = np.linalg.inv(np.vander(sources, increasing=True))
    values = interpolation.T @ powers if len(powers) else np.zeros((len(sources), len(targets)))
    return [
        (target, source, float(values[source, target]))
        for target in range(len(targets))
        for source in range(len(sources))
    ]


def _evaluate(polynomial: Coefficients, theta: float) -> float:
    return sum(float(c.to_fraction()) * theta**power for power, c in enumerate(polynomial))
