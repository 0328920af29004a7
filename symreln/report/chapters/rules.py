"""What other learning rules change: mini-batches, learning rates, weight decay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from symreln.derivation import strength_symbol
from symreln.report.document import Block, Math, Strong, Table, prose
from symreln.validation.confront import metric_cells, percent

if TYPE_CHECKING:
    from symreln.validation.confront import Validation
    from symreln.validation.decay import DecayRule
    from symreln.validation.rules import BatchRule, RuleComparison

_LARGEST = Math(r"\max |\Delta L| / L(0)")

#: Modes of one weight decay that are listed; further ones are in validation.json.
SHOWN = 8


def rule_blocks(validation: Validation) -> list[Block]:
    """Return the tables of other learning rules; nothing where they were not asked for."""
    found = validation.rules
    if found is None:
        return []
    names = {"theory": "theory", "relu": validation.network_name, "gdln": "GDLN"}
    return [
        prose(
            Strong("Other learning rules"),
            f" than full-batch gradient descent with the rate {found.learning_rate:g}, each with "
            f"{found.seeds} networks of each kind, which start from the same weights by "
            "every rule.",
        ),
        _batches(found, names),
        _rates(found, names),
        *_decays(found),
    ]


def _batches(found: RuleComparison, names: dict[str, str]) -> Table:
    return Table(
        header=("network", "batch", "theory", "drop time error", "full batch", "noise", "band"),
        rows=tuple((names[rule.subject], *_batch_cells(rule)) for rule in found.batches),
        caption=(
            "Mini-batches, without replacement within an epoch; a batch's gradient counts ",
            Math(r"P/|\text{batch}|"),
            f" times, {found.samples} samples in all. Columns, each as ",
            _LARGEST,
            ": the prediction against the mean over seeds; that mean against full batch; the "
            "standard deviation over seeds of the difference to full batch, which is what drawing "
            "the batches alone does; the width of the 5 % to 95 % band. A batch's step is that "
            "many times as long for its own samples, and the error of finite steps with it, which "
            "shifts the mean.",
        ),
        alignment="lrrrrrr",
    )


def _batch_cells(rule: BatchRule) -> tuple[str, ...]:
    size = str(rule.batch_size)
    if rule.theory is None:
        return (size, "diverged", "–", "–", "–", "–")
    largest, _, drop, _ = metric_cells(rule.theory)
    return (size, largest, drop, *(map(_share, (rule.shift, rule.noise, rule.band))))


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _rates(found: RuleComparison, names: dict[str, str]) -> Table:
    rates = [f"{rate:g}" for rate in found.learning_rates]
    return Table(
        header=("curve", *(f"at {rate}" for rate in rates), "changes", "ratio"),
        rows=tuple(
            (
                names[rule.subject],
                *map(percent, rule.flow),
                " and ".join(map(percent, rule.changes)),
                "–" if rule.ratio is None else f"{rule.ratio:.2f}",
            )
            for rule in found.rates
        ),
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


def _decays(found: RuleComparison) -> list[Block]:
    if not found.decays:
        return [prose(Strong("Weight decay"), f" is not compared: {found.no_decay}.")]
    return [
        Table(
            header=(Math(r"\lambda"), _LARGEST, "drop time error", "strengths at the end"),
            rows=tuple(_decay_row(rule) for rule in found.decays),
            caption=(
                "Weight decay ",
                Math(r"\lambda (\|W^{(1)}\|^2 + \|W^{(2)}\|^2)/2"),
                " beside the mean loss: the closed forms with ",
                Math(r"s - \lambda"),
                " in the place of ",
                Math("s"),
                " against GDLNs of the expected number of units; and strengths at the last step "
                "in units of ",
                Math("s/d"),
                ", predicted and trained. Modes with ",
                Math(r"s \le \lambda"),
                " are not learned.",
            ),
            alignment="rrrp",
        )
    ]


def _decay_row(rule: DecayRule) -> tuple:
    largest, _, drop, _ = metric_cells(rule.theory)
    parts: list = []
    for mode in rule.modes[:SHOWN]:
        values = f" {mode.predicted / mode.plateau:.3f} and {mode.trained / mode.plateau:.3f}"
        parts += ["; " if parts else "", Math(sp.latex(strength_symbol(mode.label))), values]
    if len(rule.modes) > SHOWN:
        parts.append(f"; {len(rule.modes) - SHOWN} further ones in validation.json")
    return (f"{rule.weight_decay:.3g}", largest, drop, tuple(parts))
