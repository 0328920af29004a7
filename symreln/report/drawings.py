"""The figures of a derivation, with those of its confrontation where there is one.

The figures of a network of nodes and edges: itself, its strengths and its loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from symreln.claims.derivation import Derivation, Derived, of_pathways
from symreln.claims.network.derivation import NetworkDerivation
from symreln.claims.network.described import described
from symreln.claims.network.in_numbers import in_numbers
from symreln.claims.prediction import closed_forms, predict
from symreln.claims.solve import at_values
from symreln.errors import InputError, NotSupportedError
from symreln.laws.integrate import DRAWN
from symreln.report.drawing import FONT_SIZE, Sketch, draw_all, new_axes, plain, styled
from symreln.report.figures import LossCurve, PathwayModes
from symreln.report.looks import FAINT, GROUND, INK, PALETTE
from symreln.report.plots import (
    MOST_CURVES,
    SAME,
    derivation_sketches,
    drawn_times,
    loss_sketch,
    modes_sketch,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symreln.claims.curves import Prediction
    from symreln.claims.network.in_numbers import Curves
    from symreln.document.model import Drawing
    from symreln.experiment.outcome import Validation
    from symreln.experiment.strengths import ModeMeasured
    from symreln.networks.model import Network
    from symreln.networks.parts import Edge, Gain, Node


def derivation_drawings(
    derivation: Derived, validation: Validation | None, *, pdf: bool
) -> tuple[Drawing, ...]:
    """Draw a derivation, and its confrontation where there is one.

    Args:
        derivation: What was derived.
        validation: What training showed, or None.
        pdf: Whether LaTeX is to include them.
    """
    if isinstance(derivation, NetworkDerivation):
        sketches = network_sketches(derivation)
        if validation is not None:  # its losses stand in the place of the prediction alone
            sketches = [each for each in sketches if each.name != "loss"]
    else:
        derivation = of_pathways(derivation)
        sketches = derivation_sketches(
            derivation, _prediction(derivation, validation), _measured(validation)
        )
    drawn = draw_all(sketches, pdf=pdf)
    if validation is None:
        return drawn
    # Here, because it brings everything that trains networks.
    from symreln.report.validation_plots import validation_drawings

    return (*drawn, *validation_drawings(validation, pdf=pdf))


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
#: Samples up to which a gate is drawn sample by sample.
MOST_SAMPLES = 64
#: Sizes in units of the axes: one column is COLUMN wide, one row 1 high.
COLUMN, WIDTH, HEIGHT, STRIP = 2.4, 1.3, 0.5, 0.1


def network_sketches(derivation: NetworkDerivation) -> list[Sketch]:
    """Sketch the graph and, where there are numbers, strengths and loss."""
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
    shown = {
        "network": derivation.graph,
        "uses": [count for _, count in derivation.ask(described).edges],
        "parts": {e: n for n, c in enumerate(derivation.components) for e in c.edges},
    }
    return Sketch(name="graph", draws=draw_network, shown=shown)


def node_columns(graph: Network) -> dict[str, int]:
    """Return how many edges lie at most before every node; outputs stand in the last column."""
    columns = {node.name: 0 for node in graph.nodes}
    for _ in graph.nodes:
        for edge in graph.edges:
            columns[edge.target] = max(columns[edge.target], columns[edge.source] + 1)
    return {n.name: graph.depth if n.outputs else columns[n.name] for n in graph.nodes}


@styled
def draw_network(network: Network, uses: Sequence[int], parts: Mapping[int, int]) -> Axes:
    """Draw nodes and edges, inputs on the left, outputs on the right, gates below their nodes.

    Nodes of one column stand below each other in the order given.

    Args:
        network: What is drawn.
        uses: How many pathways use each edge.
        parts: By the place of an edge, the part of the network that it learns with; none where no
            pathway uses it.
    """
    columns = node_columns(network)
    rows = Counter(columns.values())
    most = max(rows.values())
    (ax,) = new_axes(min(7.5, 0.9 + 0.42 * most))
    seen: Counter[int] = Counter()
    places: dict[str, tuple[float, float]] = {}
    for name, column in columns.items():
        y = most - most / rows[column] * (seen[column] + 0.5)
        seen[column] += 1
        places[name] = COLUMN * column, y
    parallel = Counter((edge.source, edge.target) for edge in network.edges)
    drawn: Counter[tuple[str, str]] = Counter()
    for place, edge in enumerate(network.edges):
        ends = edge.source, edge.target
        bend = 0.22 * (drawn[ends] - (parallel[ends] - 1) / 2)
        if columns[edge.target] - columns[edge.source] > 1:
            # Around what lies between, on the side that is nearer to the edge of the figure.
            high = places[edge.source][1] + places[edge.target][1] >= most
            bend += -0.4 if high else 0.4
        drawn[ends] += 1
        arrow = _arrow(edge, uses[place], places[edge.source], places[edge.target], bend)
        arrow.set_color(PALETTE[parts[place] % len(PALETTE)] if place in parts else FAINT)
        ax.add_patch(arrow)
    for node in network.nodes:
        _node(ax, node, places[node.name])
    right = COLUMN * max(columns.values())
    ax.set_xlim(-WIDTH, right + WIDTH)
    ax.set_ylim(-0.3, most + 0.3)
    ax.axis("off")
    return ax


def _node(ax: Axes, node: Node, place: tuple[float, float]) -> None:
    x, y = place
    box = FancyBboxPatch(
        (x - WIDTH / 2, y - HEIGHT / 2),
        WIDTH,
        HEIGHT,
        boxstyle="round,pad=0.02,rounding_size=0.1",
        facecolor=GROUND,
        edgecolor=INK,
        linewidth=0.7,
        zorder=3,
    )
    ax.add_patch(box)
    size = FONT_SIZE - (1.5 if len(node.name) > 9 else 0.5)
    label = plain(node.name if len(node.name) <= 14 else node.name[:13] + "…")
    ax.text(x, y, label, ha="center", va="center", fontsize=size, color=INK, zorder=4)
    if node.gate is None:
        return
    left, low = x - WIDTH / 2, y - HEIGHT / 2 - STRIP - 0.05
    letters = "".join(map(_letter, node.gate))
    if len(letters) > MOST_SAMPLES:  # a cell of several samples is open where one of them is
        step = -(-len(letters) // MOST_SAMPLES)
        cells = (letters[k : k + step] for k in range(0, len(letters), step))
        letters = "".join("1" if "1" in c else "g" if "g" in c else "0" for c in cells)
    wide = WIDTH / len(letters)
    shades = {"0": GROUND, "g": FAINT, "1": INK}
    for k, letter in enumerate(letters):
        cell = Rectangle(
            (left + k * wide, low), wide, STRIP, facecolor=shades[letter], linewidth=0, zorder=3
        )
        ax.add_patch(cell)
    frame = Rectangle((left, low), WIDTH, STRIP, fill=False, edgecolor=INK, linewidth=0.4, zorder=4)
    ax.add_patch(frame)


def _letter(gain: Gain) -> str:
    return "0" if gain == 0 else "1" if gain == 1 else "g"


def _arrow(
    edge: Edge, uses: int, start: tuple[float, float], end: tuple[float, float], bend: float
) -> FancyArrowPatch:
    return FancyArrowPatch(
        (start[0] + WIDTH / 2 + 0.03, start[1]),
        (end[0] - WIDTH / 2 - 0.03, end[1]),
        connectionstyle=f"arc3,rad={bend:.3f}",
        arrowstyle="-|>",
        mutation_scale=7,
        shrinkA=0,
        shrinkB=0,
        linewidth=0.7 + 0.5 * max(uses - 1, 0) ** 0.5,
        linestyle=(0, (4, 2)) if edge.gate is not None else "-",
        zorder=2,
    )


def _modes(curves: Curves) -> Sketch:
    return modes_sketch(
        [
            PathwayModes(
                label=item.label,
                times=curves.times,
                strengths=item.values[:MOST_CURVES],
                plateaus=item.plateaus[:MOST_CURVES],
                symbols=_symbols(item.values[:MOST_CURVES]),
            )
            for item in curves.strengths[:MOST_GROUPS]
        ]
    )


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
    return loss_sketch(
        [LossCurve(label="theory (reduction)", role="theory", times=curves.times, loss=seen)]
    )
