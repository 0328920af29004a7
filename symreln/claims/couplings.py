r"""How coupled modes overlap: k and g of every two classes, as numbers or matrices.

Pathway j enters the error of pathway p through :math:`K = U_p^T O_p O_j U_j` and
:math:`G = V_j^T \Sigma^x(j, p) V_p`; on modes with common input directions K = k I and G = g I.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp
from flint import arb

from symreln.base.records import record
from symreln.base.summaries import few
from symreln.claims.claim import Claim, decimals
from symreln.claims.derivation import Derivation, PathwayDerivation, StageDerivation
from symreln.claims.solve import at_values
from symreln.document.document_model import Block, Content, Math, Table
from symreln.document.typeset import phrase, say
from symreln.document.words import Notation
from symreln.errors import InputError
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.enclosure import ball, precision
from symreln.exact.scalar import Scalar
from symreln.verdict.coupling import ModeCoupling

#: Entries up to which K and G are given as matrices. Larger ones, in bases of degenerate spaces
#: that are as good as any other, say less than their spaces, which the certificate has exactly.
MOST_ENTRIES = 400
#: _Couplings that the document lists one by one, and names in one cell.
MOST_COUPLINGS, MOST_NAMES = 24, 8
#: Working precision of k at the declared values, in bits.
BITS = 144

_UNDETERMINED = "s = 0 on the mode acted on: the data do not determine its output direction u"


@record
class _Overlap(Claim):
    """k and g of two classes with common input directions.

    Attributes:
        k: None where s = 0 on the mode acted on: its u is not determined.
        g: Exact; None where input directions differ or eigenvalues are conjugate.
        ball: k where the declared parameters have values, else None.
    """

    k: sp.Expr | None = None
    g: Scalar | None
    ball: arb | None = field(default=None, compare=False)

    def values(self) -> dict[str, Any]:
        """Return "overlap" (k) and "input_overlap" (g), and "why" there is no k."""
        if self.k is None:
            why = {} if self.g is None else {"why": _UNDETERMINED}
            return {"overlap": None, "input_overlap": self.g, **why}
        number = {} if self.ball is None else decimals(self.ball)
        return {"overlap": {"expr": self.k, **number}, "input_overlap": self.g}

    def cells(self, notation: Notation) -> tuple[Content, ...]:
        """Return k, g and k g, a dash where there is none."""
        assert self.g is not None
        k, g = self.k, self.g.to_sympy(notation.symbols)
        numbers = (k, g, None if k is None else k * g)
        return tuple("–" if each is None else Math(notation.latex(each)) for each in numbers)


def _overlap(derivation: Derivation, stage: StageDerivation, found: ModeCoupling) -> _Overlap:
    """Return k and g: k s_p s_j is known exactly, and where s differs, so is (s_p s_j)²."""
    squared, g = found.overlap_squared, found.input_overlap
    if squared is None or g is None:
        return _Overlap(g=None)
    if found.target_class.is_null:
        return _Overlap(g=g)
    symbols, values = derivation.spec.symbols, derivation.spec.values
    (p, a), (j, i) = found.target, found.source
    target = stage.pathways[p].spectrum.classes[a].eigenvalue[0]
    source = stage.pathways[j].spectrum.classes[i].eigenvalue[0]
    if target == source:
        k = (squared / target).to_sympy(symbols)
    else:
        root = AlgebraicNumber.rational(target * source, is_sqrt=True)
        k = squared.to_sympy(symbols) / root.to_sympy(symbols)
    return _Overlap(k=k, g=g, ball=_ball(squared, target * source, values))


def _ball(squared: Scalar, product: Scalar, values: Mapping[str, Fraction]) -> arb | None:
    if any(name not in values for name in squared.parameters):
        return None
    divisor = product.substitute(values).to_fraction()
    if not divisor:
        return None
    with precision(BITS):
        return ball(squared.substitute(values).to_fraction()) / ball(divisor).sqrt()


@record(eq=False)
class _Couplings(Claim):
    """All couplings of a stage.

    Attributes:
        derivation: What the stage belongs to.
        stage: The stage.
    """

    derivation: Derivation
    stage: StageDerivation

    @cached_property
    def overlaps(self) -> tuple[_Overlap, ...]:
        """Those of all couplings; couplings that a symmetry maps to each other share one."""
        known: dict[int, _Overlap] = {}
        found = []
        for first in self.stage.verdict.couplings.couplings:
            while first.like is not None:
                first = first.like
            if id(first) not in known:
                known[id(first)] = _overlap(self.derivation, self.stage, first)
            found.append(known[id(first)])
        return tuple(found)

    @property
    def _each(self) -> Iterator[tuple[ModeCoupling, _Overlap]]:
        return zip(self.stage.verdict.couplings.couplings, self.overlaps, strict=True)

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield an entry for every ordered pair of pathways that couple."""
        pathways = self.stage.pathways
        numbers = [pathway.class_numbers for pathway in pathways]
        pairs = {pair: [] for pair in self.stage.verdict.couplings.coupled_pairs}
        for coupling, overlap in self._each:
            (p, a), (j, i) = coupling.target, coupling.source
            ends = {"to": numbers[p][a], "from": numbers[j][i]}
            pairs[p, j].append((ends, overlap))
        for (p, j), found in pairs.items():
            # The numbers that all modes of a pair share, where there are such.
            shared = found and found[0][1].k is not None and len({each for _, each in found}) == 1
            both = found[0][1].values() if shared else self._matrices(p, j)
            modes = [ends | overlap.values() for ends, overlap in found]
            yield {"from": pathways[j].name, "to": pathways[p].name, **both, "modes": modes}

    def _matrices(self, p: int, j: int) -> dict[str, Any]:
        """Return K and G at the declared values, in the bases of the modes with s > 0, or None."""
        target, source = self.stage.pathways[p], self.stage.pathways[j]
        k = g = None
        if self.derivation.spec.has_values and target.rank * source.rank <= MOST_ENTRIES:
            place = self.derivation.stages.index(self.stage)
            pathways = self.derivation.ask(at_values).stages[place].pathways
            with suppress(InputError):  # no room in float64; the certificate has their spaces
                k, g = map(_rounded, _overlap_matrices(pathways[p], pathways[j]))
        return {"overlap": k, "input_overlap": g}

    def says(self) -> Iterator[Block]:
        """Say what k and g are, and list them."""
        yield say(
            r"Pathway $j$ enters the error of pathway $p$ through $K = U_p^{\top} O_p "
            r"O_j U_j$ and $G = V_j^{\top} \Sigma^{x}(j, p) V_p$. Both are computed from "
            "the effective datasets."
        )
        plain = [(c, overlap) for c, overlap in self._each if overlap.g is not None]
        if plain:
            yield self._table(plain)
        if len(plain) < len(self.overlaps):
            yield say(
                f"{len(self.overlaps) - len(plain)} of {len(self.overlaps)} couplings are between "
                "modes whose input directions differ or whose eigenvalues are conjugate: there $K$ "
                f"and $G$ are matrices; derivation.json gives those of up to {MOST_ENTRIES} "
                "entries at the declared values, and the certificate has the spaces that all of "
                "them follow from."
            )

    def _table(self, plain: list[tuple[ModeCoupling, _Overlap]]) -> Table:
        """One row for all couplings with the same k and g, pathways and modes listed."""
        notation, pathways = Notation.of(self.derivation.spec), self.stage.pathways
        cells = {id(overlap): overlap.cells(notation) for _, overlap in plain}
        # Dictionaries as sets that keep their order.
        rows: dict[tuple[Content, ...], tuple[dict[str, None], dict[str, None]]] = {}
        for coupling, overlap in plain:
            pairs, modes = rows.setdefault(cells[id(overlap)], ({}, {}))
            (p, a), (j, i) = coupling.target, coupling.source
            pairs[f"({pathways[p].number}, {pathways[j].number})"] = None
            here, there = pathways[p].mode_numbers(a), pathways[j].mode_numbers(i)
            modes[here if here == there else f"{here} – {there}"] = None
        return Table(
            header=("pathways", "modes", Math("k"), Math("g"), Math("k g")),
            rows=tuple(
                (few([*pairs], MOST_NAMES), few([*modes], MOST_NAMES), *numbers)
                for numbers, (pairs, modes) in rows.items()
            ),
            caption=phrase(
                "Couplings of modes with common input directions: $K = k I$ and $G = g I$ on them; "
                "no $k$ where $s = 0$ on the mode acted on, whose output direction is undetermined."
            ),
            alignment="ppccc",
            most=MOST_COUPLINGS,
        )


def couplings_of(derivation: Derivation) -> tuple[_Couplings, ...]:
    """Return the couplings of every stage, whether or not there are any."""
    return tuple(_Couplings(derivation=derivation, stage=stage) for stage in derivation.stages)


def coupling_entries(derivation: Derivation) -> list[dict[str, Any]]:
    """Return an entry for every ordered pair of pathways that couple."""
    return [entry for stage in derivation.ask(couplings_of) for entry in stage.entries()]


def _rounded(matrix: np.ndarray) -> np.ndarray:
    """Return twelve decimals, fewer of large entries: float64 has some more of the largest."""
    largest = np.abs(matrix).max(initial=1)
    return np.round(matrix, 12 - int(np.ceil(np.log10(largest)))) + 0.0  # -0.0 becomes 0.0


def _overlap_matrices(
    target: PathwayDerivation, source: PathwayDerivation
) -> tuple[np.ndarray, np.ndarray]:
    """Return K = U_pᵀ O_p O_j U_j and G = V_jᵀ Sigma^x(j,p) V_p of the modes with s > 0.

    Shapes (modes of p, modes of j) and (modes of j, modes of p), in the bases of the pathways'
    ``u`` and ``v``, whose entries are those of exact columns, correctly rounded.

    Raises:
        InputError: Float64 has no room for them.
    """
    cross = source.effective.cross_sigma_x(target.effective).to_numpy()
    # The columns of U_p and U_j vanish outside O_p and O_j: the masks are in them already.
    (u, _, v, _), (u_source, _, v_source, _) = target.to_numpy(), source.to_numpy()
    return u.T @ u_source, v_source.T @ cross @ v
