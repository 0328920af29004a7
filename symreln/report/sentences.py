"""A confrontation in words: the verdict in a sentence, and the rows of its table.

A diagnosis in words: which assumption fails, on which evidence, or that nothing explains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import percent
from symreln.claims.constants import constants_text
from symreln.experiment import findings
from symreln.experiment.comparing import is_aligned
from symreln.experiment.metrics import METRICS, Interval, metric_cells, steps_text
from symreln.experiment.outcome import Validation
from symreln.experiment.words import share_text
from symreln.report.summary import short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from symreln.experiment.findings import Finding, PairDiagnosis
    from symreln.experiment.gate_law import GateLawMeasured
    from symreln.experiment.narrow import NarrowOutcome
    from symreln.experiment.outcome import Validation
    from symreln.experiment.published import PublishedPrediction

#: max |ΔL|/L(0) under which two curves in float64 are the same to rounding.
ROUNDING = 1e-10

#: Pairs of curves in a summary, and characters of its verdict: two lines.
MOST_PAIRS, _VERDICT = 2, 190


def titles(validation: Validation) -> dict[str, str]:
    """Return what every pair of curves is called."""
    forms, reduction = "closed forms", "integrated reduction"
    if not validation.numbers.closed:
        forms = "coupled modes"
    theory = forms if validation.judged == "closed" else reduction
    curves = {
        "theory": f"judged: {theory}",
        "reduced": reduction,
        "gdln": "GDLN",
        "mean_field": "mean-field simulation",
        "flow": "flow (infinitely small steps)",
        "closed": forms,
        "modes": "modes that keep their directions",
        "descent": "gradient descent on aligned modes",
    }
    own = {"closed_vs_aligned": forms}
    return {
        pair: f"{own.get(pair, curves[pair.split('_vs_')[0]])} – {validation.trained_name(pair)}"
        for pair in validation.pairs
    }


def is_repeated(validation: Validation, pair: str) -> bool:
    """Return whether a pair is the judged one under a second name."""
    return pair.startswith(f"{validation.judged}_vs_") and not pair.endswith("_aligned")


def metric_rows(validation: Validation) -> Iterator[tuple[str, ...]]:
    """Yield (curves, every metric) as text, for tables."""
    names = titles(validation)
    for name, found in validation.metrics.items():
        if is_repeated(validation, name):
            continue
        yield (names[name], *metric_cells(found, validation.tolerance).values())
    if validation.floor is not None:
        floor = metric_cells(validation.floor.mean).values()
        yield (f"seed floor of the {validation.judged_by}", *floor)
    if validation.published is not None:
        yield from _published_rows(validation, validation.published)


def _published_rows(
    validation: Validation, published: PublishedPrediction
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


def clauses(validation: Validation) -> list[str]:
    """Return the three verdicts, and what is beside them, each by itself."""
    return [*verdict_clauses(validation), *beside_clauses(validation)]


def verdict_clauses(validation: Validation) -> list[str]:
    """Return the verdicts on loss, modes and gates, with their reasons."""
    words = outcome_words(validation)
    return [
        f"{name} {words[name].upper()}: {each.reason}" for name, each in validation.verdicts.items()
    ]


def beside_clauses(validation: Validation) -> list[str]:
    """Return what stands beside the three verdicts: other curves, and what fails."""
    found = [
        _judged_clause(validation),
        constants_text(validation.constants),
        validation.no_network,
        _mean_field_clause(validation),
        gate_law_sentence(validation.law),
        _aligned_clause(validation),
        *(narrow_sentence(outcome) for outcome in validation.narrow),
        *(_failed(validation, each) for each in validation.diagnosis),
    ]
    return [clause for clause in found if clause]


def sentence(validation: Validation) -> str:
    """Return the same in one sentence."""
    return "; ".join(clauses(validation))


def outcome_words(validation: Validation) -> dict[str, str]:
    """Return what becomes of the loss, of modes and of gates, as verbs of them: modes "agree"."""
    return {
        name: each.outcome.removesuffix("s") if name.endswith("es") else each.outcome
        for name, each in validation.verdicts.items()
    }


#: Differences of shares that float64 makes.
_ROUNDING = 1e-12


def gate_law_sentence(law: GateLawMeasured | None) -> str:
    """Return how far the law of gates is from the networks; "" where there is none."""
    if law is None:
        return ""
    orders = ("first", "second", "third", "fourth")
    shares = ", ".join(
        f"{share:.2g} at {order} order"
        for order, share in zip(orders, law.share_distances, strict=False)
    )
    first, *later = law.share_distances
    share = f"differs from the measured share by at most {shares}"
    if max(law.share_distances) < _ROUNDING:
        share = "is the measured share to rounding"
    elif later and min(later) >= first:
        share += "; higher orders do not reduce the difference"
    found = f"law of gates: the predicted share of the weight with the first stage's gates {share}"
    if not law.distances:
        return found
    losses = ", ".join(
        f"{percent(each.max_abs_over_initial)} ({order} order)"
        for order, each in zip(orders[1:], law.distances, strict=False)
    )
    return f"{found}; the loss with gates by the law is {losses} from the ReLU network"


def narrow_sentence(found: NarrowOutcome) -> str:
    """Return how many networks hold what was predicted of a narrow pathway."""
    text = (
        f"narrow pathway '{found.pathway}': {found.held.count(found.first)} of {len(found.held)} "
        "networks have learned the modes that are predicted to be first"
    )
    if found.least == found.first:
        return text
    return f"{text}, {found.held.count(found.least)} those that are predicted for the end"


def _judged_clause(validation: Validation) -> str:
    """Say which curve is judged and, of closed forms, how far the reduction is beside them."""
    reduction = "the integrated reduction"
    beside = [
        f"{judged(validation, pair)} from the {validation.trained_name(pair)}"
        for pair in ("reduced_vs_relu", "reduced_vs_gdln")
        if pair in validation.metrics
    ]
    if validation.judged == "reduced" or not beside:
        return f"the judged curve is {reduction}"
    return (
        f"the judged curves are the closed forms; {reduction}, which is not judged, is "
        f"{' and '.join(beside)}"
    )


def judged(validation: Validation, pair: str) -> str:
    """Return max |ΔL|/L(0) of a pair, with digits that tell it from the tolerance."""
    return percent(validation.metrics[pair].max_abs_over_initial, validation.tolerance)


def _failed(validation: Validation, found: PairDiagnosis) -> str:
    """Say which assumption fails for a pair, on which evidence, or that nothing explains it."""
    says = dict(_FAILS)
    if validation.derivation.spec.switches:
        says[findings.GATES] = "the spec's gates"
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
    pair = next((name for name in validation.metrics if is_aligned(name)), None)
    if pair is None:
        return ""
    left = validation.metrics[pair].max_abs_over_initial
    shown = "rounding" if left < ROUNDING else judged(validation, pair)
    found = f"a GDLN that starts aligned follows the predicted steps up to {shown}"
    if "closed_vs_aligned" not in validation.metrics:
        return found
    missed = percent(validation.metrics["closed_vs_aligned"].max_abs_over_initial)
    return f"{found}; closed forms, which have finite steps to leading order, miss it by {missed}"


#: What is said of an assumption that fails, after "the assumption that fails is".
_FAILS = {
    findings.ALIGNMENT: "the aligned start with the strength taken; random layers do not start so",
    findings.GATES: "the gate pattern, which the network's units do not keep",
    findings.SCALE: "the initial scale, which is too large",
    findings.STEP: "the step size, which is too large",
    findings.BATCHES: "full batches, which the networks are not trained by",
    findings.FLOW: "small steps, which the network does not take",
    findings.STAGES: "the head start of later stages, which is of leading order",
    findings.WIDTH: "the limit of many hidden units, of which there are too few",
    findings.NETWORKS: "the number of networks, which is too small to tell",
}


def failed_text(
    place: str, found: PairDiagnosis, tolerance: float, says: Mapping[str, str] = _FAILS
) -> str:
    """Say it of the networks at a place, "against …"."""
    if not found.named:
        if any(each.undecided for each in found.findings):
            return (
                f"{place} more networks are needed to decide which assumption fails{_tried(found)}"
            )
        return f"{place} the distance is unexplained{_tried(found)}"
    named = " and ".join(f"{_says(each, says)} ({_evidence(each)})" for each in found.named)
    text = f"{place} the assumption that fails is {named}"
    if found.left is not None and found.left > tolerance:
        left = percent(found.left, tolerance)
        text += f"; {left} remains, more than the tolerance{_beyond(found, tolerance)}"
    return text


def left_text(found: Finding) -> str:
    """Return what replacing an assumption left, with its interval, or why that is not known."""
    if found.after is None:
        return found.why_not
    shown = share_text(Interval(value=found.after, low=found.low, high=found.high))
    return f"{shown}, undecided" if found.undecided else shown


def _says(found: Finding, says: Mapping[str, str]) -> str:
    return says.get(found.assumption, f"the {found.assumption}")


def _tried(found: PairDiagnosis) -> str:
    if not found.findings:
        return ""
    before = percent(found.findings[0].before)
    said = [f"no replacement is shown to remove half of {before}"]
    tried = [f"{e.assumption} {left_text(e)}" for e in found.findings if e.after is not None]
    left_out: dict[str, list[str]] = {}
    for each in found.findings:
        if each.after is None:
            left_out.setdefault(each.why_not, []).append(each.assumption)
    said += [f"replaced were {'; '.join(tried)}"] if tried else []
    left = [f"{', '.join(names)} ({why})" for why, names in left_out.items()]
    said += [f"not tried: {', '.join(left)}"] if left else []
    return f": {'; '.join(said)}"


def _evidence(found: Finding) -> str:
    parts = [f"with {found.replaced} {percent(found.before)} becomes {left_text(found)}"]
    return ", and ".join([*parts, *([found.measured] if found.measured else [])])


def _beyond(found: PairDiagnosis, tolerance: float) -> str:
    """Say what explains the rest: an assumption that went unnamed."""
    rest = [
        f"{percent(each.after, tolerance)} with {each.replaced}"
        for each in found.findings
        if each.assumption not in found.failed
        and each.after is not None
        and each.after <= tolerance
    ]
    return f": {' and '.join(rest)}" if rest else " and unexplained"


def validation_summary(validation: Validation) -> list[str]:
    """Return the verdict in words and the distances of the first pairs of curves."""
    rows = [tuple(row) for row in metric_rows(validation)]
    left = len(rows) - MOST_PAIRS
    return [
        f"{validation.derivation.spec.title}: {validation.seeds} seeds",
        *(short(clause, _VERDICT) for clause in verdict_clauses(validation)),
        *(f"{row[0]}: max |ΔL|/L(0) {row[1]}, mean {row[2]}" for row in rows[:MOST_PAIRS]),
        *([f"… {left} more pairs of curves: .metrics"] if left > 0 else []),
    ]


def validation_headline(validation: Validation) -> str:
    """Return a line, for what holds a confrontation."""
    kind, title = type(validation).__name__, validation.derivation.spec.title
    return f"{kind}({title!r}, {validation.seeds} seeds, {validation.verdict})"
