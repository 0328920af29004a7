"""All exceptional sets of a derivation: conditions of data, spectra and verdicts, put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from symreln.base.summaries import few
from symreln.claims.exceptional.claim import Consequence, ExceptionalSet, ExceptionalSets
from symreln.claims.exceptional.conditions import (
    Condition,
    Effect,
    norm,
    spectrum_conditions,
)
from symreln.claims.widths import narrow_pathways
from symreln.exact import domain
from symreln.exact.algebraic import real_roots
from symreln.exact.factoring import factors
from symreln.exact.scalar import cleared
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from flint import fmpz_mpoly

    from symreln.claims.derivation import Derivation, PathwayDerivation, StageDerivation
    from symreln.specs.model import Spec

_JUMPS = (Effect.NULL, Effect.JUMP, Effect.LIMIT, Effect.RESIDUAL)

_COUNTS = ("none", "one", "two", "three", "four", "five", "six")

_LOST_RANK = (
    "whether the loss that is left jumps where features of several pathways become dependent"
)


def exceptional_sets(derivation: Derivation) -> ExceptionalSets | None:
    """Return where the generic answer does not hold as it stands, or None without parameters."""
    spec = derivation.spec
    names = tuple(p.name for p in spec.parameters)
    if not names:
        return None
    undecided: list[str] = []
    found = [
        Condition(polynomial=polynomial, effect=Effect.UNDEFINED, proven=True)
        for polynomial in _data_poles(spec)
    ]
    poles = {str(condition.polynomial) for condition in found}
    for index, stage in enumerate(derivation.stages):
        found += [
            condition
            for condition in _of_stage(stage, undecided, first=index == 0)
            if str(condition.polynomial) not in poles
        ]
    ranges = {p.name: p.range for p in spec.parameters}
    sets = [_placed(group, names, ranges, derivation) for group in _grouped(found)]
    return ExceptionalSets(
        parameters=names,
        domain=", ".join(text for r in ranges.values() if (text := r.text)),
        sets=tuple(item for item in sets if not item.excluded),
        outside=tuple(item for item in sets if item.excluded),
        undecided=tuple(dict.fromkeys(undecided)),
        narrow=tuple(one.pathway.number for one in derivation.ask(narrow_pathways)),
        until=spec.until,
    )


def _data_poles(spec: Spec) -> list[fmpz_mpoly]:
    """Return the factors of all denominators of the data and the gains."""
    bottoms = [spec.dataset.inputs.denominator, spec.dataset.targets.denominator]
    for pathway in spec.pathways:
        bottoms += [gain.denominator for gain in pathway.gate if not isinstance(gain, int)]
    distinct = {str(bottom): bottom for bottom in bottoms}
    return list({str(f): f for bottom in distinct.values() for f in factors(bottom)}.values())


def _of_stage(stage: StageDerivation, undecided: list[str], *, first: bool) -> Iterator[Condition]:
    """Yield the irreducible conditions of one stage."""
    for group in _alike(stage):
        pathway = group[0]
        conditions, skipped = spectrum_conditions(pathway.spectrum)
        undecided += [f"{text} (pathway '{pathway.name}')" for text in skipped]
        conditions += _of_strengths(pathway)
        if not first:
            conditions += _of_residual(pathway)
        numbers = tuple(member.number for member in group)
        for condition in conditions:
            yield from _split(condition, stage.stage, numbers)
    numbers = tuple(pathway.number for pathway in stage.pathways)
    bottom = Condition(polynomial=stage.final_loss.denominator, effect=Effect.LIMIT)
    yield from _split(bottom, stage.stage, numbers)
    if stage.verdict.level not in (Level.CLOSED, Level.CLOSED_BY_SYMMETRY):
        undecided.append(f"{_LOST_RANK} (stage {stage.stage})")


def _alike(stage: StageDerivation) -> list[list[PathwayDerivation]]:
    """Return the pathways in groups that have the same spectrum and the same d_eff."""
    groups: dict[object, list[PathwayDerivation]] = {}
    for place, pathway in enumerate(stage.pathways):
        spectrum = pathway.spectrum
        key = (
            spectrum.commutes,
            tuple(
                (c.minpoly, c.eigenvalue, c.d, c.multiplicity, stage.verdict.d_eff.get((place, a)))
                for a, c in enumerate(spectrum.classes)
            ),
        )
        groups.setdefault(key, []).append(pathway)
    return list(groups.values())


def _split(condition: Condition, stage: int, pathways: tuple[int, ...]) -> Iterator[Condition]:
    """Yield a condition factor by factor; what holds on all zeros holds on those of a factor."""
    for factor in factors(condition.polynomial):
        yield replace(condition, polynomial=factor, stage=stage, pathways=pathways)


def _of_strengths(pathway: PathwayDerivation) -> Iterable[Condition]:
    """Yield where d_eff has no value, and where s and d_eff vanish together.

    The loss that is left is the initial one less Σ m s²/(2 d_eff). Where s² vanishes and s²/d_eff
    does not, the term is lost at the point itself: the loss there is larger than its limit.
    """
    classes = pathway.spectrum.classes
    for a, one in enumerate(classes):
        mode = next((m for m in pathway.modes if m.class_index == a), None)
        if one.is_null or mode is None or mode.d_eff is None:
            continue
        d_eff = mode.d_eff.coefficients
        _, bottom = cleared(d_eff, pathway.spectrum.parameters)
        yield Condition(polynomial=bottom, effect=Effect.LIMIT, classes=(a,))
        top, below = norm(one, one.eigenvalue), norm(one, d_eff)
        # The product of the shares of all conjugates. Shares are bounded by the loss, so that where
        # it is not 0 none of them is, that of a mode which vanishes there among them.
        share = (top / below).numerator
        # In one parameter a share that the factor does not divide is not 0 at any of its roots.
        apart = len(top.parameters) == 1 or bool(share.is_constant())
        for factor in factors(top.numerator.gcd(below.numerator)):
            lost = not (share % factor).is_zero()
            if lost or one.degree > 1:
                yield Condition(
                    polynomial=factor, effect=Effect.JUMP, classes=(a,), proven=lost and apart
                )


def _of_residual(pathway: PathwayDerivation) -> Iterable[Condition]:
    """Yield where what this pathway is to learn, left by earlier stages, has no value."""
    for matrix in (pathway.spectrum.sigma_yx, pathway.spectrum.sigma_x):
        yield Condition(polynomial=matrix.denominator, effect=Effect.RESIDUAL)


def _grouped(found: Iterable[Condition]) -> list[list[Condition]]:
    """Return the conditions of every polynomial, each once."""
    groups: dict[str, list[Condition]] = {}
    for condition in found:
        known = groups.setdefault(str(condition.polynomial), [])
        if condition not in known:
            known.append(condition)
    return [_later_open(known) for known in groups.values()]


def _later_open(conditions: Sequence[Condition]) -> list[Condition]:
    """Leave open what happens in stages after one whose result may jump on the same set.

    Such a stage learns what is left at the point, which need not be the limit of what is left.
    """
    jumps = [c.stage for c in conditions if c.effect in _JUMPS]
    return [
        replace(c, proven=c.proven and not any(stage < c.stage for stage in jumps))
        for c in conditions
    ]


def _consequence(derivation: Derivation, condition: Condition) -> Consequence:
    """Return what a condition means; few hidden units feel more than the formulas do."""
    pathways = [derivation.pathways[number - 1] for number in condition.pathways]
    what = condition.effect.value
    if condition.effect is Effect.CROSSING and derivation.ask(narrow_pathways):
        what = "modes coincide in s; where d differs, the order changes in which units learn them"
    where = few([f"'{pathway.name}'" for pathway in pathways], 3)
    if condition.classes:
        modes = (_modes(pathways[0], index, condition) for index in condition.classes)
        where = f"{' with '.join(modes)} of {where}"
    elif pathways:
        where = f"stage {condition.stage}: {where}"
    return Consequence(
        effect=condition.effect,
        stage=condition.stage or None,
        pathways=tuple(pathway.name for pathway in pathways),
        modes=tuple(
            tuple(mode.label for mode in pathways[0].modes if mode.class_index == index)
            for index in condition.classes
        ),
        count=condition.count or None,
        exact=condition.exact,
        proven=condition.proven,
        what=what,
        where=where,
    )


def _modes(pathway: PathwayDerivation, index: int, condition: Condition) -> str:
    """Name the modes of a class that a statement is about.

    A condition on a class of conjugates holds of some of them: of which depends on the point.
    """
    degree = pathway.spectrum.classes[index].degree
    numbers = pathway.mode_numbers(index)
    if degree == 1:
        return f"mode {numbers}"
    count = condition.count
    if condition.effect in (Effect.DEGENERATE, Effect.MERGED, Effect.CROSSING):
        count = 1 if len(condition.classes) > 1 else 2
    elif condition.effect is Effect.JUMP:
        count = 1
    if count in (0, degree):
        return f"modes {numbers}"
    words = _COUNTS[count] if count < len(_COUNTS) else str(count)
    return f"{'' if condition.exact else 'at least '}{words} of modes {numbers}"


def _placed(
    conditions: Sequence[Condition],
    names: tuple[str, ...],
    ranges: dict[str, domain.Range],
    derivation: Derivation,
) -> ExceptionalSet:
    """Return a set with its real points in the domain, or the proof that it has none."""
    polynomial = conditions[0].polynomial
    consequences = tuple(_consequence(derivation, condition) for condition in conditions)
    used = domain.variables(polynomial, names)
    if len(used) > 1:
        return ExceptionalSet(
            polynomial=polynomial,
            ring=names,
            consequences=consequences,
            excluded=domain.never_zero(polynomial, ranges, names),
        )
    name = "".join(used)
    roots = real_roots(polynomial, names)
    inside = tuple(root for root in roots if ranges[name].contains(root))
    excluded = ""
    if not roots:
        excluded = "no real root"
    elif not inside:
        excluded = f"no root with {ranges[name].text}"
    return ExceptionalSet(
        polynomial=polynomial,
        ring=names,
        consequences=consequences,
        roots=inside,
        excluded=excluded,
    )
