"""What halving the learning rate and the initial scale does, beside the order that is predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.base.rounding import percent
from symreln.document.model import Block, Math, Strong, Table, prose
from symreln.experiment.words import share_text
from symreln.report.sentences import titles

if TYPE_CHECKING:
    from symreln.experiment.confront import Validation
    from symreln.experiment.study import LevelDistance, MeasuredOrder, Study

#: Names of the columns of :func:`order_rows`.
ORDER_HEADER = ("deviation", "halved", "at each level", "order", "predicted", "confirmed")


def study_blocks(validation: Validation) -> list[Block]:
    """Return the tables of the convergence study; nothing where it was not asked for."""
    found = validation.study
    if found is None:
        return []
    blocks: list[Block] = [
        prose(
            Strong("Convergence"),
            f". The learning rate and the initial scale were halved twice, with {found.seeds} "
            "networks of each kind from the same draws, for the same time and for as far as the "
            "loss got. The error of finite steps is proportional to the rate: order 1. What "
            "silent alignment drops of a start changes the loss by the square of its scale: "
            "order 2. ",
            _capital(study_sentence(found)),
            ".",
        ),
        _orders(found),
        _distances(validation, found),
    ]
    blocks += [prose(f"Not measured: {what}; {why}.") for what, why in found.not_measured]
    return blocks


def order_rows(found: Study) -> list[list[str]]:
    """Return a row of text a deviation, :data:`ORDER_HEADER` above."""
    return [_order_row(each) for each in found.orders]


def distance_rows(validation: Validation, found: Study) -> list[list[str]]:
    """Return a row of text a level, :func:`distance_header` above."""
    pairs = _pairs(found)
    return [_distance_row(each, pairs) for each in found.distances]


def distance_header(validation: Validation, found: Study) -> list[str]:
    """Return the names of the columns of :func:`distance_rows`."""
    return ["halved", "factor", "steps", *(titles(validation)[name] for name in _pairs(found))]


def _orders(found: Study) -> Table:
    return Table(
        header=ORDER_HEADER,
        rows=tuple(map(tuple, order_rows(found))),
        caption=(
            "Deviations as ",
            Math(r"\max |\Delta L| / L(0)"),
            " at each level, and the order at which they shrink, with its 95 % interval over "
            "networks; how much it differs from the halving before is in validation.json. It is "
            "confirmed where the nearest whole number is the predicted one and "
            "every deviation is smaller than the one before.",
        ),
        alignment="plrrrr",
    )


def _distances(validation: Validation, found: Study) -> Table:
    return Table(
        header=tuple(distance_header(validation, found)),
        rows=tuple(map(tuple, distance_rows(validation, found))),
        caption=(
            "Distance of theory to networks at each level, with its 95 % interval over seeds. What "
            "does not shrink has other causes, such as few units and, in a ReLU network, gates "
            "that move.",
        ),
        alignment="lrr" + "r" * len(_pairs(found)),
    )


def _pairs(found: Study) -> list[str]:
    return list(found.distances[0].pairs)


def _order_row(each: MeasuredOrder) -> list[str]:
    confirmed = {True: "yes", False: "NO", None: "–"}[each.confirmed]
    values = ", ".join(map(percent, each.values))
    order = _order_number(each)
    return [each.what, each.halved, values, order, str(each.predicted), confirmed]


def _distance_row(each: LevelDistance, pairs: list[str]) -> list[str]:
    cells = [share_text(each.pairs[name].max_abs_over_initial) for name in pairs]
    return [each.halved, str(each.factor), str(each.steps), *cells]


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def study_sentence(study: Study) -> str:
    """Say which orders are confirmed."""
    known = [found for found in study.orders if found.confirmed is not None]
    wrong = [found for found in known if not found.confirmed]
    if not known:
        return "convergence: no deviation is above rounding, so that no order is measured"
    if not wrong:
        return f"convergence: all {len(known)} deviations shrink at the predicted order"
    names = "; ".join(f"{found.what}, {order_text(found)}" for found in wrong)
    return (
        f"convergence: {len(wrong)} of {len(known)} deviations do NOT shrink at the predicted "
        f"order: {names}"
    )


def _order_number(found: MeasuredOrder) -> str:
    """Return the measured order with its error, or why there is none."""
    order = found.order
    if order.value is None:
        return "rounding"
    error = "" if order.low is None else f" ± {order.value - order.low:.2g}"
    return f"{order.value:.3f}{error}"


def order_text(found: MeasuredOrder) -> str:
    """Return the measured order beside the predicted one."""
    if found.order.value is None:
        return f"order {found.predicted} predicted, not measured: rounding"
    drift = "" if found.drift is None else f", {abs(found.drift):.2g} from the halving before"
    return f"order {_order_number(found)} where {found.predicted} is predicted{drift}"
