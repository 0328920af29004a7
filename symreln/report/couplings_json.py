"""The couplings of derivation.json: one entry for every ordered pair of pathways that couple."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.errors import InputError
from symreln.report.couplings import original, overlap, overlap_decimal

if TYPE_CHECKING:
    import numpy as np

    from symreln.claims.derivation import Derivation, PathwayDerivation, StageDerivation
    from symreln.verdict.coupling import ModeCoupling

DIGITS = 21
#: Entries up to which K and G are given as matrices. Larger ones, in bases of degenerate spaces
#: that are as good as any other, say less than their spaces, which the certificate has exactly.
MOST_ENTRIES = 400

UNDETERMINED = "s = 0 on the mode acted on: the data do not determine its output direction u"

Overlaps = dict[str, Any]


def couplings_to_json(derivation: Derivation, stage: StageDerivation) -> list[dict[str, Any]]:
    """Return one entry for every ordered pair of pathways of a stage that couple."""
    by_pair: dict[tuple[int, int], list[ModeCoupling]] = {}
    for coupling in stage.verdict.couplings.couplings:
        by_pair.setdefault((coupling.target[0], coupling.source[0]), []).append(coupling)
    numbers = [_mode_numbers(pathway) for pathway in stage.pathways]
    known: dict[int, Overlaps] = {}
    entries = []
    for p, j in stage.verdict.couplings.coupled_pairs:
        found = by_pair.get((p, j), [])
        modes = [
            {
                "to": numbers[p][coupling.target[1]],
                "from": numbers[j][coupling.source[1]],
                **_overlaps(derivation, stage, coupling, known),
            }
            for coupling in found
        ]
        entries.append(
            {
                "from": stage.pathways[j].name,
                "to": stage.pathways[p].name,
                **(_common(modes) or _matrices(derivation, stage, p, j)),
                "modes": modes,
            }
        )
    return entries


def _mode_numbers(pathway: PathwayDerivation) -> dict[int, list[int]]:
    """Return the numbers of the modes of every class."""
    numbers: dict[int, list[int]] = {}
    for mode in pathway.modes:
        numbers.setdefault(mode.class_index, []).append(mode.number)
    return numbers


def _overlaps(
    derivation: Derivation,
    stage: StageDerivation,
    coupling: ModeCoupling,
    known: dict[int, Overlaps],
) -> Overlaps:
    """Return k and g of two classes, made once for all that a symmetry maps to each other."""
    first = original(coupling)
    if id(first) not in known:
        known[id(first)] = _numbers(derivation, stage, first)
    return known[id(first)]


def _numbers(derivation: Derivation, stage: StageDerivation, coupling: ModeCoupling) -> Overlaps:
    spec = derivation.spec
    k, g = overlap(stage, coupling, spec.symbols)
    if g is None or coupling.input_overlap is None:
        return {"overlap": None, "input_overlap": None}
    number: dict[str, str] | None = None if k is None else {"expr": str(k)}
    decimal = overlap_decimal(stage, coupling, spec.values, DIGITS)
    if number is not None and decimal is not None:
        number["decimal"], number["radius"] = decimal
    from symreln.exact.algebraic import AlgebraicNumber

    gain = AlgebraicNumber.rational(coupling.input_overlap)
    found = {"overlap": number, "input_overlap": gain.to_json(spec.values, spec.symbols, DIGITS)}
    return found if number is not None else {**found, "why": UNDETERMINED}


def _common(modes: list[dict[str, Any]]) -> Overlaps | None:
    """Return the numbers k and g that all modes of a pair share, or None."""
    if not modes or any(mode["overlap"] is None for mode in modes):
        return None
    first = {key: modes[0][key] for key in ("overlap", "input_overlap")}
    same = all(all(mode[key] == value for key, value in first.items()) for mode in modes)
    return first if same else None


def _matrices(derivation: Derivation, stage: StageDerivation, p: int, j: int) -> Overlaps:
    """Return K and G at the declared values, in the bases of the modes with s > 0, or None."""
    from symreln.claims.prediction import overlap_matrices

    target, source = stage.pathways[p], stage.pathways[j]
    unknown = any(parameter.value is None for parameter in derivation.spec.parameters)
    if unknown or _learning(target) * _learning(source) > MOST_ENTRIES:
        return {"overlap": None, "input_overlap": None}
    place = [s.stage for s in derivation.stages].index(stage.stage)
    pathways = derivation.at_values.stages[place].pathways
    try:
        k, g = overlap_matrices(pathways[p], pathways[j])
    except InputError:  # float64 has no room for them; the certificate has their spaces
        return {"overlap": None, "input_overlap": None}
    return {"overlap": _rounded(k), "input_overlap": _rounded(g)}


def _learning(pathway: PathwayDerivation) -> int:
    return sum(mode.multiplicity for mode in pathway.modes if not mode.is_null)


def _rounded(matrix: np.ndarray) -> list[list[float]]:
    """Return entries to twelve decimals; they are certified beyond that."""
    # Adding 0.0 turns -0.0 into 0.0.
    return [[round(float(entry), 12) + 0.0 for entry in row] for row in matrix]
