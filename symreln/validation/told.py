"""A confrontation in words: the verdict in a sentence, and the rows of its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.validation.blame import FAILS, failed_text
from symreln.validation.comparing import JUDGED
from symreln.validation.findings import GATES
from symreln.validation.words import (
    bound_text,
    interval_text,
    metric_cells,
    percent,
    steps_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from symreln.validation.confront import Validation
    from symreln.validation.findings import PairDiagnosis
    from symreln.validation.intervals import Distance

#: max |ΔL|/L(0) under which two curves in float64 are the same to rounding.
ROUNDING = 1e-10


def titles(validation: Validation) -> dict[str, str]:
    """Return what every pair of curves is called."""
    network = validation.network_name
    closed = validation.derivation.at_values.closed
    forms = "closed forms" if closed else "coupled modes"
    straight = "modes that keep to their directions"
    return {
        "theory_vs_gdln": "theory – GDLN",
        "theory_vs_relu": f"theory – {network}",
        "gdln_vs_relu": f"GDLN – {network}",
        "mean_field_vs_relu": f"mean-field simulation – {network}",
        "flow_vs_relu": f"flow (infinitely small steps) – {network}",
        "closed_vs_relu": f"{forms} alone – {network}",
        "modes_vs_relu": f"{straight} – {network}",
        "flow_vs_gdln": "flow (infinitely small steps) – GDLN",
        "closed_vs_gdln": f"{forms} alone – GDLN",
        "modes_vs_gdln": f"{straight} – GDLN",
        "descent_vs_aligned": "gradient descent on aligned modes – GDLN that started aligned",
        "closed_vs_aligned": f"{forms} – GDLN that started aligned",
    }


def metric_rows(validation: Validation) -> Iterator[tuple[str, ...]]:
    """Yield (curves, max, mean, drop time error, tail) as text, for tables."""
    names = titles(validation)
    for name, found in validation.metrics.items():
        yield (names[name], *metric_cells(found, validation.tolerance))
    if validation.floor is not None:
        floor = metric_cells(validation.floor.mean)
        yield (f"seed floor of the {validation.judged_by}", *floor)
    if validation.predicted is not None:
        name = f"seed floor of the {validation.judged_by}, predicted"
        name = name if validation.floor is None else "the same, predicted"
        yield (name, *metric_cells(validation.predicted.floor.mean))
    if validation.published is not None:
        drop = validation.published.drop_time_error_steps
        yield (
            f"published: {validation.published.source}",
            percent(validation.published.max_abs_over_initial),
            "–",
            "–" if drop is None else steps_text(drop),
            "–",
        )


def sentence(validation: Validation) -> str:
    """Return the verdict in one sentence."""
    distances = [f"{judged(validation, 'theory_vs_gdln')} against the GDLN"]
    if validation.network is not None:
        worst = judged(validation, "theory_vs_relu")
        distances.insert(0, f"{worst} against the {validation.network_name}")
    return (
        f"{_head(validation)} max |ΔL|/L(0) is {' and '.join(distances)}, "
        f"tolerance {bound_text(validation.tolerance)}; "
        f"free constants: {validation.prediction.free_constants}"
        + (f"; {validation.no_network}" if validation.no_network else "")
        + _seeds_clause(validation)
        + _mean_field_clause(validation)
        + _aligned_clause(validation)
        + _directions_clause(validation)
        + "".join(f"; {outcome.sentence()}" for outcome in validation.narrow)
        + "".join(f"; {failed(validation, each)}" for each in validation.diagnosis)
    )


def judged(validation: Validation, pair: str) -> str:
    """Return max |ΔL|/L(0) of a pair, with digits that tell it from the tolerance."""
    return percent(validation.metrics[pair].max_abs_over_initial, validation.tolerance)


def failed(validation: Validation, found: PairDiagnosis) -> str:
    """Say which assumption fails for a pair, on which evidence, or that nothing explains it."""
    says = dict(FAILS)
    if validation.derivation.spec.switches:
        says[GATES] = "the spec's gates"
    return failed_text(_against(validation, found.pair), found, validation.tolerance, says)


def modes_lines(validation: Validation) -> Iterator[str]:
    """Yield which mode is farthest from its formula, of every kind of network."""
    for subject, name in (("gdln", "GDLN"), ("relu", validation.network_name)):
        found = [mode for mode in validation.modes if mode.subject == subject]
        if found:
            worst = max(found, key=lambda mode: mode.largest.value or 0.0)
            shown = interval_text(worst.largest, percent)
            yield (
                f"modes of the {name}: strengths differ from their formulas by at most {shown} of "
                f"their heights ({worst.label} of {len(found)}{_split(validation, subject)})"
            )


def _split(validation: Validation, subject: str) -> str:
    relu = subject == "relu" and validation.drift is not None
    return ", units given to the gate that reproduces them best" if relu else ""


def _head(validation: Validation) -> str:
    if validation.disagreements:
        return "theory and training DISAGREE:"
    untested = validation.untested
    if untested is None:
        return "theory and training agree:"
    return f"the theory is NOT TESTED, for {untested.sentence()}; so far"


def _against(validation: Validation, pair: str) -> str:
    trained = {
        "theory_vs_relu": f"the {validation.network_name}",
        "theory_vs_gdln": "the GDLN",
        "descent_vs_aligned": "the GDLN that started aligned",
    }
    assert set(trained) == set(JUDGED)
    return f"against {trained[pair]}"


def _seeds_clause(validation: Validation) -> str:
    if validation.seeds < 2:
        return ""
    names = {pair: _against(validation, pair) for pair in JUDGED}
    return seeds_text(validation.seeds, validation.intervals, names, validation.tolerance)


def seeds_text(
    seeds: int, intervals: Mapping[str, Distance], names: Mapping[str, str], tolerance: float
) -> str:
    """Say where so few seeds cannot tell on which side of the tolerance the mean over all is."""
    parts = []
    for pair, name in names.items():
        found = intervals.get(pair)
        near = None if found is None else found.max_abs_over_initial
        if near is None or near.low is None or near.high is None:
            continue
        if near.low <= tolerance < near.high:
            parts.append(f"{percent(near.low)} to {percent(near.high)} {name}")
    if not parts:
        return ""
    return (
        f"; with {seeds} seeds the mean over all may lie on either side of the "
        f"tolerance: {' and '.join(parts)} (95 %)"
    )


def _mean_field_clause(validation: Validation) -> str:
    """Say how far the mean-field simulation is from the network."""
    if "mean_field_vs_relu" not in validation.metrics:
        return ""
    shown = judged(validation, "mean_field_vs_relu")
    found = validation.mean_field
    error = "" if found is None else f", Monte Carlo error {percent(found.error)}"
    return f"; the mean-field simulation (wide ReLU network{error}) is {shown} from it"


def _aligned_clause(validation: Validation) -> str:
    """Say what steps, finite and infinitely small, miss of a GDLN that starts aligned."""
    if "descent_vs_aligned" not in validation.metrics:
        return ""
    left = validation.metrics["descent_vs_aligned"].max_abs_over_initial
    shown = "rounding" if left < ROUNDING else judged(validation, "descent_vs_aligned")
    found = f"; a GDLN that starts aligned takes the predicted steps to {shown}"
    if "closed_vs_aligned" not in validation.metrics:
        return found
    missed = percent(validation.metrics["closed_vs_aligned"].max_abs_over_initial)
    return f"{found}, and closed forms, of infinitely small steps, miss it by {missed}"


def _directions_clause(validation: Validation) -> str:
    """Say what Assumption 2.1.1 would cost where it is not proven."""
    if "modes_vs_gdln" not in validation.metrics:
        return ""
    missed = validation.metrics["modes_vs_gdln"].max_abs_over_initial
    theory = validation.metrics["theory_vs_gdln"].max_abs_over_initial
    shown = percent(missed, validation.tolerance)
    text = f"modes that keep to their directions would be {shown} off the GDLN"
    if missed > validation.tolerance >= theory:
        return f"; Assumption 2.1.1 fails, matrices in its place do not: {text}"
    return f"; {text}"
