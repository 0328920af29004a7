"""How sure a confrontation is and what fails: intervals, assumptions, modes one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import percent, positional
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Math, Reference, Strong, Table, prose
from symreln.document.typeset import typeset
from symreln.experiment import metrics, strengths
from symreln.experiment.words import bound_text, interval_text, share_text
from symreln.laws.loss import strength_symbol
from symreln.report.sentences import is_repeated, left_text, outcome_words, titles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symreln.experiment.confront import Validation
    from symreln.experiment.findings import PairDiagnosis
    from symreln.experiment.strengths import ModeMeasured

_LARGEST = Math(r"\max |\Delta L| / L(0)")
#: Modes whose strengths are listed; the others are in validation.json.
MOST_MODES = 16


def agreement_table(validation: Validation) -> Table:
    """Return the verdicts of loss, modes and gates: what was measured, its interval, why."""
    return Table(
        header=("quantity", "outcome", "measured [95 % interval]"),
        rows=tuple(
            (name, Strong(found.outcome), typeset(found.reason))
            for name, found in validation.verdicts.items()
        ),
        caption=(
            "Theory against ",
            f"{validation.seeds} {counted_networks(validation)}. ",
            "A quantity agrees where its whole confidence interval over seeds is within the "
            "tolerance, and disagrees where none of it is. Tolerance: ",
            f"{bound_text(validation.tolerance)} of the initial loss, of a plateau, of the weight "
            "(",
            validation.derivation.spec.validation.reason,
            "). Details: ",
            Reference("sec:agreement"),
            ".",
        ),
        alignment="llp",
        label="tab:agreement",
    )


def outcomes_block(validation: Validation) -> Block:
    """Return what became of loss, modes and gates, in a sentence."""
    listed = [
        part
        for name, word in outcome_words(validation).items()
        for part in (", ", f"{name} ", Strong(word))
    ]
    return prose(
        f"Against {validation.seeds} {counted_networks(validation)}: ",
        *listed[1:],
        " (",
        Reference("tab:agreement"),
        ").",
    )


def counted_networks(validation: Validation) -> str:
    """Return what was trained, after how many of each."""
    if validation.network is None:
        return "gated deep linear networks (GDLN)"
    return f"{validation.network_name}s and as many gated deep linear networks (GDLN)"


def judgement_blocks(validation: Validation) -> list[Block]:
    """Return what fails, intervals, and the modes beside their formulas."""
    return [
        *diagnosis_blocks(validation.diagnosis, titles(validation)),
        *_intervals(validation),
        *_modes(validation),
    ]


def diagnosis_blocks(diagnosis: tuple[PairDiagnosis, ...], names: Mapping[str, str]) -> list[Block]:
    """Say what was replaced where theory and training disagree, and what it brought.

    Args:
        diagnosis: Pair by pair.
        names: What every pair is called.
    """
    rows = [
        (
            names[found.pair],
            each.assumption,
            each.replaced,
            percent(each.before),
            left_text(each),
        )
        for found in diagnosis
        for each in found.findings
    ]
    if not rows:
        return []
    return [
        Table(
            header=("curves", "assumption", "replaced by", "before", "after"),
            rows=tuple(rows),
            caption=(
                "What fails: one approximation is replaced at a time. Given is ",
                _LARGEST,
                " before and after, with a 95 % interval over seeds. An assumption fails where the "
                "whole interval is below half of the distance before, and is undecided where the "
                "interval contains that half. Where needed, the first networks of each kind were "
                "trained again from the same initial weights. A start that fits best is one fitted "
                "number; it enters no prediction.",
            ),
            alignment="plprp",
        )
    ]


def _intervals(validation: Validation) -> list[Block]:
    if validation.seeds < 2:
        return []
    names = titles(validation)
    rows = tuple(
        (
            names[name],
            share_text(found.max_abs_over_initial),
            interval_text(found.drop_time_error_steps, lambda steps: positional(steps, 3)),
        )
        for name, found in validation.intervals.items()
        if not is_repeated(validation, name)
    )
    return [
        Table(
            header=(
                "curves",
                _LARGEST,
                "drop time error",
            ),
            rows=rows,
            caption=(
                f"{100 * metrics.LEVEL:g} % confidence intervals over seeds: {metrics.METHOD}. A "
                "lower end of 0 % means that the curves may coincide.",
            ),
            alignment="prr",
        )
    ]


def _modes(validation: Validation) -> list[Block]:
    """Return the modes' measured strengths beside their formulas, the strongest first."""
    if not validation.modes:
        return []
    by_label: dict[str, dict[str, ModeMeasured]] = {}
    for mode in sorted(validation.modes, key=lambda mode: -mode.plateau):
        by_label.setdefault(mode.label, {})[mode.subject] = mode
    tolerance = validation.tolerance
    rows = tuple(
        _mode_row(label, found, tolerance) for label, found in list(by_label.items())[:MOST_MODES]
    )
    left = len(by_label) - len(rows)
    return [
        Table(
            header=(
                "strength",
                "GDLN",
                "half-time error",
                validation.network_name,
                "half-time error",
            ),
            rows=rows,
            caption=(
                "Strengths ",
                Math(r"u^{\top} W v"),
                " of trained pathways against their judged formulas, by decreasing plateau: the "
                "largest error over the looked-at steps as a share of the plateau, and the "
                f"predicted minus the measured half-time in steps ({strengths.METHOD}). The "
                "verdict on modes in ",
                Reference("tab:agreement"),
                " takes one interval for all modes and steps together, from the covariance of the "
                "seeds' curves; it is another interval of the same number."
                + (
                    " A unit of the ReLU network counts for the pathway whose gate reproduces its "
                    "output best."
                    if validation.drift is not None
                    else ""
                )
                + (f" {left} more modes are in validation.json." if left > 0 else ""),
            ),
            alignment="lrrrr",
        )
    ]


def _mode_row(label: str, found: dict[str, ModeMeasured], tolerance: float) -> tuple:
    cells: list = [Math(to_latex(strength_symbol(label)))]
    for subject in ("gdln", "relu"):
        mode = found.get(subject)
        cells.append("–" if mode is None else _relative_error(mode, tolerance))
        cells.append("–" if mode is None else _half_time(mode))
    return tuple(cells)


def _relative_error(mode: ModeMeasured, tolerance: float) -> str:
    return mode.why_not(tolerance) or share_text(mode.largest)


def _half_time(mode: ModeMeasured) -> str:
    error = mode.half_time_error
    if error.value is not None:
        return interval_text(error, lambda steps: positional(steps, 3))
    late, seeds = mode.not_half_learned, len(mode.measured)
    return f"not reached by {late} of {seeds}" if 0 < late < seeds else "not reached"
