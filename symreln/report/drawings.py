"""The figures of a derivation, with those of its confrontation where there is one.

The figures of a network of nodes and edges: itself, its strengths and its loss.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.derivation import Derivation, Derived, of_pathways
from symreln.claims.network.derivation import NetworkDerivation
from symreln.claims.prediction import closed_forms, predict
from symreln.claims.solve import at_values
from symreln.errors import InputError, NotSupportedError
from symreln.laws.integrate import DRAWN
from symreln.report.plots import (
    MOST_CURVES,
    SAME,
    drawn_times,
    loss_curve,
    loss_sketch,
    modes_sketch,
    modes_sketches,
    pathway_curves,
    still_sketches,
)
from symreln.report.sketch import Sketch, begin_to_draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from symreln.claims.curves import Prediction
    from symreln.claims.network.in_numbers import Curves
    from symreln.document.model import Drawing
    from symreln.experiment.outcome import Validation
    from symreln.experiment.strengths import ModeMeasured


def begin_drawings(
    derivation: Derived, validation: Validation | None, *, pdf: bool
) -> tuple[list[str], Callable[[], tuple[Drawing, ...]]]:
    """Have a derivation drawn, and its confrontation where there is one.

    Args:
        derivation: What was derived.
        validation: What training showed, or None.
        pdf: Whether LaTeX is to include them.

    Returns:
        The figures' names, and what returns the figures when they are drawn.
    """
    names, still = [], tuple
    if isinstance(derivation, NetworkDerivation):
        sketches = network_sketches(derivation)
        if validation is not None:  # its losses stand in the place of the prediction alone
            sketches = [each for each in sketches if each.name != "loss"]
    else:
        derivation = of_pathways(derivation)
        names, still = derivation.ask(STILL[pdf])
        sketches = modes_sketches(
            derivation, _prediction(derivation, validation), _measured(validation)
        )
    drawn, more = begin_to_draw(sketches, pdf=pdf), ()
    if validation is not None:
        # Here, because it brings everything that trains networks.
        from symreln.report.validation_plots import validation_drawings

        more = validation_drawings(validation, pdf=pdf)
    names = [*names, *(each.name for each in (*sketches, *more))]
    return names, lambda: (*still(), *drawn(), *more)


def _still(
    derivation: Derivation, *, pdf: bool
) -> tuple[list[str], Callable[[], tuple[Drawing, ...]]]:
    sketches = still_sketches(derivation)
    return [each.name for each in sketches], begin_to_draw(sketches, pdf=pdf)


#: Rules by ``pdf`` that have drawn what needs no prediction; as :func:`begin_drawings`.
STILL = {pdf: partial(_still, pdf=pdf) for pdf in (True, False)}


def _prediction(derivation: Derivation, validation: Validation | None) -> Prediction | None:
    """Return the curves to draw, or None where there are none.

    A derivation by itself shows the closed forms that it prints; beside a confrontation it shows
    the prediction that was confronted. A value or the network may be missing, or training may be
    bound to diverge: then validation says so, and the derivation, which is exact all the same,
    has no figure of curves.
    """
    if validation is not None:
        return validation.prediction
    network = derivation.spec.network
    no_start = derivation.strength0 is None  # no network, or no initial strength is derived
    if network is None or no_start or any(p.value is None for p in derivation.spec.parameters):
        return None
    try:
        return drawn_prediction(derivation, network.steps)
    except (InputError, NotSupportedError):
        return None


def drawn_prediction(derivation: Derivation, steps: int) -> Prediction:
    """Return the closed forms at declared values, or where there are none the reduction."""
    numbers, times = derivation.ask(at_values), drawn_times(steps)
    return closed_forms(numbers, times) or predict(numbers, times, accuracy=DRAWN)


def _measured(validation: Validation | None) -> list[tuple[str, ModeMeasured]]:
    """Return the strengths of trained networks that are those of a mode, with their names."""
    if validation is None:
        return []
    names = {"gdln": "GDLN, measured", "relu": f"{validation.network_name}, measured"}
    return [
        (names[mode.subject], mode)
        for mode in validation.modes
        if not mode.why_not(validation.tolerance)
    ]


#: Nodes, edges and samples up to which a graph can be read in print.
MOST_NODES = 60
MOST_EDGES = 160
#: Share of the first loss below which float64 knows no loss.
_NOISE = 1e-13
#: Groups of pathways up to which each has a colour.
MOST_GROUPS = 8


def network_sketches(derivation: NetworkDerivation) -> list[Sketch]:
    """Sketch the graph and, where there are numbers, strengths and loss."""
    # Here, because pathways need none of it.
    from symreln.claims.network.in_numbers import in_numbers

    found = []
    graph = derivation.graph
    if len(graph.nodes) <= MOST_NODES and len(graph.edges) <= MOST_EDGES:
        found.append(_graph(derivation))
    curves = derivation.ask(in_numbers).found
    if not isinstance(curves, str):
        if curves.strengths:
            found.append(_modes(curves))
        found.append(_loss(curves))
    return found


def _graph(derivation: NetworkDerivation) -> Sketch:
    from symreln.claims.network.described import described

    shown = {
        "network": derivation.graph,
        "uses": [count for _, count in derivation.ask(described).edges],
        "parts": {e: n for n, c in enumerate(derivation.components) for e in c.edges},
    }
    return Sketch(name="graph", shown=shown, function="network_figure.draw_network")


def _modes(curves: Curves) -> Sketch:
    drawn = []
    for place, item in enumerate(curves.strengths[:MOST_GROUPS]):
        values = item.values[:MOST_CURVES]
        plateaus = [float(each) for each in item.plateaus[:MOST_CURVES]]
        names = _symbols(values)
        drawn += pathway_curves(place, item.label, curves.times, values, plateaus, names=names)
    return modes_sketch(drawn)


def _symbols(strengths: np.ndarray) -> tuple[str, ...]:
    """Name modes by their places; of those that lie on each other the first, with how many."""
    near = SAME * float(np.abs(strengths).max(initial=0.0))
    alike = [[float(np.abs(one - other).max()) <= near for other in strengths] for one in strengths]
    return tuple(
        "" if row.index(True) < place else _symbol(place + 1, sum(row))
        for place, row in enumerate(alike)
    )


def _symbol(number: int, count: int) -> str:
    return rf"$\pi_{{{number}}}$" + f" ({count}×)" * (count > 1)


def _loss(curves: Curves) -> Sketch:
    # Losses are differences of numbers of the first one's size: below, only rounding is left.
    seen = np.where(curves.loss > _NOISE * curves.loss[0], curves.loss, np.nan)
    return loss_sketch([loss_curve("theory (reduction)", "theory", curves.times, seen)])
