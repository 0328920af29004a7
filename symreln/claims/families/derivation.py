r"""The modes of the contextual task for every number C of contexts and n of items.

What is proven, and why, stands in :mod:`symreln.verifier.sizes`, whose rational functions of the
sizes become closed forms here.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.base.records import record
from symreln.claims.families.task import task_of
from symreln.claims.texts import Json, Texts
from symreln.laws.choice import printed
from symreln.laws.law import HEAD_START, STRENGTH0, Regime
from symreln.laws.sigmoid_drive import letters, sigmoid_factor, start_factor
from symreln.verdict.judge import Level
from symreln.verifier.sizes import GROUPS, NUMBERS, PARTS, Mode, NotForEverySizeError, Targets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.claims.families.task import Task, Template
    from symreln.exact.scalar import Scalar
    from symreln.laws.law import Law
    from symreln.specs.model import Spec


@record(eq=False)
class FamilyMode:
    """One mode for every size, of a pathway or of each pathway that a template stands for.

    Attributes:
        template: Its pathway.
        found: Its numbers.
        law: Its closed form in steps. A mode with a head start begins at its symbol.
        start: Letter of where modes of its pathway start, before any head start.
        ahead: Its head start, or None.
    """

    template: Template
    found: Mode
    law: Law
    start: sp.Symbol
    ahead: HeadStart | None = None

    @property
    def part(self) -> str:
        """Where on the tree of items: "root" or "wavelets"."""
        return PARTS[self.found.place]

    @property
    def multiplicity(self) -> Scalar:
        """How many equal modes there are on the part."""
        return self.found.multiplicity

    @property
    def strength0(self) -> sp.Expr | None:
        """Where it starts in effect, in π₀, τ and the sizes; None where no formula says."""
        return self.law.strength0 if self.ahead is None else self.ahead.strength0

    @property
    def half_time(self) -> sp.Expr | None:
        """Its half-time in steps, from there; None where there is no formula."""
        if self.strength0 is None or self.law.half_time is None:
            return None
        return self.law.half_time.xreplace({HEAD_START: self.strength0})


@record(eq=False)
class HeadStart:
    """Where a mode of a later stage starts in effect, because an earlier one still learns.

    Attributes:
        by: The earlier mode.
        faster: r/s, which is 1/γ.
        letters: ν_r, ν_s and ν_γ of :mod:`symreln.laws.sigmoid_drive`.
        strength0: π̃₀ in π₀, τ and the sizes; None where the earlier half-time is no formula.
    """

    by: FamilyMode
    faster: sp.Expr
    letters: tuple[sp.Expr, ...]
    strength0: sp.Expr | None


@record(eq=False)
class FamilyStage:
    """One stage for every size: one pathway, or one for each context.

    Attributes:
        template: What it trains.
        level: Closed, or closed by symmetry.
        closed_at: "C = 2" where it is closed there and not only by symmetry; else "".
        modes: Those that learn.
        before: Loss before it, on root and wavelets.
        after: Loss after it.
    """

    template: Template
    level: Level
    closed_at: str
    modes: tuple[FamilyMode, ...]
    before: list[Scalar]
    after: list[Scalar]


@record(eq=False)
class FamilyDerivation:
    """Everything derived for every size at once.

    Attributes:
        spec: The spec; ``spec.sizes`` are the symbols.
        task: What it is for every size, or None where nothing is said of every size.
        reason: Why not, or "".
        stages: All stages.
    """

    spec: Spec
    task: Task | None = None
    reason: str = ""
    stages: tuple[FamilyStage, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every stage closes for every size."""
        return self.task is not None

    @property
    def modes(self) -> tuple[FamilyMode, ...]:
        """All modes that learn, stage by stage."""
        return tuple(mode for stage in self.stages for mode in stage.modes)

    @property
    def symbols(self) -> dict[str, sp.Symbol]:
        """SymPy symbols of the parameters, the sizes and the number of copies."""
        return {} if self.task is None else self.task.symbols

    @property
    def values(self) -> dict[str, Fraction]:
        """Declared values of the parameters and sizes, and u = 1."""
        sizes = {size.name: Fraction(size.value) for size in self.spec.sizes}
        copies = {} if self.task is None else {str(self.task.copies): Fraction(1)}
        return self.spec.values | sizes | copies


def derive_family(
    spec: Spec, starts: Mapping[str, sp.Symbol] | None = None
) -> FamilyDerivation | None:
    """Return the derivation for every size, or None where the spec has no size symbol.

    Args:
        spec: The spec.
        starts: Letters of where pathways start, by name; one letter for all by default.
    """
    if not spec.sizes:
        return None
    try:
        task = task_of(spec)
        stages = _stages(task, Regime.of(spec), starts or {})
        return FamilyDerivation(spec=spec, task=task, stages=stages)
    except NotForEverySizeError as found:
        return FamilyDerivation(spec=spec, reason=str(found))


def _stages(task: Task, known: Regime, starts: Mapping[str, sp.Symbol]) -> tuple[FamilyStage, ...]:
    """Derive stage by stage.

    Raises:
        NotForEverySizeError: One does not close.
    """
    targets, modes = Targets(task.items.number, task.contexts.number, task.copies, task.scale), {}
    stages, size = [], task.contexts
    for template in task.templates:
        before = targets.losses()
        found = targets.stage(template.gate, list(template.inputs))
        start = starts.get(template.first, STRENGTH0)
        modes |= {mode: _mode(template, mode, start, modes, task, known) for mode in found}
        couples = targets.couples(template.gate, found)
        stages.append(
            FamilyStage(
                template=template,
                level=Level.CLOSED_BY_SYMMETRY if couples else Level.CLOSED,
                closed_at=f"{size.symbol} = 2" if couples and size.least == 2 else "",
                modes=tuple(modes[mode] for mode in found),
                before=before,
                after=targets.losses(),
            )
        )
    return tuple(stages)


def _mode(
    template: Template,
    found: Mode,
    start: sp.Symbol,
    earlier: dict[Mode, FamilyMode],
    task: Task,
    known: Regime,
) -> FamilyMode:
    """Return a mode with its law and where it starts."""
    s, height = map(task.root, (found.s_squared, found.s_squared / (found.d_eff * found.d_eff)))
    d, ahead = found.d_eff.to_sympy(task.symbols), None
    law = printed(known, s, d, asymptote=height, later=found.by is not None)
    if found.by is not None:
        ahead = _ahead(law, start, earlier[found.by], task.root(found.faster_squared))
    elif law.strength0 == STRENGTH0:
        law = replace(law, strength0=start)
    return FamilyMode(template=template, found=found, law=law, start=start, ahead=ahead)


def _ahead(law: Law, begin: sp.Symbol, by: FamilyMode, faster: Any) -> HeadStart:
    ratio, start = sp.simplify(law.s / by.law.s), None
    found = tuple(map(sp.simplify, letters(faster * ratio, ratio, 1 / faster, sp.S.One, sp.sqrt)))
    if by.half_time is not None:
        numbers = law.s, faster * law.s, 1 / faster, by.half_time, law.tau
        start = begin * start_factor(*numbers, sigmoid_factor(law.ops, *found))
    return HeadStart(by=by, faster=faster, letters=found, strength0=start)


def sizes_part(family: FamilyDerivation) -> Json:
    """Return the part of a certificate on every size, as :mod:`symreln.verifier.sizes` reads it."""
    task = family.task
    assert task is not None
    texts = Texts(tuple(task.symbols))
    sizes = (
        {"symbol": x.symbol, "least": x.least, "at": x.at} for x in (task.items, task.contexts)
    )
    return {
        "kind": "sizes",
        "symbols": list(task.symbols),
        **dict(zip(GROUPS, sizes, strict=True)),
        "copies": str(task.copies),
        "scale": texts.ratio(task.scale),
        "stages": [
            {
                "name": stage.template.name,
                "gate": stage.template.gate,
                "inputs": list(stage.template.inputs),
                "level": stage.level.value,
                "initial_loss": texts.ratios(stage.before),
                "final_loss": texts.ratios(stage.after),
                "modes": [
                    {"part": mode.part}
                    | {x: (y := getattr(mode.found, x)) and texts.ratio(y) for x in NUMBERS}
                    for mode in stage.modes
                ],
            }
            for stage in family.stages
        ],
    }
