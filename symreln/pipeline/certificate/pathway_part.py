"""The part of a certificate on gated pathways.

Pathways that a symmetry maps to each other are shown once. One symmetry that turns a whole orbit
in a circle is preferred to one for every pathway.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from symreln.claims.derivation import Derivation, PathwayDerivation, StageDerivation
from symreln.exact.field import Field
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.spectrum import JointSpectrum, ModeClass
from symreln.networks.symmetry import Symmetry, SymmetrySearch
from symreln.pipeline.certificate.texts import Json, Texts
from symreln.specs.spec import PathwaySpec
from symreln.verdict.judge import Level
from symreln.verdict.mode_classes import gram_inverse
from symreln.verdict.residual import minimising_maps

#: For every pathway, by place in the spec: (place of an earlier pathway, number of a symmetry).
_Likeness = dict[int, tuple[int, int]]
_Maps = tuple[ExactMatrix, ...] | None


def pathways_part(derivation: Derivation) -> Json:
    """Return the part on a derivation's first gates."""
    search = derivation.search
    symmetries, like = ([], {}) if search is None else _symmetries(derivation, search)
    maps = [
        None if _closed(stage) else minimising_maps([p.effective for p in stage.pathways])
        for stage in derivation.stages
    ]
    kept = all(
        _keeps(s, stage, found)
        for s in symmetries
        for stage, found in zip(derivation.stages, maps, strict=True)
        if found is not None
    )
    # Where classes of equal s and d are split, a symmetry may map them to each other.
    if not kept or any(stage.verdict.split for stage in derivation.stages):
        symmetries, like = [], {}
    texts, last = Texts.of(derivation.spec), derivation.stages[-1]
    return {
        "kind": "pathways",
        "step": 0,
        "symmetries": [
            {name: getattr(s, name).tolist() for name in ("inputs", "outputs", "samples")}
            for s in symmetries
        ],
        "stages": [
            _stage(stage, like, found, texts, last=stage is last)
            for stage, found in zip(derivation.stages, maps, strict=True)
        ],
        "level": derivation.verdict.level.value,
    }


# -- symmetries -----------------------------------------------------------------------------------


def _symmetries(derivation: Derivation, search: SymmetrySearch) -> tuple[list[Symmetry], _Likeness]:
    """Return symmetries, and for every image of which pathway it is one."""
    orbits: dict[int, list[PathwayDerivation]] = {}
    for pathway in derivation.pathways:
        image = pathway.effective.image
        own = id(pathway.effective if image is None else image.original)
        orbits.setdefault(own, []).append(pathway)
    turning = [orbit for orbit in orbits.values() if len(orbit) > 1]
    found: list[Symmetry] = []
    like: _Likeness = {}
    for orbit in turning:
        places = [p.number - 1 for p in orbit]
        circle = search.find(places, [*places[1:], places[0]])
        if circle is not None:
            like |= {b: (a, len(found)) for a, b in pairwise(places)}
            found.append(circle)
            continue
        for pathway in orbit[1:]:
            image = pathway.effective.image
            assert image is not None
            like[pathway.number - 1] = (places[0], len(found))
            found.append(image.symmetry)
    own = {
        p.number - 1: min(q.number - 1 for q in orbit) for orbit in orbits.values() for p in orbit
    }
    closed = all(own[p] == own[image] for s in found for p, image in enumerate(s.pathways))
    return (found, like) if closed else ([], {})


def _keeps(symmetry: Symmetry, stage: StageDerivation, maps: tuple[ExactMatrix, ...]) -> bool:
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


# -- stages ---------------------------------------------------------------------------------------


def _closed(stage: StageDerivation) -> bool:
    return stage.verdict.level.closes


def _stage(
    stage: StageDerivation, like: _Likeness, maps: _Maps, texts: Texts, *, last: bool
) -> Json:
    place = {p.number - 1: k for k, p in enumerate(stage.pathways)}
    known = {place[p]: (place[q], s) for p, (q, s) in like.items() if p in place}
    commute, alone = all(p.spectrum.commutes for p in stage.pathways), len(stage.pathways) == 1
    learned = [c.d_eff for c in stage.verdict.converged] if _closed(stage) else []
    coupled = (sorted(nodes) for nodes in stage.verdict.components if len(nodes) > 1)
    symmetric = stage.verdict.level is Level.CLOSED_BY_SYMMETRY
    return {
        "pathways": [
            pathway_json(
                pathway.effective.pathway,
                pathway.spectrum,
                texts,
                like=known.get(k),
                projectors=commute and not (alone and last),
                rests=not commute or (alone and not like),
                d_eff=learned[k] if learned else None,
            )
            for k, pathway in enumerate(stage.pathways)
        ],
        "components": [
            {"members": [*map(list, members)], "d_eff": texts.ratios(learned[p][a])}
            for members in (sorted(coupled) if symmetric else ())
            for p, a in members[:1]
        ],
        "couplings": _couplings(stage, known, texts) if commute and not learned else [],
        "level": stage.verdict.level.value,
        "map": None
        if maps is None
        else [None if k in known else texts.matrix(w) for k, w in enumerate(maps)],
        "final_loss": texts.ratio(stage.final_loss),
    }


def _couplings(
    stage: StageDerivation, known: dict[int, tuple[int, int]], texts: Texts
) -> list[Json]:
    """Return every coupling of pathways that are shown, or one that leaves its target's modes."""
    shown = [c for c in stage.verdict.couplings.couplings if c.target[0] not in known]
    modes = stage.verdict.level is Level.COUPLED_MODES
    if not modes:
        null = [[each.is_null for each in p.spectrum.classes] for p in stage.pathways]
        shown = [next(c for c in shown if c.factors is None or null[c.target[0]][c.target[1]])]
    return [
        {
            "target": list(c.target),
            "source": list(c.source),
            "factors": [*map(texts.ratios, c.factors)] if modes and c.factors is not None else None,
        }
        for c in sorted(shown, key=lambda c: (c.target, c.source))
    ]


# -- pathways and modes ---------------------------------------------------------------------------


def pathway_json(
    pathway: PathwaySpec,
    spectrum: JointSpectrum,
    texts: Texts,
    *,
    like: tuple[int, int] | None = None,
    projectors: bool = False,
    rests: bool = False,
    d_eff: Mapping[int, tuple[Scalar, ...]] | None = None,
) -> Json:
    """Return what a certificate holds of one pathway.

    Args:
        pathway: Name, gate, inputs and outputs.
        spectrum: Its joint spectrum, rows and columns in the order of its inputs.
        texts: The spelling of numbers.
        like: (an earlier pathway of the stage, symmetry) of which it is the image, or None.
        projectors: Whether other classes or stages need the projectors on its classes.
        rests: Whether what is orthogonal to all other classes is shown by no vectors.
        d_eff: Of every class that learns something, None where its stage is not closed.
    """
    commutator = None if like else spectrum.commutator
    learned = d_eff or {}
    return {
        "name": pathway.name,
        "gate": [
            "/" if n in pathway.boundary else texts.ratio(g) if isinstance(g, Scalar) else int(g)
            for n, g in enumerate(pathway.gate)
        ],
        "inputs": list(pathway.inputs),
        "outputs": list(pathway.outputs),
        "like": like and list(like),
        "commutator": None
        if commutator is None
        else {
            "row": commutator.row,
            "column": commutator.column,
            "value": texts.ratio(commutator.value),
            "relative_norm_squared": texts.ratio(commutator.relative_norm_squared),
        },
        "classes": None
        if like
        else [
            _class(spectrum, each, texts, learned.get(a), projector=projectors, rests=rests)
            for a, each in enumerate(spectrum.classes)
        ],
    }


def _class(
    spectrum: JointSpectrum,
    mode_class: ModeClass,
    texts: Texts,
    d_eff: tuple[Scalar, ...] | None,
    *,
    projector: bool,
    rests: bool,
) -> Json:
    operator = mode_class.operator
    return {
        "operator": texts.ratios([operator.weight_m, operator.weight_x])
        if operator.is_sum
        else texts.matrix(spectrum.operator_matrix(mode_class)),
        "minpoly": texts.ratios(mode_class.minpoly),
        "eigenvalue": texts.ratios(mode_class.eigenvalue),
        "d": None if mode_class.d is None else texts.ratios(mode_class.d),
        "generators": None if rests and mode_class.is_rest else texts.matrix(mode_class.generators),
        "gram_inverse": texts.matrix(gram_inverse(spectrum, mode_class))
        if projector and not mode_class.is_null
        else None,
        "inverse_d_eff": texts.ratios(Field(mode_class.minpoly).inverse(d_eff))
        if d_eff is not None
        else None,
    }
