"""A gated graph as a figure: inputs on the left, outputs on the right, gates below their nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from symreln.report.drawing import FONT_SIZE, INK, PALETTE, new_axes, plain, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILL = {"input": "#e8f1f8", "hidden": "#f4f4f4", "output": "#fdeee3"}
#: Samples up to which a gate is drawn sample by sample.
MOST_SAMPLES = 64
#: Sizes in units of the axes: one column is COLUMN wide, one row 1 high.
COLUMN, WIDTH, HEIGHT, STRIP = 2.4, 1.3, 0.5, 0.1


@dataclass(frozen=True, kw_only=True)
class NodeMark:
    """A node as it is drawn.

    Attributes:
        label: Its name.
        kind: "input", "hidden" or "output".
        column: How many edges lie at most before it.
        gate: A letter a sample, "0", "g" or "1"; empty where it is always open.
    """

    label: str
    kind: str
    column: int
    gate: str = ""


@dataclass(frozen=True, kw_only=True)
class EdgeMark:
    """An edge as it is drawn.

    Attributes:
        source: Place of the node that it reads.
        target: Place of the node that it writes.
        uses: How many pathways use it.
        gated: Whether it has a gate of its own.
        part: The part of the graph that it learns with, -1 where no pathway uses it.
    """

    source: int
    target: int
    uses: int
    gated: bool
    part: int


@styled
def graph_figure(nodes: Sequence[NodeMark], edges: Sequence[EdgeMark]) -> Axes:
    """Draw a graph; nodes of one column stand below each other in the order given."""
    rows = Counter(node.column for node in nodes)
    most = max(rows.values())
    (ax,) = new_axes(min(7.5, 0.9 + 0.42 * most))
    seen: Counter[int] = Counter()
    places: list[tuple[float, float]] = []
    for node in nodes:
        gap = most / rows[node.column]
        y = most - gap * (seen[node.column] + 0.5)
        seen[node.column] += 1
        places.append((COLUMN * node.column, y))
    parallel = Counter((edge.source, edge.target) for edge in edges)
    drawn: Counter[tuple[int, int]] = Counter()
    for edge in edges:
        ends = edge.source, edge.target
        bend = 0.22 * (drawn[ends] - (parallel[ends] - 1) / 2)
        if nodes[edge.target].column - nodes[edge.source].column > 1:
            # Around what lies between, on the side that is nearer to the edge of the figure.
            high = places[edge.source][1] + places[edge.target][1] >= most
            bend += -0.4 if high else 0.4
        drawn[ends] += 1
        _edge(ax, edge, places[edge.source], places[edge.target], bend)
    for node, place in zip(nodes, places, strict=True):
        _node(ax, node, place)
    right = COLUMN * max(node.column for node in nodes)
    ax.set_xlim(-WIDTH, right + WIDTH)
    ax.set_ylim(-0.3, most + 0.3)
    ax.axis("off")
    return ax


def _node(ax: Axes, node: NodeMark, place: tuple[float, float]) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    x, y = place
    box = FancyBboxPatch(
        (x - WIDTH / 2, y - HEIGHT / 2),
        WIDTH,
        HEIGHT,
        boxstyle="round,pad=0.02,rounding_size=0.1",
        facecolor=FILL[node.kind],
        edgecolor=INK,
        linewidth=0.7,
        zorder=3,
    )
    ax.add_patch(box)
    size = FONT_SIZE - (1.5 if len(node.label) > 9 else 0.5)
    label = plain(node.label if len(node.label) <= 14 else node.label[:13] + "…")
    ax.text(x, y, label, ha="center", va="center", fontsize=size, color=INK, zorder=4)
    if not node.gate:
        return
    left, low = x - WIDTH / 2, y - HEIGHT / 2 - STRIP - 0.05
    letters = node.gate
    if len(letters) > MOST_SAMPLES:  # a cell of several samples is open where one of them is
        step = -(-len(letters) // MOST_SAMPLES)
        cells = (letters[k : k + step] for k in range(0, len(letters), step))
        letters = "".join("1" if "1" in c else "g" if "g" in c else "0" for c in cells)
    wide = WIDTH / len(letters)
    shades = {"0": "white", "g": "#9a9a9a", "1": INK}
    for k, letter in enumerate(letters):
        cell = Rectangle(
            (left + k * wide, low), wide, STRIP, facecolor=shades[letter], linewidth=0, zorder=3
        )
        ax.add_patch(cell)
    frame = Rectangle((left, low), WIDTH, STRIP, fill=False, edgecolor=INK, linewidth=0.4, zorder=4)
    ax.add_patch(frame)


def _edge(
    ax: Axes, edge: EdgeMark, start: tuple[float, float], end: tuple[float, float], bend: float
) -> None:
    from matplotlib.patches import FancyArrowPatch

    arrow = FancyArrowPatch(
        (start[0] + WIDTH / 2 + 0.03, start[1]),
        (end[0] - WIDTH / 2 - 0.03, end[1]),
        connectionstyle=f"arc3,rad={bend:.3f}",
        arrowstyle="-|>",
        mutation_scale=7,
        shrinkA=0,
        shrinkB=0,
        linewidth=0.7 + 0.5 * max(edge.uses - 1, 0) ** 0.5,
        linestyle=(0, (4, 2)) if edge.gated else "-",
        color=PALETTE[edge.part % len(PALETTE)] if edge.part >= 0 else "#bbbbbb",
        zorder=2,
    )
    ax.add_patch(arrow)
