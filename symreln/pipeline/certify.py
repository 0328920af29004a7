"""The certificate of a derivation: its exact claims as :mod:`symreln.exact.certificate` takes them.

Pathways that a symmetry maps to each other are shown once. One symmetry that turns a whole orbit
in a circle is preferred to one for every pathway.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.exact.certificate import (
    BOUNDARY,
    CertifiedComponent,
    CertifiedCoupling,
    CertifiedPathway,
    CertifiedStage,
    CertifiedSymmetry,
    build_certificate,
)
from symreln.network.symmetry import Symmetry, SymmetrySearch
from symreln.verdict.judge import Level
from symreln.verdict.minimiser import minimising_maps

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation, PathwayDerivation, StageDerivation
    from symreln.exact.sparse import SparseMatrix
    from symreln.spec.model import Gain, PathwaySpec

#: For every pathway, by place in the spec: (place of an earlier pathway, number of a symmetry).
Likeness = dict[int, tuple[int, int]]


def certificate(derivation: Derivation) -> dict[str, Any]:
    """Return the certificate; that of gates which switch names those of the gates taken later."""
    dataset = derivation.spec.dataset
    symmetries, like = _symmetries(derivation)
    maps = [_maps(stage) for stage in derivation.stages]
    kept = all(
        _keeps(s, stage, found)
        for s in symmetries
        for stage, found in zip(derivation.stages, maps, strict=True)
        if found is not None
    )
    # Where classes of equal s and d are split, a symmetry may map them to each other.
    if not kept or any(stage.verdict.split for stage in derivation.stages):
        symmetries, like = [], {}
    return build_certificate(
        inputs=dataset.sparse_inputs,
        targets=dataset.sparse_targets,
        symmetries=[
            CertifiedSymmetry(
                inputs=tuple(s.inputs.tolist()),
                outputs=tuple(s.outputs.tolist()),
                samples=tuple(s.samples.tolist()),
            )
            for s in symmetries
        ],
        stages=[
            _stage(stage, like, found) for stage, found in zip(derivation.stages, maps, strict=True)
        ],
        phases=[
            (step, phase.ask(certificate)["digest"])
            for step, phase in zip(derivation.spec.switches, derivation.later, strict=True)
        ],
    )


# -- symmetries -----------------------------------------------------------------------------------


def _symmetries(derivation: Derivation) -> tuple[list[Symmetry], Likeness]:
    """Return symmetries, and for every pathway with a twin how it is the image of another one."""
    orbits: dict[int, list[PathwayDerivation]] = {}
    for pathway in derivation.pathways:
        twin = pathway.effective.twin
        own = id(pathway.effective if twin is None else twin.original)
        orbits.setdefault(own, []).append(pathway)
    turning = [orbit for orbit in orbits.values() if len(orbit) > 1]
    if not turning:
        return [], {}
    spec = derivation.spec
    stage_of = {p.number: s.stage for s in derivation.stages for p in s.pathways}
    numbers = [p.number for p in derivation.pathways]
    search = SymmetrySearch(spec.dataset, spec.pathways, [stage_of[n] for n in numbers])
    found: list[Symmetry] = []
    like: Likeness = {}
    for orbit in turning:
        places = [p.number - 1 for p in orbit]
        circle = search.find(places, [*places[1:], places[0]])
        if circle is not None:
            like |= {b: (a, len(found)) for a, b in pairwise(places)}
            found.append(circle)
            continue
        for pathway in orbit[1:]:
            twin = pathway.effective.twin
            assert twin is not None
            like[pathway.number - 1] = (places[0], len(found))
            found.append(twin.symmetry)
    own = {
        p.number - 1: min(q.number - 1 for q in orbit) for orbit in orbits.values() for p in orbit
    }
    closed = all(own[p] == own[image] for s in found for p, image in enumerate(s.pathways))
    return (found, like) if closed else ([], {})


def _keeps(symmetry: Symmetry, stage: StageDerivation, maps: tuple[SparseMatrix, ...]) -> bool:
    """Whether a symmetry maps a stage's weights onto themselves."""
    place = {p.number - 1: k for k, p in enumerate(stage.pathways)}
    origin_outputs = np.argsort(symmetry.outputs).tolist()
    for k, pathway in enumerate(stage.pathways):
        image = place[symmetry.pathways[pathway.number - 1]]
        inputs = pathway.effective.pathway.inputs
        local = {int(symmetry.inputs[i]): n for n, i in enumerate(inputs)}
        columns = [local[i] for i in stage.pathways[image].effective.pathway.inputs]
        if maps[k].select(rows=origin_outputs, columns=columns) != maps[image]:
            return False
    return True


def _marked_gate(pathway: PathwaySpec) -> tuple[Gain | str, ...]:
    """Return a pathway's gate with / on the samples to which its inputs are made orthogonal."""
    return tuple(
        BOUNDARY if sample in pathway.boundary else value
        for sample, value in enumerate(pathway.gate)
    )


# -- stages ---------------------------------------------------------------------------------------


def _closed(stage: StageDerivation) -> bool:
    return stage.verdict.level in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY)


def _maps(stage: StageDerivation) -> tuple[SparseMatrix, ...] | None:
    return None if _closed(stage) else minimising_maps([p.effective for p in stage.pathways])


def _stage(
    stage: StageDerivation, like: Likeness, maps: tuple[SparseMatrix, ...] | None
) -> CertifiedStage:
    place = {p.number - 1: k for k, p in enumerate(stage.pathways)}
    known = {place[p]: (place[q], s) for p, (q, s) in like.items() if p in place}
    return CertifiedStage(
        pathways=tuple(
            CertifiedPathway(
                name=pathway.name,
                gate=_marked_gate(pathway.effective.pathway),
                inputs=pathway.effective.pathway.inputs,
                outputs=pathway.effective.pathway.outputs,
                spectrum=pathway.spectrum,
                like=known.get(k),
            )
            for k, pathway in enumerate(stage.pathways)
        ),
        level=stage.verdict.level.value,
        final_loss=stage.final_loss,
        components=_components(stage),
        couplings=_couplings(stage, known),
        maps=maps,
    )


def _components(stage: StageDerivation) -> tuple[CertifiedComponent, ...]:
    if stage.verdict.level is not Level.CLOSED_BY_SYMMETRY:
        return ()
    found = []
    for component in stage.verdict.components:
        if len(component) > 1:
            p, a = min(component)
            d_eff = stage.verdict.d_eff.get((p, a), stage.pathways[p].spectrum.classes[a].d)
            assert d_eff is not None
            found.append(CertifiedComponent(members=tuple(sorted(component)), d_eff=d_eff))
    return tuple(found)


def _couplings(
    stage: StageDerivation, known: dict[int, tuple[int, int]]
) -> tuple[CertifiedCoupling, ...]:
    commute = all(p.spectrum.commutes for p in stage.pathways)
    if _closed(stage) or not commute:
        return ()
    shown = [c for c in stage.verdict.couplings.couplings if c.target[0] not in known]
    if stage.verdict.level is Level.COUPLED_MODES:
        return tuple(
            CertifiedCoupling(target=c.target, source=c.source, factors=c.factors) for c in shown
        )
    classes = [pathway.spectrum.classes for pathway in stage.pathways]
    leak = next(c for c in shown if classes[c.target[0]][c.target[1]].is_null or c.factors is None)
    return (CertifiedCoupling(target=leak.target, source=leak.source, factors=None),)
