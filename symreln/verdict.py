"""Which reduction a gate pattern admits, decided exactly and with its witness.

Source: Assumption 2.1.1 of [Jarvis2025]; the decision by commutators is theory.md's lemma: an
orthogonal V and an orthonormal U with Sigma^{yx} = U S Vᵀ and Sigma^x = V D Vᵀ exist if and only
if Sigma^x commutes with (Sigma^{yx})ᵀ Sigma^{yx}.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from symreln.exact.algebraic import AlgebraicNumber
from symreln.pathways.alike import StageSymmetry
from symreln.pathways.closure import node_name, symmetric_closure
from symreln.pathways.coupling import ModeCoupling, Node, StageCouplings, stage_couplings
from symreln.pathways.modes import Coefficients, PathwayModes
from symreln.truth import Truth

if TYPE_CHECKING:
    from symreln.exact.spectrum import JointSpectrum
    from symreln.pathways.effective import EffectiveDataset


class Level(Enum):
    """The five levels, strongest first.

    NUMERIC_ONLY is for derivations that a limit cuts short. Without limits the exact decisions
    are total (commutators and couplings are identities of rational functions), and the matrix
    reduction holds for all data, so that :func:`judge` never ends there.
    """

    CLOSED = "closed"
    CLOSED_BY_SYMMETRY = "closed by symmetry"
    COUPLED_MODES = "coupled modes"
    COUPLED_MATRICES = "coupled matrices"
    NUMERIC_ONLY = "numeric only"

    @property
    def rank(self) -> int:
        """0 for the strongest level, 4 for the weakest."""
        return list(Level).index(self)


@dataclass(frozen=True, kw_only=True)
class StageVerdict:
    """What holds for the pathways of one stage.

    Attributes:
        stage: The stage, from 1.
        level: The first level that is proven.
        reasons: Why this level, and why none of the stronger ones.
        couplings: All couplings of the stage.
        d_eff: Effective input eigenvalue of every mode that is closed by symmetry, keyed by
            (pathway in the stage, mode class), as polynomials in the class's root; a class that
            is absent has d_eff = d.
        components: Sets of modes that couple, singletons included.
    """

    stage: int
    level: Level
    reasons: tuple[str, ...]
    couplings: StageCouplings
    d_eff: dict[Node, Coefficients]
    components: tuple[frozenset[Node], ...]


@dataclass(frozen=True, kw_only=True)
class DiagonalisabilityVerdict:
    """Whether the pathways are mutually diagonalisable (the papers' "mutually diagonalizable").

    Attributes:
        stages: One verdict a stage.
    """

    stages: tuple[StageVerdict, ...]

    @property
    def level(self) -> Level:
        """The weakest level of the stages."""
        return max((stage.level for stage in self.stages), key=lambda level: level.rank)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The stages' reasons, each with its stage where there are several."""
        if len(self.stages) == 1:
            return self.stages[0].reasons
        return tuple(f"stage {s.stage}: {reason}" for s in self.stages for reason in s.reasons)


def diagonalisable(spectrum: JointSpectrum) -> Truth:
    """Return whether a pathway's two correlations have a joint eigenbasis."""
    return Truth.PROVEN if spectrum.commutes else Truth.REFUTED


def stage_modes(
    effective: tuple[EffectiveDataset, ...], spectra: tuple[JointSpectrum, ...]
) -> tuple[PathwayModes, ...]:
    """Return the modes of a stage's pathways; a pathway with a twin takes them from the twin."""
    found: list[PathwayModes] = []
    place = {id(e): p for p, e in enumerate(effective)}
    for e, spectrum in zip(effective, spectra, strict=True):
        original = None if e.twin is None else found[place[id(e.twin.original)]]
        found.append(PathwayModes(e, spectrum, original))
    return tuple(found)


def judge(
    stage: int,
    effective: tuple[EffectiveDataset, ...],
    spectra: tuple[JointSpectrum, ...],
    symmetry: StageSymmetry | None = None,
) -> StageVerdict:
    """Decide the level of one stage.

    Args:
        stage: Its number, from 1.
        effective: Correlations of its pathways.
        spectra: Their joint spectra.
        symmetry: Which pathways are alike; None to decide every one by itself.
    """
    modes = stage_modes(effective, spectra)
    symmetry = symmetry or StageSymmetry.trivial(len(effective))
    symmetry.settle(spectra)
    couplings = stage_couplings(modes, symmetry)
    nodes = [
        (p, a)
        for p, spectrum in enumerate(spectra)
        for a, mode in enumerate(spectrum.classes)
        if not mode.is_null
    ]
    components = tuple(couplings.components(nodes))
    level, reasons, d_eff = _decided(modes, couplings, components, symmetry)
    return StageVerdict(
        stage=stage,
        level=level,
        reasons=reasons,
        couplings=couplings,
        d_eff=d_eff,
        components=components,
    )


def _decided(
    modes: tuple[PathwayModes, ...],
    couplings: StageCouplings,
    components: tuple[frozenset[Node], ...],
    symmetry: StageSymmetry,
) -> tuple[Level, tuple[str, ...], dict[Node, Coefficients]]:
    """Return (the first level that is proven, why, d_eff of the classes closed by symmetry)."""
    names = [item.effective.pathway.name for item in modes]
    broken = [
        _commutator_reason(name, item.spectrum)
        for name, item in zip(names, modes, strict=True)
        if diagonalisable(item.spectrum) is not Truth.PROVEN
    ]
    if broken:
        return Level.COUPLED_MATRICES, tuple(broken), {}
    commuting = (
        f"every pathway's Sigma^x commutes with Sigma^yx^T Sigma^yx ({', '.join(names)})"
        if len(names) > 1
        else f"Sigma^x of '{names[0]}' commutes with Sigma^yx^T Sigma^yx"
    )
    if not couplings.couplings:
        alone = "no two pathways couple" if len(names) > 1 else "there is no other pathway"
        return Level.CLOSED, (f"{commuting}; {alone} in this stage",), {}
    d_eff, obstacle = symmetric_closure(modes, couplings, components, symmetry)
    if not obstacle:
        equal = (
            f"{_coupled_pairs(couplings, names)} couple, but the modes that couple have equal s, "
            "equal d and equal total coupling, so they stay equal once they start equal"
        )
        return Level.CLOSED_BY_SYMMETRY, (commuting, equal), d_eff
    level, how = _without_symmetry(modes, couplings)
    return level, (commuting, _not_by_symmetry(modes, couplings, obstacle), how), {}


def _not_by_symmetry(
    modes: tuple[PathwayModes, ...], couplings: StageCouplings, obstacle: str
) -> str:
    """Return why a stage is not closed by symmetry, or not proven to be.

    The eigenbasis is unique up to signs where all modes that couple are simple, null ones apart,
    on which everything must cancel. Else only classes as a whole were tried: another basis of a
    degenerate space may do what they do not.
    """
    many = max(
        mode.multiplicity
        for c in couplings.couplings
        for mode in (c.target_class, c.source_class)
        if not mode.is_null
    )
    if many == 1:
        return f"not closed by symmetry: {obstacle}"
    return (
        f"not proven to be closed by symmetry: {obstacle}; modes of equal s and d (here up to "
        f"{many}) were taken together"
    )


def _without_symmetry(
    modes: tuple[PathwayModes, ...], couplings: StageCouplings
) -> tuple[Level, str]:
    """Return (coupled modes or matrices, why) of a stage that is not closed by symmetry."""
    leaks = (c for c in couplings.couplings if c.target_class.is_null or c.factors is None)
    first = next(leaks, None)
    if first is None:
        return Level.COUPLED_MODES, (
            "every coupling maps modes to modes, so the strengths obey a competitive "
            "Lotka-Volterra system"
        )
    proven = first if first.leaks_in_every_basis else None
    proven = proven or next((c for c in leaks if c.leaks_in_every_basis), None)
    if proven is None:
        return Level.COUPLED_MATRICES, (
            "not proven to close: in the eigenbasis at hand the action of "
            f"{node_name(modes, first.source)} mixes {node_name(modes, first.target)}, of "
            f"multiplicity {first.target_class.multiplicity}; another basis of that space is not "
            "excluded"
        )
    return Level.COUPLED_MATRICES, (
        f"{_leak(proven, modes)}, so the strengths alone, each starting anywhere, do not close"
    )


def _commutator_reason(name: str, spectrum: JointSpectrum) -> str:
    found = spectrum.commutator
    assert found is not None
    value = AlgebraicNumber.rational(found.value)
    shown = f"about {value.scientific({}, 4)}" if value.is_long else f"= {found.value}"
    return (
        f"pathway '{name}' is not diagonalisable: "
        f"[Sigma^yx^T Sigma^yx, Sigma^x][{found.row + 1}, {found.column + 1}] {shown}, "
        "not 0"
    )


def _coupled_pairs(couplings: StageCouplings, names: list[str]) -> str:
    pairs = sorted({tuple(sorted(pair)) for pair in couplings.coupled_pairs})
    shown = [f"'{names[p]}' and '{names[j]}'" for p, j in pairs[:3]]
    more = f" and {len(pairs) - 3} more pairs" if len(pairs) > 3 else ""
    return ", ".join(shown) + more


def _leak(coupling: ModeCoupling, modes: tuple[PathwayModes, ...]) -> str:
    source, target = node_name(modes, coupling.source), node_name(modes, coupling.target)
    if coupling.target_class.is_null:
        return f"{source} drives null {target}"
    if coupling.leaves_span:
        return f"the action of {source} on {target} leaves the latter's span"
    return f"the action of {source} mixes {target}"
