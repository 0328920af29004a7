"""A confrontation in words: its verdicts, the rows of its table, and which assumption fails.

Document, terminal, reprs and ``clauses()`` say these sentences and no others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import percent
from symreln.claims.constants import constants_text
from symreln.experiment import rows
from symreln.experiment.comparing import is_aligned
from symreln.experiment.metrics import METRICS, share_text
from symreln.experiment.rows import FLOOR, PUBLISHED, Row, left_of, named
from symreln.specs.finding import cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from symreln.experiment.measured_gates import GateLawMeasured
    from symreln.experiment.outcome import Validation

#: Characters of a verdict in a summary: two lines.
_VERDICT = 190
#: Differences of shares that float64 makes.
_ROUNDING = 1e-12

# -- the table -------------------------------------------------------------------------------------


def _titles(validation: Validation, pairs: Iterable[str]) -> dict[str, str]:
    """Return what every pair of curves is called."""
    curves = {
        "closed": "closed forms" if validation.numbers.closed else "coupled modes",
        "reduced": "integrated reduction",
        "effective": "effective network",
        "gdln": "GDLN",
        "mean_field": "unreduced effective network",
        "flow": "flow (infinitely small steps)",
        "modes": "modes that keep their directions",
        "descent": "gradient descent on aligned modes",
    }
    curves["theory"] = curves[validation.judged]
    judged = validation.judged_pairs
    return {
        pair: f"{'judged: ' * (pair in judged)}{curves[pair.split('_vs_')[0]]} – "
        f"{validation.trained_name(pair)}"
        for pair in pairs
    }


def metric_rows(validation: Validation) -> Iterator[tuple[str, ...]]:
    """Yield (what is compared or replaced, every metric) as text, a line of the table each."""
    names = _titles(validation, validation.pairs)
    for row in validation.rows:
        if row.pair.startswith(f"{validation.judged}_vs_") and not is_aligned(row.pair):
            continue  # the judged pair under a second name
        cells = [_largest(row, validation.tolerance)]
        for metric in METRICS[1:]:
            value = None if row.distance is None else getattr(row.distance, metric.name).value
            unknown = value is None and (row.distance is None or row.pair == PUBLISHED)
            cells.append("–" if unknown else metric.shown(value))
        yield (_title(validation, row, names), *cells)


def _title(validation: Validation, row: Row, names: dict[str, str]) -> str:
    if row.pair == FLOOR:
        return f"seed floor of the {validation.judged_by}"
    if row.pair == PUBLISHED:
        ours = validation.distance("theory_vs_relu")
        closer = ours is not None and (row.after.value or 0.0) < ours
        return f"published: {row.replaced}" + (" (closer than the judged curve)" if closer else "")
    if not row.assumption:
        return names[row.pair]
    return f"{validation.trained_name(row.pair)}: {row.assumption}, {_instead(row)}"


def _instead(row: Row) -> str:
    if row.proven:
        return "which no unit keeps (proven)"
    if row.why_not:
        return f"not replaced: {row.why_not}"
    return f"replaced by {row.replaced}"


def _largest(row: Row, tolerance: float) -> str:
    """Return max |ΔL|/L(0), after what it was where something was replaced."""
    if row.distance is None:
        return "–" if row.before is None else percent(row.before, tolerance)
    before = "" if row.before is None else f"{percent(row.before, tolerance)} → "
    return f"{before}{share_text(row.after, tolerance)}{', undecided' * row.undecided}"


# -- verdicts and what stands beside them ----------------------------------------------------------


def clauses(validation: Validation) -> list[str]:
    """Return the three verdicts, and what is beside them, each by itself."""
    constants = constants_text(validation.constants)
    return [*_verdict_clauses(validation), *beside_clauses(validation), constants]


def _verdict_clauses(validation: Validation) -> list[str]:
    """Return the verdicts on loss, modes and gates, with their reasons."""
    words = outcome_words(validation)
    return [
        f"{name} {words[name].upper()}: {each.reason}" for name, each in validation.verdicts.items()
    ]


def beside_clauses(validation: Validation) -> list[str]:
    """Return what stands beside the three verdicts: what fails first, then what was not judged."""
    found = [
        *(
            _fails(f"against the {validation.trained_name(pair)}", tried, validation.tolerance)
            for pair, tried in validation.failing.items()
        ),
        validation.no_network,
        "" if validation.met is None else validation.met.sentence,
        "" if validation.law is None else gate_law_sentence(validation.law),
        *(each.sentence() for each in validation.narrow),
    ]
    return [clause for clause in found if clause]


def outcome_words(validation: Validation) -> dict[str, str]:
    """Return what becomes of the loss, of modes and of gates, as verbs of them: modes "agree"."""
    return {
        name: each.outcome.removesuffix("s") if name.endswith("es") else each.outcome
        for name, each in validation.verdicts.items()
    }


def gate_law_sentence(law: GateLawMeasured) -> str:
    """Return how far the law of gates is from networks."""
    share = f"differs from the measured share by at most {law.distance:.2g}"
    if law.distance < _ROUNDING:
        share = "is the measured share to rounding"
    return f"law of gates: the predicted share of the weight with the first stage's gates {share}"


# -- what fails ------------------------------------------------------------------------------------

#: What is said of an assumption that fails, after "the assumption that fails is".
_FAILS = {
    rows.ALIGNMENT: "the aligned start with the strength taken; random layers do not start so",
    rows.GATES: "the gate pattern, which the network's units do not keep",
    rows.SCALE: "the initial scale, which is too large",
    rows.STEP: "the step size, which is too large",
    rows.BATCHES: "full batches, which the networks are not trained by",
    rows.FORMS: "the closed forms, whose head starts and finite steps are of leading order",
    rows.WIDTH: "the limit of many hidden units, of which there are too few",
    rows.NETWORKS: "the number of networks, which is too small to tell",
}


def _fails(place: str, tried: Sequence[Row], tolerance: float) -> str:
    """Say which assumption fails at a place, "against …", on which evidence, or that none does."""
    found, left = named(tried), left_of(tried)
    if not found:
        what = "the distance is unexplained"
        if any(row.undecided for row in tried):
            what = "more networks are needed to decide which assumption fails"
        said = "; ".join(f"{row.assumption}, {_evidence(row)}" for row in tried)
        return f"{place} {what}: no replacement is shown to remove half of it ({said})"
    said = " and ".join(f"{_FAILS[row.assumption]} ({_evidence(row)})" for row in found)
    text = f"{place} the assumption that fails is {said}"
    if left is None or left <= tolerance:
        return text
    text += f"; {percent(left, tolerance)} remains, more than the tolerance"
    rest = [
        f"{percent(row.after.value, tolerance)} with {row.replaced}"
        for row in tried
        if row not in found and row.after.value is not None and row.after.value <= tolerance
    ]
    return text + (f": {' and '.join(rest)}" if rest else " and unexplained")


def _evidence(row: Row) -> str:
    if row.proven:
        return f"proven: {row.proven}"
    if row.distance is None:
        return _instead(row)
    before = percent(row.before or 0.0)
    after = f"{share_text(row.after)}{', undecided' * row.undecided}"
    more = f", and {row.measured}" if row.measured else ""
    return f"with {row.replaced} {before} becomes {after}{more}"


# -- reprs -----------------------------------------------------------------------------------------


def validation_summary(validation: Validation) -> list[str]:
    """Return the verdict in words and the distances of the judged pairs of curves."""
    judged, tolerance = validation.judged_intervals, validation.tolerance
    names = _titles(validation, judged)
    return [
        f"{validation.derivation.spec.title}: {validation.seeds} seeds",
        *(cut(clause, _VERDICT) for clause in _verdict_clauses(validation)),
        *(
            f"{names[pair]}: max |ΔL|/L(0) {_largest(Row(pair=pair, distance=found), tolerance)}, "
            f"mean {METRICS[1].shown(found.mean_abs_over_initial.value)}"
            for pair, found in judged.items()
        ),
        "all distances: .metric_rows()",
    ]
