"""The kinds of ``symreln race``, each from a spec to what is written and shown."""

from __future__ import annotations

from dataclasses import replace

from symreln.base.progress import phase
from symreln.errors import InputError
from symreln.exact.domain import Range
from symreln.gating.confronted import confront, confronted_points
from symreln.gating.enumerate import LIMIT
from symreln.gating.label_race import label_race, subset_stages, subsets_report, trained_shares
from symreln.gating.race import race
from symreln.gating.race_report import RaceReport, unraced
from symreln.gating.search import stage_residuals
from symreln.gating.serialise import Result
from symreln.specs.finding import quoted
from symreln.specs.model import Spec


def over_parameter(
    spec: Spec,
    over: str | None,
    *,
    label: str | None = None,
    stage: int = 1,
    limit: int | None = None,
    seeds: int = 0,
    points: int = 3,
    rng: int = 0,
) -> Result:
    """Race the self-consistent gates over a parameter, or those by subsets of a label.

    Args:
        spec: With parameters.
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
    limits, learned = _asked(spec, over, stage)
    if seeds and stage > 1 and label is None:
        msg = (
            f"race: found --seeds {seeds} with --stage {stage}; networks learn the first stage at "
            "once, and what they leave is no data set to train on. Leave --seeds out"
        )
        raise InputError(msg)
    data = learned.dataset
    if label is not None:
        found, beside = label_race(data, data.targets, label, limits), ()
        # Networks learn the targets, whatever stage is raced.
        learned = _asked(spec, over, 1)[1]
    else:
        found = race(data.inputs, data.targets, limits, limit or LIMIT)
        beside = unraced(found, learned)
    trained = []
    if seeds:
        with phase(f"{seeds} networks at every point"):
            values = confronted_points(found, points)
            trained = [confront(found, learned, value, seeds, rng) for value in values]
    return RaceReport(
        race=found,
        spec=spec,
        learned=learned,
        beside=beside,
        seeds=seeds,
        points=trained,
    )


def by_label(spec: Spec, label: str, seeds: int, rng: int) -> Result:
    """Compare speeds by subsets of a label at one point, stage by stage.

    Args:
        spec: Without free parameters.
        label: Name of the label.
        seeds: Networks to train, 0 for none.
        rng: Seed of the networks.
    """
    stages = subset_stages(spec, label)
    shares = trained_shares(spec, label, seeds, rng) if seeds else None
    return subsets_report(spec, label, stages, shares)


def _asked(spec: Spec, over: str | None, stage: int) -> tuple[Range, Spec]:
    """Return the range of the parameter to race over, and the spec with what a stage learns.

    Other parameters have their values.

    Raises:
        InputError: No parameter, or no stage, is meant.
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
    residuals = stage_residuals(spec)
    if stage > len(residuals):
        msg = f"race: found stage {stage}; the last stage of the spec is {len(residuals)}"
        raise InputError(msg)
    others = {key: value for key, value in spec.values.items() if key != name}
    data = replace(
        spec.dataset,
        inputs=spec.dataset.inputs.substitute(others),
        targets=residuals[stage - 1].substitute(others),
    )
    limits = next(p.range for p in spec.parameters if p.name == name)
    return limits, replace(spec, dataset=data)
