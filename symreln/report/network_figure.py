"""The figure of a network of nodes and edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from symreln.report.drawing import FONT_SIZE, new_axes, plain, styled
from symreln.report.looks import FAINT, GROUND, INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symreln.networks.gdln import Network
    from symreln.networks.parts import Edge, Node

#: Samples up to which a gate is drawn sample by sample.
_MOST_SAMPLES = 64
#: Sizes in units of the axes: one column is COLUMN wide, one row 1 high.
COLUMN, WIDTH, HEIGHT, STRIP = 2.4, 1.3, 0.5, 0.1


def _node_columns(graph: Network) -> dict[str, int]:
    """Return how many edges lie at most before every node; outputs stand in the last column."""
    columns = {node.name: 0 for node in graph.nodes}
    for _ in graph.nodes:
        for edge in graph.edges:
            columns[edge.target] = max(columns[edge.target], columns[edge.source] + 1)
    return {n.name: graph.depth if n.outputs else columns[n.name] for n in graph.nodes}


@styled
def draw_network(network: Network, uses: Sequence[int]) -> Axes:
    """Draw nodes and edges, inputs on the left, outputs on the right, gates below their nodes.

    Nodes of one column stand below each other in the order given.

    Args:
        network: What is drawn.
        uses: How many pathways use each edge.
    """
    columns = _node_columns(network)
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
        arrow.set_color(PALETTE[0] if uses[place] else FAINT)
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
    label = plain(node.name, 14)
    ax.text(x, y, label, ha="center", va="center", fontsize=size, color=INK, zorder=4)
    if node.gate is None:
        return
    left, low = x - WIDTH / 2, y - HEIGHT / 2 - STRIP - 0.05
    opened = [(gain != 0) + (gain == 1) for gain in node.gate]
    step = -(-len(opened) // _MOST_SAMPLES)
    # A cell of several samples is open where one of them is.
    cells = [max(opened[k : k + step]) for k in range(0, len(opened), step)]
    wide = WIDTH / len(cells)
    for k, cell in enumerate(cells):
        style = {"facecolor": (GROUND, FAINT, INK)[cell], "linewidth": 0, "zorder": 3}
        ax.add_patch(Rectangle((left + k * wide, low), wide, STRIP, **style))
    frame = Rectangle((left, low), WIDTH, STRIP, fill=False, edgecolor=INK, linewidth=0.4, zorder=4)
    ax.add_patch(frame)


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
