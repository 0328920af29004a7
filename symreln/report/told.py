"""A confrontation in words: the verdict in a sentence, and the rows of its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import percent
from symreln.claims.constants import constants_text
from symreln.experiment.comparing import is_aligned
from symreln.experiment.findings import GATES
from symreln.experiment.metrics import METRICS, metric_cells, steps_text
from symreln.experiment.outcome import Validation
from symreln.experiment.scalar_confront import NetworkValidation
from symreln.experiment.verdicts import summary
from symreln.report.blame import FAILS, failed_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from symreln.experiment.findings import PairDiagnosis
    from symreln.experiment.outcome import Confrontation
    from symreln.experiment.published import PublishedPrediction

#: max |ΔL|/L(0) under which two curves in float64 are the same to rounding.
ROUNDING = 1e-10


def titles(validation: Confrontation) -> dict[str, str]:
    """Return what every pair of curves is called."""
    forms, reduction = "closed forms alone", "integrated reduction"
    if isinstance(validation, NetworkValidation):
        reduction = "scalar modes"
    elif isinstance(validation, Validation) and not validation.numbers.closed:
        forms = "coupled modes alone"
    theory = "closed forms as printed" if validation.judged == "closed" else reduction
    curves = {
        "theory": f"judged: {theory}",
        "reduced": reduction,
        "gdln": "GDLN",
        "mean_field": "mean-field simulation",
        "flow": "flow (infinitely small steps)",
        "closed": forms,
        "modes": "modes that keep to their directions",
        "descent": "gradient descent on aligned modes",
    }
    own = {"theory_vs_aligned": "scalar modes", "closed_vs_aligned": forms.removesuffix(" alone")}
    return {
        pair: f"{own.get(pair, curves[pair.split('_vs_')[0]])} – {validation.trained_name(pair)}"
        for pair in validation.pairs
    }


def metric_rows(validation: Confrontation) -> Iterator[tuple[str, ...]]:
    """Yield (curves, every metric) as text, for tables."""
    names = titles(validation)
    for name, found in validation.metrics.items():
        if name.startswith(f"{validation.judged}_vs_") and not name.endswith("_aligned"):
            continue  # as "theory", above
        yield (names[name], *metric_cells(found, validation.tolerance).values())
    if validation.floor is not None:
        floor = metric_cells(validation.floor.mean).values()
        yield (f"seed floor of the {validation.judged_by}", *floor)
    if validation.predicted is not None:
        name = f"seed floor of the {validation.judged_by}, predicted"
        name = name if validation.floor is None else "the same, predicted"
        yield (name, *metric_cells(validation.predicted.floor.mean).values())
    if isinstance(validation, Validation) and validation.published is not None:
        yield from _published_rows(validation, validation.published)


def _published_rows(
    validation: Confrontation, published: PublishedPrediction
) -> Iterator[tuple[str, ...]]:
    """Yield the published figures, and say where they are closer than ours."""
    drop, none = published.drop_time_error_steps, {metric.name: "–" for metric in METRICS}
    ours = validation.metrics.get("theory_vs_relu")
    closer = published.closer_than(None if ours is None else ours.max_abs_over_initial)
    name = f"published: {published.source}" + (" (closer than the judged curve)" if closer else "")
    steps = {} if drop is None else {"drop_time_error_steps": steps_text(drop)}
    largest = {"max_abs_over_initial": percent(published.max_abs_over_initial)}
    yield (name, *(none | largest | steps).values())
    for what, low, high in published.others:
        between = {"max_abs_over_initial": f"{percent(low)} to {percent(high)}"}
        yield (f"published: {what}", *(none | between).values())


def clauses(validation: Confrontation) -> list[str]:
    """Return the three verdicts, and what is beside them, each by itself."""
    own = isinstance(validation, Validation)
    found = [
        *summary(validation.verdicts),
        _judged_clause(validation),
        constants_text(validation.constants),
        validation.no_network if own else "",
        _mean_field_clause(validation),
        _aligned_clause(validation),
        _directions_clause(validation),
        *(outcome.sentence() for outcome in (validation.narrow if own else ())),
        *(_failed(validation, each) for each in validation.diagnosis),
    ]
    return [clause for clause in found if clause]


def sentence(validation: Confrontation) -> str:
    """Return the same in one sentence."""
    return "; ".join(clauses(validation))


def _judged_clause(validation: Confrontation) -> str:
    """Say which curve is judged and, of closed forms, how far the reduction is beside them."""
    reduction, unpredicted = "the integrated reduction", ""
    if isinstance(validation, NetworkValidation):
        reduction = "the scalar modes, step by step"
        if isinstance(validation.start, str):
            unpredicted = f"; of random weights nothing is predicted: {validation.start}"
    beside = [
        f"{judged(validation, pair)} from the {validation.trained_name(pair)}"
        for pair in ("reduced_vs_relu", "reduced_vs_gdln")
        if pair in validation.metrics
    ]
    if validation.judged == "reduced" or not beside:
        return f"judged is {reduction}{unpredicted}"
    return (
        f"judged are the closed forms as printed; {reduction}, which is not judged, is "
        + " and ".join(beside)
    )


def judged(validation: Confrontation, pair: str) -> str:
    """Return max |ΔL|/L(0) of a pair, with digits that tell it from the tolerance."""
    return percent(validation.metrics[pair].max_abs_over_initial, validation.tolerance)


def _failed(validation: Confrontation, found: PairDiagnosis) -> str:
    """Say which assumption fails for a pair, on which evidence, or that nothing explains it."""
    says = dict(FAILS)
    if validation.derivation.spec.switches:
        says[GATES] = "the spec's gates"
    return failed_text(
        f"against the {validation.trained_name(found.pair)}", found, validation.tolerance, says
    )


def modes_lines(validation: Validation) -> Iterator[str]:
    """Yield which mode is farthest from its formula, of every kind of network."""
    for subject, name in (("gdln", "GDLN"), ("relu", validation.network_name)):
        found = [mode for mode in validation.modes if mode.subject == subject]
        told = {mode.label: mode.why_not(validation.tolerance) for mode in found}
        asked = [mode for mode in found if not told[mode.label]]
        left = [why for why in told.values() if why]
        more = "".join(f"; {left.count(why)} {why}" for why in dict.fromkeys(left))
        if asked:
            worst = max(asked, key=lambda mode: mode.difference)
            yield (
                f"modes of the {name}: largest relative error {percent(worst.difference)} of the "
                f"plateau ({worst.label} of {len(asked)}{_split(validation, subject)}){more}"
            )
        elif found:
            yield f"modes of the {name}: {more.removeprefix('; ')}"


def _split(validation: Validation, subject: str) -> str:
    relu = subject == "relu" and validation.drift is not None
    return ", units given to the gate that reproduces them best" if relu else ""


def _mean_field_clause(validation: Confrontation) -> str:
    """Say how far the mean-field simulation is from the network."""
    if "mean_field_vs_relu" not in validation.metrics:
        return ""
    shown = judged(validation, "mean_field_vs_relu")
    found = validation.mean_field
    error = "" if found is None else f", Monte Carlo error {percent(found.error)}"
    return (
        f"the mean-field simulation (wide ReLU network{error}) is {shown} from the "
        f"{validation.network_name}"
    )


def _aligned_clause(validation: Confrontation) -> str:
    """Say what steps, finite and infinitely small, miss of a GDLN that starts aligned."""
    pair = next((name for name in validation.metrics if is_aligned(name)), None)
    if pair is None:
        return ""
    left = validation.metrics[pair].max_abs_over_initial
    shown = "rounding" if left < ROUNDING else judged(validation, pair)
    found = f"a GDLN that starts aligned takes the predicted steps to {shown}"
    if "closed_vs_aligned" not in validation.metrics:
        return found
    missed = percent(validation.metrics["closed_vs_aligned"].max_abs_over_initial)
    return f"{found}, and closed forms, of infinitely small steps, miss it by {missed}"


def _directions_clause(validation: Confrontation) -> str:
    """Say what Assumption 2.1.1 would cost where it is not proven."""
    if "modes_vs_gdln" not in validation.metrics:
        return ""
    missed = validation.metrics["modes_vs_gdln"].max_abs_over_initial
    theory = validation.metrics["theory_vs_gdln"].max_abs_over_initial
    shown = percent(missed, validation.tolerance)
    text = f"modes that keep to their directions would be {shown} off the GDLN"
    if missed > validation.tolerance >= theory:
        return f"Assumption 2.1.1 fails, matrices in its place do not: {text}"
    return text
