"""A race from a spec to its report: over a parameter, or of gates by subsets of a label."""

from __future__ import annotations

from dataclasses import replace

from symreln.base.progress import phase
from symreln.errors import InputError
from symreln.exact.domain import Range
from symreln.gating.confronted import confront, confronted_points
from symreln.gating.context_subsets import known_formulas, label_gates
from symreln.gating.enumerate import LIMIT
from symreln.gating.race import race, race_at
from symreln.gating.race_report import RaceReport, unraced
from symreln.gating.search import stage_residuals
from symreln.specs.finding import quoted
from symreln.specs.model import Spec


def race_report(
    spec: Spec,
    over: str | None,
    *,
    label: str | None = None,
    stage: int = 1,
    limit: int | None = None,
    seeds: int = 0,
    points: int = 3,
    rng: int = 0,
) -> RaceReport:
    """Race the self-consistent gates over a parameter, or those by subsets of a label.

    Args:
        spec: With parameters, or without where gates by a label are compared at their values.
        over: The parameter; None for the only one.
        label: Name of the label, if gates are by its subsets.
        stage: Whose residual is learned.
        limit: Gates above which to stop.
        seeds: Networks at every point, 0 for none.
        points: Points in every interval.
        rng: Seed of the networks.

    Raises:
        InputError: No parameter, or no stage, is meant; or networks are asked for on a residual.
    """
    if seeds and stage > 1 and label is None:
        msg = (
            f"race: found --seeds {seeds} with --stage {stage}; networks learn the first stage at "
            "once, and what they leave is no data set to train on. Leave --seeds out"
        )
        raise InputError(msg)
    limits = _limits(spec, over) if label is None or over is not None else None
    learned = _learned(spec, stage, limits)
    data = learned.dataset
    given = {} if label is None else label_gates(data, label)
    if limits is None:
        found = race_at(data.inputs, data.targets, given)
    else:
        found = race(data.inputs, data.targets, limits, limit or LIMIT, given)
    trained = []
    if seeds:
        with phase(f"{seeds} networks at every point"):
            # Networks learn the targets, whatever stage is raced.
            whole = _learned(spec, 1, limits)
            values = confronted_points(found, points)
            trained = [confront(found, whole, value, seeds, rng) for value in values]
    return RaceReport(
        race=found,
        spec=spec,
        learned=learned,
        beside=() if given else unraced(found, learned),
        seeds=seeds,
        points=trained,
        formulas=known_formulas(spec) if given else None,
    )


def _limits(spec: Spec, over: str | None) -> Range:
    """Return the range of the parameter to race over.

    Raises:
        InputError: No parameter is meant.
    """
    names = [parameter.name for parameter in spec.parameters]
    written = {parameter.given: parameter.name for parameter in spec.parameters}
    name = written.get(over, over) if over else (names[0] if len(names) == 1 else None)
    if not names:
        msg = (
            "race: found a spec without parameters; a race is over one, declared as "
            "[parameters.NAME]. gates by the method self-consistent compares speeds at one point"
        )
        raise InputError(msg)
    if name not in names:
        found = f"found no parameter {quoted(over)}" if over else f"found {len(names)} parameters"
        msg = f"race: {found} in the spec; a race is over one of these: {', '.join(written)}"
        raise InputError(msg)
    return next(p.range for p in spec.parameters if p.name == name)


def _learned(spec: Spec, stage: int, limits: Range | None) -> Spec:
    """Return a spec with what a stage learns; parameters but the one of the race have their values.

    Raises:
        InputError: There is no such stage, or another parameter has no value.
    """
    residuals = stage_residuals(spec)
    if stage > len(residuals):
        msg = f"race: found stage {stage}; the last stage of the spec is {len(residuals)}"
        raise InputError(msg)
    free = None if limits is None else limits.name
    left = [p.given for p in spec.parameters if p.name != free and p.value is None]
    if left:
        msg = (
            f"race: {', '.join(left)} has no value, and a race is over one parameter. Give values "
            f"to the others, e.g. --set parameters.{left[0]}.value=1"
        )
        raise InputError(msg)
    others = {key: value for key, value in spec.values.items() if key != free}
    inputs, targets = spec.dataset.inputs, residuals[stage - 1]
    data = replace(
        spec.dataset, inputs=inputs.substitute(others), targets=targets.substitute(others)
    )
    return replace(spec, dataset=data)
