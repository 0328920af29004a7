"""What other learning rules change: mini-batches, learning rates, biases, weight decay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import percent
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Math, Strong, Table, prose
from symreln.experiment.metrics import CurveComparison, metric_cells
from symreln.laws.loss import strength_symbol

if TYPE_CHECKING:
    from symreln.experiment.confront import Validation
    from symreln.experiment.rules import DecayRule, RuleComparison, VariedTraining

_LARGEST = Math(r"\max |\Delta L| / L(0)")

#: Columns of the table of mini-batches.
BATCH_HEADER = ("network", "batch", "reduction", "drop time error", "full batch", "noise", "band")
#: Columns of the table of biases.
BIAS_HEADER = ("network with biases", "reduction", "drop time error", "without biases")
#: Modes of one weight decay that are listed; further ones are in validation.json.
SHOWN = 8


def rule_blocks(validation: Validation) -> list[Block]:
    """Return the tables of other learning rules; nothing where they were not asked for."""
    found = validation.rules
    if found is None:
        return []
    names = subjects(validation)
    return [
        prose(
            Strong("Other learning rules"),
            f" than full-batch gradient descent with the rate {found.learning_rate:g}, each with "
            f"{found.seeds} networks of each kind, which start from the same weights by "
            "every rule.",
        ),
        _batches(found, names),
        _rates(found, names),
        _biases(found, names),
        *_decays(found),
    ]


def subjects(validation: Validation) -> dict[str, str]:
    """Return the name of everything that other rules are compared for."""
    return {"theory": "reduction", "relu": validation.network_name, "gdln": "GDLN"}


def batch_rows(found: RuleComparison, names: dict[str, str]) -> list[list[str]]:
    """Return a row of text a kind of network and batch size, :data:`BATCH_HEADER` above."""
    return [[names[rule.subject], *_batch_cells(rule)] for rule in found.batches]


def rate_header(found: RuleComparison) -> list[str]:
    """Return the names of the columns of :func:`rate_rows`."""
    return ["curve", *(f"at {rate:g}" for rate in found.learning_rates), "changes", "ratio"]


def rate_rows(found: RuleComparison, names: dict[str, str]) -> list[list[str]]:
    """Return a row of text a curve."""
    return [
        [
            names[rule.subject],
            *map(percent, rule.flow),
            " and ".join(map(percent, rule.changes)),
            "–" if rule.ratio is None else f"{rule.ratio:.2f}",
        ]
        for rule in found.rates
    ]


def bias_rows(found: RuleComparison, names: dict[str, str]) -> list[list[str]]:
    """Return a row of text a kind of network, :data:`BIAS_HEADER` above."""
    return [[names[rule.subject], *_bias_cells(rule)] for rule in found.biased]


def decay_cells(rule: DecayRule) -> tuple[str, str, str, str]:
    """Return λ, the reduction's max |ΔL|/L(0) and drop time error, the closed forms' first."""
    return (
        f"{rule.weight_decay:.3g}",
        *_largest_and_drop(rule.theory),
        percent(rule.closed.max_abs_over_initial),
    )


def decayed_modes(rule: DecayRule) -> tuple[list[tuple[str, str]], str]:
    """Return (label, strengths as text) of the modes that are shown, and a word on the others."""
    shown = [
        (mode.label, f"{mode.predicted / mode.plateau:.3f} and {mode.trained / mode.plateau:.3f}")
        for mode in rule.modes[:SHOWN]
    ]
    left = len(rule.modes) - SHOWN
    return shown, f"{left} further ones in validation.json" if left > 0 else ""


def _batches(found: RuleComparison, names: dict[str, str]) -> Table:
    return Table(
        header=BATCH_HEADER,
        rows=tuple(map(tuple, batch_rows(found, names))),
        caption=(
            "Mini-batches, without replacement within an epoch; a batch's gradient counts ",
            Math(r"P/|\text{batch}|"),
            f" times, {found.samples} samples in all. Columns, each as ",
            _LARGEST,
            ": the integrated reduction against the mean over seeds; that mean against full batch; "
            "the standard deviation over seeds of the difference to full batch, which is what "
            "drawing the batches alone does; the width of the 5 % to 95 % band. A batch's step is "
            "that many times as long for its own samples, and the error of finite steps with it, "
            "which shifts the mean.",
        ),
        alignment="lrrrrrr",
    )


def _batch_cells(rule: VariedTraining) -> list[str]:
    size = str(rule.batch_size)
    if rule.theory is None:
        return [size, "diverged", "–", "–", "–", "–"]
    return [
        size,
        *_largest_and_drop(rule.theory),
        *(map(_share, (rule.shift, rule.noise, rule.band))),
    ]


def _largest_and_drop(found: CurveComparison) -> tuple[str, str]:
    cells = metric_cells(found)
    return cells["max_abs_over_initial"], cells["drop_time_error_steps"]


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _rates(found: RuleComparison, names: dict[str, str]) -> Table:
    return Table(
        header=tuple(rate_header(found)),
        rows=tuple(map(tuple, rate_rows(found, names))),
        caption=(
            "Learning rates, over the same time, each as ",
            _LARGEST,
            ": the flow of infinitely small steps against the curve at each rate, and the changes "
            "of the curve from a rate to its half. The error of finite steps is proportional to "
            "the rate where the ratio of the changes is 2; what is left of the distance to the "
            "flow has other causes.",
        ),
        alignment="lrrrrr",
    )


def _biases(found: RuleComparison, names: dict[str, str]) -> Table:
    return Table(
        header=BIAS_HEADER,
        rows=tuple(map(tuple, bias_rows(found, names))),
        caption=(
            "Biases in every layer, of a GDLN in every pathway, which start at 0 and which the "
            "theory does not have. Columns, each as ",
            _LARGEST,
            ": the integrated reduction against the mean over seeds; that mean against the same "
            "networks without biases.",
        ),
        alignment="lrrr",
    )


def _bias_cells(rule: VariedTraining) -> list[str]:
    if rule.theory is None:
        return ["diverged", "–", "–"]
    return [*_largest_and_drop(rule.theory), _share(rule.shift)]


def _decays(found: RuleComparison) -> list[Block]:
    if not found.decays:
        return [prose(Strong("Weight decay"), f" is not compared: {found.no_decay}.")]
    return [
        Table(
            header=(
                Math(r"\lambda"),
                "reduction",
                "drop time error",
                "closed forms",
                "strengths at the end",
            ),
            rows=tuple(_decay_row(rule) for rule in found.decays),
            caption=(
                "Weight decay ",
                Math(r"\lambda (\|W^{(1)}\|^2 + \|W^{(2)}\|^2)/2"),
                " beside the mean loss, as ",
                _LARGEST,
                " against GDLNs of the expected number of units: gradient descent on the modes, by "
                "its own finite steps, and the closed forms with ",
                Math(r"s - \lambda"),
                " in the place of ",
                Math("s"),
                ", of infinitely small ones; and strengths at the last step in units of ",
                Math("s/d"),
                ", predicted and trained. Modes with ",
                Math(r"s \le \lambda"),
                " are not learned.",
            ),
            alignment="rrrrp",
        )
    ]


def _decay_row(rule: DecayRule) -> tuple:
    parts: list = []
    shown, more = decayed_modes(rule)
    for label, values in shown:
        parts += ["; " if parts else "", Math(to_latex(strength_symbol(label))), f" {values}"]
    if more:
        parts.append(f"; {more}")
    return (*decay_cells(rule), tuple(parts))
