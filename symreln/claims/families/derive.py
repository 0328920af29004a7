"""From a spec with size symbols to the derivation for every size."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from symreln.claims.families.checks import broken_at, family_steps
from symreln.claims.families.closure import stage_closure
from symreln.claims.families.contextual import contextual_template
from symreln.claims.families.derivation import FamilyDerivation, FamilyStage, SectorStage
from symreln.claims.families.stage import NoFamilyError, learner, least_squares

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.claims.families.algebra import FamilyMatrix
    from symreln.claims.families.stage import FamilyTemplate, PathwayTemplate, Sector
    from symreln.specs.model import Spec


def derive_family(derivation: Derivation) -> FamilyDerivation | None:
    """Return the derivation for every size, or None where the spec has no size symbol.

    Args:
        derivation: The ordinary one at the declared sizes; what is derived for every size is
            compared with it there.

    Raises:
        ArithmeticError: A check failed: a bug of symreln, and nothing is printed.
    """
    if not derivation.spec.sizes:
        return None
    family = derive_family_unchecked(derivation.spec)
    sizes = {size.name: Fraction(size.value) for size in family.sizes}
    if family.template is not None and broken_at(family, sizes):
        shown = ", ".join(f"{name} = {value}" for name, value in sizes.items())
        reason = (
            f"at {shown} a quantity vanishes that does not at other sizes, so that nothing said of "
            "every size can be compared with this derivation; declare other values"
        )
        return replace(family, template=None, reason=reason, stages=())
    return replace(family, steps=family_steps(family, derivation, sizes))


def derive_family_unchecked(spec: Spec) -> FamilyDerivation:
    """Derive for every size, without the checks of :mod:`symreln.claims.families.checks`."""
    try:
        template = _family_template(spec)
    except NoFamilyError as found:
        return FamilyDerivation(spec=spec, template=None, reason=str(found), stages=())
    return FamilyDerivation(spec=spec, template=template, reason="", stages=_stages(template, spec))


def _family_template(spec: Spec) -> FamilyTemplate:
    """Return a spec's dataset and pathways for every size; a task with sizes has a line here.

    Raises:
        NoFamilyError: The spec is not the same for every size.
    """
    if spec.dataset.task == "contextual":
        return contextual_template(spec)
    msg = f"no family is known for the task '{spec.dataset.task}'"
    raise NoFamilyError(msg)


def _stages(template: FamilyTemplate, spec: Spec) -> tuple[FamilyStage, ...]:
    """Derive stage by stage, up to the first that does not close for every size."""
    targets = {sector.name: sector.targets for sector in template.sectors}
    stages: list[FamilyStage] = []
    for stage in spec.stages:
        members = tuple(p for p in template.pathways if template.joint or p.stage == stage)
        found = []
        for sector in template.sectors:
            part, left = _sector_stage(sector, members, targets[sector.name], template)
            found.append(part)
            if left is not None:
                targets[sector.name] = left
        stages.append(FamilyStage(stage=stage, templates=members, sectors=tuple(found)))
        if stages[-1].level is None:
            break
    return tuple(stages)


def _sector_stage(
    sector: Sector,
    members: tuple[PathwayTemplate, ...],
    targets: FamilyMatrix,
    template: FamilyTemplate,
) -> tuple[SectorStage, FamilyMatrix | None]:
    """Return (one stage in one sector, what it leaves where it closes)."""
    seen = ((place, learner(sector, member, targets)) for place, member in enumerate(members))
    learners = {place: item for place, item in seen if item is not None}
    loss = (targets.adjoint @ targets).trace() / (2 * template.samples)
    broken = [item for item in learners.values() if not item.commutator.is_zero]
    if broken:
        names = ", ".join(f"'{item.template.name}'" for item in broken)
        obstacle = f"Sigma^x does not commute with Sigma^yx^T Sigma^yx for {names}"
        level, d_eff, left, meetings = None, {}, None, ()
    else:
        level, obstacle, d_eff, meetings = stage_closure(learners)
        left = None if obstacle else least_squares(learners, d_eff, targets)
    part = SectorStage(
        sector=sector,
        learners=learners,
        level=level,
        obstacle=obstacle,
        d_eff=d_eff,
        meetings=meetings,
        initial_loss=loss,
        final_loss=None if left is None else (left.adjoint @ left).trace() / (2 * template.samples),
    )
    return part, left
