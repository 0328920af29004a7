"""A confrontation in words: the verdict in a sentence, and the rows of its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.constants import constants_text
from symreln.claims.solve import at_values
from symreln.experiment.blame import FAILS, failed_text
from symreln.experiment.findings import GATES
from symreln.experiment.verdicts import summary
from symreln.experiment.words import (
    metric_cells,
    percent,
    steps_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from symreln.experiment.findings import PairDiagnosis
    from symreln.experiment.outcome import Validation
    from symreln.experiment.published import PublishedPrediction

#: max |ΔL|/L(0) under which two curves in float64 are the same to rounding.
ROUNDING = 1e-10


def titles(validation: Validation) -> dict[str, str]:
    """Return what every pair of curves is called."""
    network = validation.network_name
    closed = validation.derivation.ask(at_values).closed
    forms = "closed forms" if closed else "coupled modes"
    theory = "closed forms as printed" if validation.judged == "closed" else "integrated reduction"
    straight = "modes that keep to their directions"
    return {
        "theory_vs_gdln": f"judged: {theory} – GDLN",
        "theory_vs_relu": f"judged: {theory} – {network}",
        "reduced_vs_gdln": "integrated reduction – GDLN",
        "reduced_vs_relu": f"integrated reduction – {network}",
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
        if name.startswith(f"{validation.judged}_vs_") and not name.endswith("_aligned"):
            continue  # as "theory", above
        yield (names[name], *metric_cells(found, validation.tolerance))
    if validation.floor is not None:
        floor = metric_cells(validation.floor.mean)
        yield (f"seed floor of the {validation.judged_by}", *floor)
    if validation.predicted is not None:
        name = f"seed floor of the {validation.judged_by}, predicted"
        name = name if validation.floor is None else "the same, predicted"
        yield (name, *metric_cells(validation.predicted.floor.mean))
    if validation.published is not None:
        yield from _published_rows(validation, validation.published)


def _published_rows(
    validation: Validation, published: PublishedPrediction
) -> Iterator[tuple[str, ...]]:
    """Yield the published figures, and say where they are closer than ours."""
    drop = published.drop_time_error_steps
    ours = validation.metrics.get("theory_vs_relu")
    closer = published.closer_than(None if ours is None else ours.max_abs_over_initial)
    yield (
        f"published: {published.source}" + (" (closer than the judged curve)" if closer else ""),
        percent(published.max_abs_over_initial),
        "–",
        "–" if drop is None else steps_text(drop),
        "–",
    )
    for what, low, high in published.others:
        yield (f"published: {what}", f"{percent(low)} to {percent(high)}", "–", "–", "–")


def clauses(validation: Validation) -> list[str]:
    """Return the three verdicts, and what is beside them, each by itself."""
    found = [
        *summary(validation.verdicts),
        _judged_clause(validation),
        constants_text(validation.constants),
        validation.no_network,
        _mean_field_clause(validation),
        _aligned_clause(validation),
        _directions_clause(validation),
        *(outcome.sentence() for outcome in validation.narrow),
        *(failed(validation, each) for each in validation.diagnosis),
    ]
    return [clause for clause in found if clause]


def _judged_clause(validation: Validation) -> str:
    """Say which curve is judged and, of closed forms, how far the reduction is beside them."""
    if validation.judged == "reduced":
        return "judged is the integrated reduction"
    names = {"relu": validation.network_name, "gdln": "GDLN"}
    beside = [
        f"{judged(validation, pair)} from the {name}"
        for short, name in names.items()
        if (pair := f"reduced_vs_{short}") in validation.metrics
    ]
    return (
        "judged are the closed forms as printed; the integrated reduction, which is not judged, is "
        + " and ".join(beside)
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


def _against(validation: Validation, pair: str) -> str:
    trained = {
        "theory_vs_relu": f"the {validation.network_name}",
        "theory_vs_gdln": "the GDLN",
        "descent_vs_aligned": "the GDLN that started aligned",
    }
    return f"against {trained[pair]}"


def _mean_field_clause(validation: Validation) -> str:
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


def _aligned_clause(validation: Validation) -> str:
    """Say what steps, finite and infinitely small, miss of a GDLN that starts aligned."""
    if "descent_vs_aligned" not in validation.metrics:
        return ""
    left = validation.metrics["descent_vs_aligned"].max_abs_over_initial
    shown = "rounding" if left < ROUNDING else judged(validation, "descent_vs_aligned")
    found = f"a GDLN that starts aligned takes the predicted steps to {shown}"
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
        return f"Assumption 2.1.1 fails, matrices in its place do not: {text}"
    return text
