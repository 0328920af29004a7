"""The table of all predictions: task by task, each beside the networks that were trained.

Rows are JSON, so that those of pages that were made before stand in it as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from symreln.base.rounding import percent
from symreln.base.tables import markdown_table
from symreln.document.model import Code, Section, Table, prose
from symreln.experiment.comparing import CurvePair
from symreln.experiment.metrics import Distance, Interval, SeedFloor, seed_floor
from symreln.experiment.rows import HAND_SET
from symreln.experiment.words import interval_text, share_text

if TYPE_CHECKING:
    from symreln.experiment.depth import DepthComparison
    from symreln.experiment.outcome import Validation
    from symreln.experiment.rows import Row

#: Curves of a confrontation that stand in the table, by the name that it gives them.
_CURVES = {
    "closed_forms": "closed forms",
    "reduced": "integrated reduction",
    "gates_order_3": "gates by the law, third order",
    "mean_field": "mean-field simulation",
}


def comparison_rows(task: str, found: Validation) -> Iterator[dict[str, Any]]:
    """Yield one row a prediction of a task's mean loss, and one of networks among themselves.

    Distances are to the ReLU network, or to the GDLN where no other network was trained.

    Args:
        task: What it is called.
        found: The task's confrontation.
    """
    trained = found.gdln if found.network is None else found.network
    head = {"task": task, "network": found.judged_by, "seeds": found.seeds}
    for row in found.published:
        yield {**head, **_published_row(row)}
    pairs = {"closed_forms": "closed", "reduced": "reduced", "mean_field": "mean_field"}
    judge = "gdln" if found.network is None else "relu"
    for name, title in _CURVES.items():
        curve = found.curves.get(name)
        if curve is None:
            continue
        row = {**head, "prediction": title, "assumed_constants": _assumed(found, name)}
        apart = found.intervals.get(f"{pairs.get(name)}_vs_{judge}")
        yield {**row, **_distance(curve, trained.losses, found.rng, apart)}
    if found.floor is not None:
        yield {**head, **_floor_row(found.floor, trained.losses)}


def depth_comparison_rows(task: str, found: DepthComparison) -> Iterator[dict[str, Any]]:
    """Yield the rows of a comparison of depth: mean losses of each kind of gated networks.

    Args:
        task: What it is called.
        found: The distributions over seeds.
    """
    head = {"task": task, "network": "ReLU network", "seeds": found.seeds}
    relative = found.relu.losses / found.relu.losses[:, :1]
    gated = {"gated networks, fixed gates": (found.gdln.losses, found.free_constants)}
    if found.switching is not None:
        switching = found.switching
        gated["gated networks, gates that switch"] = (switching.losses, switching.free_constants)
    for name, (losses, constants) in gated.items():
        apart = _distance(losses / losses[:, :1], relative, found.rng)
        yield {**head, "prediction": name, "assumed_constants": constants, **apart}
    floor = seed_floor(relative)
    assert floor is not None  # two networks at least
    yield {**head, **_floor_row(floor, relative)}


def _distance(
    curve: np.ndarray, losses: np.ndarray, rng: int, known: Distance[Interval] | None = None
) -> dict[str, Any]:
    """Return how far a curve, or the mean of some, is from the mean of trained losses."""
    pair = CurvePair(first=np.atleast_2d(curve), second=losses)
    apart = {key: asdict(each) for key, each in vars(known or pair.distance(rng)).items()}
    return {**apart, "final_loss": _final(curve)}


def _floor_row(found: SeedFloor, losses: np.ndarray) -> dict[str, Any]:
    floor = {key: {"value": each} for key, each in vars(found.mean).items()}
    name = "seed floor of the networks"
    return {"prediction": name, **floor, "final_loss": _final(losses)}


def _assumed(found: Validation, curve: str) -> int | None:
    """Return how many assumed or fitted numbers a curve rests on; None of what is no prediction.

    Gates by the law rest on the first stage alone, and so on no share of units where its pathways
    have a κ.
    """
    if curve == "mean_field":
        return None
    if curve.startswith("gates_order"):
        first = found.numbers.stages[0].pathways
        return int(any(pathway.name not in found.kappas for pathway in first))
    return found.prediction.free_constants


def _published_row(found: Row) -> dict[str, Any]:
    return {
        "prediction": f"published ({found.replaced})",
        "assumed_constants": HAND_SET,
        **{key: asdict(each) for key, each in vars(found.distance).items()},
    }


def _final(curve: np.ndarray) -> float:
    """Return the last mean loss over the first."""
    mean = np.atleast_2d(curve).mean(axis=0)
    return float(mean[-1] / mean[0])


_HEADER = (
    "task",
    "prediction",
    "assumed constants",
    "first drop, steps off",
    "max |ΔL|/L(0)",
    "mean |ΔL|/L(0)",
    "tail, log10 rms",
    "final loss/L(0)",
)


def interval_of(row: Mapping[str, Any], name: str) -> Interval:
    """Return a metric of a row with its interval."""
    return Interval(**{"value": None, "low": None, "high": None} | row.get(name, {}))


def comparison_table(pages: Iterable[Mapping[str, Any]]) -> str:
    """Return the table of all predictions over some pages' JSON, as Markdown."""
    rows = [_cells(row) for page in pages for row in page["comparisons"]]
    return f"{markdown_table(_HEADER, rows)}\n"


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    shown = {
        "drop_time_error_steps": lambda x: f"{x:.3g}",
        "max_abs_over_initial": percent,
        "mean_abs_over_initial": percent,
        "log10_tail_rms": lambda x: f"{x:.2g}",
    }
    cells = []
    for name, form in shown.items():
        found = interval_of(row, name)
        share = form is percent and found.value is not None
        cells.append(share_text(found) if share else interval_text(found, form))
    count, final = row.get("assumed_constants"), row.get("final_loss")
    return (
        f"{row['task']} ({row['seeds']} seeds)",
        row["prediction"],
        "–" if count is None else str(count),
        *cells,
        "–" if final is None else f"{final:.2g}",
    )


def predictions_section(rows: Sequence[Mapping[str, Any]]) -> Section:
    """Return the table as a section of a document, a table a task."""
    tables = [_task_table(list(own)) for _, own in groupby(rows, lambda row: row["task"])]
    blocks = (prose(_PREDICTIONS), *tables)
    return Section(title="All predictions", blocks=blocks, label="sec:table")


_PREDICTIONS = (
    "Predictions of the mean loss beside trained networks, with 95 % intervals over seeds. What is "
    "published is quoted, as measured against other networks of the same task. A dash stands "
    "for a number that was not published, or was not computed. Gates by the law are iterated: "
    "their third order is shown. The mean-field simulation, to which more orders would come, is no "
    "prediction."
)


def _task_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the part of the table of all predictions that is about one task."""
    first = rows[0]
    return Table(
        header=_HEADER[1:],
        rows=tuple(_cells(row)[1:] for row in rows),
        caption=(Code(first["task"]), f": {first['seeds']} networks ({first['network']})."),
        alignment="p" * (len(_HEADER) - 1),
    )
