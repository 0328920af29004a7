"""Which reduction a gate pattern admits, decided exactly and with its witness.

Source: Assumption 2.1.1 of [Jarvis2025]; the decision by commutators is a lemma: an
orthogonal V and an orthonormal U with Sigma^{yx} = U S Vᵀ and Sigma^x = V D Vᵀ exist if and only
if Sigma^x commutes with (Sigma^{yx})ᵀ Sigma^{yx}.
"""

from __future__ import annotations

from dataclasses import field, replace
from enum import Enum
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from symreln.base.records import record
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.truth import Truth
from symreln.verdict.closure import Closure
from symreln.verdict.coupling import ModeCoupling, Node, StageCouplings
from symreln.verdict.diagonal import Diagonality
from symreln.verdict.mode_classes import Coefficients, Converged, PathwayModes
from symreln.verdict.refinement import split_by_one, split_by_sums
from symreln.verdict.residual import converged_pathways
from symreln.verdict.stage_symmetry import StageSymmetry

if TYPE_CHECKING:
    from symreln.exact.spectrum import JointSpectrum
    from symreln.networks.effective import EffectiveDataset
    from symreln.networks.shared_edges import EdgeData

#: Characters of an entry that is printed in a sentence; files have it exactly.
_LONGEST_ENTRY = 32


class Level(Enum):
    """The five levels, strongest first.

    :func:`judge` never ends at NUMERIC_ONLY: the exact decisions are total (commutators and
    couplings are identities of rational functions), and the matrix reduction holds for all data.

    Example:
        >>> import symreln as sr
        >>> sr.derive("linear-hierarchy").level is sr.Level.CLOSED
        True
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

    @property
    def closes(self) -> bool:
        """Whether every mode has a closed form."""
        return self in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY)


@record
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
        components: Sets of modes that couple, or stay equal where they are closed by symmetry,
            singletons included.
        spectra: The joint spectra of the pathways; of degenerate classes that other pathways act
            on unequally, those in a basis that suits all of them.
        modes: The modes in that basis.
        split: Whether there are such classes: then several of one pathway have equal s and d.
        diagonal: Whether bases of all nodes make all data diagonal, where edges do not close.
    """

    stage: int
    level: Level
    reasons: tuple[str, ...]
    couplings: StageCouplings
    d_eff: dict[Node, Coefficients]
    components: tuple[frozenset[Node], ...]
    spectra: tuple[JointSpectrum, ...]
    modes: tuple[PathwayModes, ...] = field(repr=False, compare=False)
    split: bool = False
    diagonal: Diagonality | None = None

    @cached_property
    def converged(self) -> tuple[Converged, ...]:
        """What every pathway of a closed stage has learned in the end."""
        return converged_pathways(self.modes, self.d_eff)

    def with_edges(self, edges: EdgeData) -> StageVerdict:
        """Return the verdict on pathways that share edges, or have unequally many of them."""
        sharing = edges.sharing
        if isinstance(sharing, str):
            decision = Diagonality.of(edges)
            proven = decision.outcome is Truth.PROVEN
            level = Level.COUPLED_MODES if proven else Level.COUPLED_MATRICES
            reasons = (decision.reason, sharing)
            return replace(self, level=level, reasons=reasons, d_eff={}, diagonal=decision)
        if not sharing.is_shared or self.level is Level.COUPLED_MATRICES:
            return self
        equal = (
            f"an edge is used by {', '.join(map(str, sharing.uses))} pathways at the places from "
            "the input on, of equal data, so that edges of a place stay equal once they start equal"
        )
        return replace(self, level=Level.CLOSED_BY_SYMMETRY, reasons=(*self.reasons, equal))


@record
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


def _stage_modes(
    effective: tuple[EffectiveDataset, ...], spectra: tuple[JointSpectrum, ...]
) -> tuple[PathwayModes, ...]:
    """Return the modes of a stage's pathways; an image takes them from its original."""
    found: list[PathwayModes] = []
    place = {id(e): p for p, e in enumerate(effective)}
    for e, spectrum in zip(effective, spectra, strict=True):
        original = None if e.image is None else found[place[id(e.image.original)]]
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
    modes = _stage_modes(effective, spectra)
    symmetry = symmetry or StageSymmetry(range(len(effective)), None)
    symmetry.settle(spectra)
    couplings = StageCouplings.of(modes, symmetry)
    found = _Found(modes=modes, couplings=couplings, symmetry=symmetry)
    if found.commutes and found.degenerate and isinstance(found.closure, str):
        found = _in_best_basis(found)
    level, reasons, closure = _decided(found)
    return StageVerdict(
        stage=stage,
        level=level,
        reasons=reasons,
        couplings=found.couplings,
        d_eff={} if closure is None else closure.d_eff,
        components=found.components() if closure is None else closure.parts,
        spectra=tuple(item.spectrum for item in found.modes),
        modes=found.modes,
        split=found.split,
    )


@record(eq=False)
class _Found:
    """The modes of a stage in one basis, and what they do to each other.

    Attributes:
        modes: The modes of its pathways.
        couplings: Their couplings.
        symmetry: Which pathways are alike.
        split: Whether degenerate classes are split.
        searched: Whether all bases of degenerate classes were searched, and none closes more.
    """

    modes: tuple[PathwayModes, ...]
    couplings: StageCouplings
    symmetry: StageSymmetry
    split: bool = False
    searched: bool = False

    @property
    def commutes(self) -> bool:
        """Whether every pathway has a joint eigenbasis."""
        return all(diagonalisable(item.spectrum) is Truth.PROVEN for item in self.modes)

    @property
    def degenerate(self) -> int:
        """The largest multiplicity of modes with s > 0 that couple."""
        ends = ((c.target_class, c.source_class) for c in self.couplings.couplings)
        many = max((m.multiplicity for pair in ends for m in pair if not m.is_null), default=1)
        return many if many > 1 else 0

    @property
    def excluded(self) -> bool:
        """Whether it is proven that no other basis closes more.

        The eigenbasis is unique up to signs where all modes that couple are simple, null ones
        apart, on which everything must cancel. Of other modes all bases were searched; those of
        conjugate ones may close in a form that was not recognised.
        """
        rational = all(c.degree == 1 for item in self.modes for c in item.classes)
        return not self.degenerate or (self.searched and rational)

    def components(self, *, through_null: bool = False) -> tuple[frozenset[Node], ...]:
        """Return the sets of modes that couple, or of modes linked by null ones as well."""
        null = {
            (p, a): mode.is_null
            for p, item in enumerate(self.modes)
            for a, mode in enumerate(item.classes)
        }
        nodes = [node for node in null if through_null or not null[node]]
        parts = self.couplings.components(nodes)
        found = (frozenset(node for node in part if not null[node]) for part in parts)
        return tuple(filter(None, found))

    @cached_property
    def closure(self) -> Closure | str:
        """What closes by symmetry, or what stands in the way.

        What cancels on null modes may do so among modes that nothing else links.
        """
        parts = self.components()
        pairs = [(c.target, c.source) for c in self.couplings.couplings]
        first = Closure.of(self.modes, self.symmetry, pairs, parts)
        wider = self.components(through_null=True)
        if isinstance(first, str) and len(wider) < len(parts):
            second = Closure.of(self.modes, self.symmetry, pairs, wider)
            return first if isinstance(second, str) else second
        return first

    def in_basis(self, spectra: tuple[JointSpectrum, ...]) -> _Found:
        """Return the same in the classes of other spectra, every pathway decided by itself."""
        modes = _stage_modes(tuple(item.effective for item in self.modes), spectra)
        symmetry = StageSymmetry(range(len(modes)), None)
        symmetry.settle(spectra)
        couplings = StageCouplings.of(modes, symmetry)
        return _Found(modes=modes, couplings=couplings, symmetry=symmetry, split=True)


def _in_best_basis(found: _Found) -> _Found:
    """Return the stage in a basis of its degenerate classes that closes as much as any does."""
    spectra = split_by_sums(found.modes, found.couplings)
    if spectra is not None:
        better = found.in_basis(spectra)
        if not isinstance(better.closure, str):
            return better
    apart = found
    while any(c.factors is None for c in apart.couplings.couplings):
        spectra = split_by_one(apart.modes, apart.couplings)  # ends: there are more classes
        if spectra is None:
            return replace(found, searched=True)
        apart = apart.in_basis(spectra)
    return replace(apart, searched=True)


def _decided(found: _Found) -> tuple[Level, tuple[str, ...], Closure | None]:
    """Return (the first level that is proven, why, what is closed by symmetry)."""
    modes, couplings = found.modes, found.couplings
    names = [item.effective.pathway.name for item in modes]
    broken = [
        _commutator_reason(name, item.spectrum)
        for name, item in zip(names, modes, strict=True)
        if diagonalisable(item.spectrum) is not Truth.PROVEN
    ]
    if broken:
        return Level.COUPLED_MATRICES, tuple(broken), None
    commuting = (
        f"every pathway's Sigma^x commutes with Sigma^yx^T Sigma^yx ({', '.join(names)})"
        if len(names) > 1
        else f"Sigma^x of '{names[0]}' commutes with Sigma^yx^T Sigma^yx"
    )
    if not couplings.couplings:
        alone = "no two pathways couple" if len(names) > 1 else "there is no other pathway"
        return Level.CLOSED, (f"{commuting}; {alone} in this stage",), None
    closure = found.closure
    if not isinstance(closure, str):
        pairs = _coupled_pairs(couplings, names)
        equal = (
            f"{pairs} couple, but modes of equal s, equal d and equal total coupling stay equal "
            "once they start equal, and what acts on them from other modes adds up to 0"
            if couplings.act_across(closure.parts)
            else f"{pairs} couple, but the modes that couple have equal s, equal d and equal total "
            "coupling, so they stay equal once they start equal"
        )
        return Level.CLOSED_BY_SYMMETRY, (commuting, equal + _basis(found)), closure
    level, how = _without_symmetry(found)
    return level, (commuting, _not_by_symmetry(found, closure), how + _basis(found)), None


def _basis(found: _Found) -> str:
    return (
        "; modes of equal s and d are taken in the basis that suits all pathways"
        if found.split
        else ""
    )


def _not_by_symmetry(found: _Found, obstacle: str) -> str:
    """Return why a stage is not closed by symmetry, or not proven to be."""
    many = f"modes of equal s and d (here up to {found.degenerate})"
    if not found.excluded:
        return f"not proven to be closed by symmetry: {obstacle}; {many} were taken together"
    every = f"; no other basis of {many} closes" if found.degenerate else ""
    return f"not closed by symmetry: {obstacle}{every}"


def _without_symmetry(found: _Found) -> tuple[Level, str]:
    """Return (coupled modes or matrices, why) of a stage that is not closed by symmetry."""
    modes, couplings = found.modes, found.couplings.couplings
    leaks = (c for c in couplings if c.target_class.is_null or c.factors is None)
    first = next(leaks, None)
    if first is None:
        return Level.COUPLED_MODES, (
            "every coupling maps modes to modes, so the strengths obey a competitive "
            "Lotka-Volterra system"
        )
    proven = next((c for c in chain([first], leaks) if c.leaks_in_every_basis), None)
    if proven is not None:
        return Level.COUPLED_MATRICES, (
            f"{_leak(proven, modes)}, so the strengths alone, each starting anywhere, do not close"
        )
    source, target = (modes[p].named(a) for p, a in (first.source, first.target))
    many = first.target_class.multiplicity
    mixes = f"the action of {source} mixes {target}, of multiplicity {many}"
    if found.excluded:
        return Level.COUPLED_MATRICES, (
            f"{mixes}, and no other basis closes, so the strengths alone do not close"
        )
    return Level.COUPLED_MATRICES, (
        f"not proven to close: in the eigenbasis at hand {mixes}; another basis of that space is "
        "not excluded"
    )


def _commutator_reason(name: str, spectrum: JointSpectrum) -> str:
    found = spectrum.commutator
    assert found is not None
    value = AlgebraicNumber.rational(found.value)
    if len(str(found.value)) <= _LONGEST_ENTRY:
        shown = f"= {found.value}"
    elif value.parameters:
        shown = f"is a long function of {', '.join(value.parameters)}"
    else:
        shown = f"about {value.scientific({}, 4)}"
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
    source, target = (modes[p].named(a) for p, a in (coupling.source, coupling.target))
    if coupling.target_class.is_null:
        return f"{source} drives null {target}"
    if coupling.leaves_span:
        return f"the action of {source} on {target} leaves the latter's span"
    return f"the action of {source} mixes {target}"
