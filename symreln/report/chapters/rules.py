"""What mini-batches change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import percent
from symreln.document.model import Block, Math, Strong, Table, prose
from symreln.experiment.metrics import metric_cells

if TYPE_CHECKING:
    from symreln.experiment.confront import Validation
    from symreln.experiment.rules import RuleComparison, VariedTraining

_LARGEST = Math(r"\max |\Delta L| / L(0)")

#: Columns of the table of mini-batches.
BATCH_HEADER = ("network", "batch", "reduction", "drop time error", "full batch", "noise", "band")


def rule_blocks(validation: Validation) -> list[Block]:
    """Return the table of mini-batches; nothing where it was not asked for."""
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
    ]


def subjects(validation: Validation) -> dict[str, str]:
    """Return the name of everything that other rules are compared for."""
    return {"relu": validation.network_name, "gdln": "GDLN"}


def batch_rows(found: RuleComparison, names: dict[str, str]) -> list[list[str]]:
    """Return a row of text a kind of network and batch size, :data:`BATCH_HEADER` above."""
    return [[names[rule.subject], *_batch_cells(rule)] for rule in found.batches]


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
    theory = metric_cells(rule.theory)
    shares = map(_share, (rule.shift, rule.noise, rule.band))
    return [size, theory["max_abs_over_initial"], theory["drop_time_error_steps"], *shares]


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)
