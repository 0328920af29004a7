"""What figures show, as plain arrays and labels, before Matplotlib is imported to draw them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from symreln.base.beside import hand_over
from symreln.base.progress import phase
from symreln.base.records import record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from symreln.document.document_model import Drawing


@record(eq=False)
class Curve:
    """A line or single marks, with the spread around them.

    Attributes:
        x: Shape (T,).
        y: Shape (T,); NaN where nothing is drawn.
        style: How Matplotlib's ``plot`` draws it.
        label: In the legend; empty where it is not there.
        note: Mathematics in brackets behind the label, without dollars.
        name: Written beside the curve where there is room, its mathematics in dollars.
        low: Shape (T,): lower edge of the spread.
        high: Shape (T,): upper edge of the spread.
        spread: How that is drawn.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    style: Mapping[str, Any]
    label: str = ""
    note: str = ""
    name: str = ""
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    spread: Literal["area", "edges", "bars"] = "area"


@record(eq=False)
class Cells:
    """A matrix as coloured cells, row 0 at the top.

    Attributes:
        values: Shape (rows, columns); of gates 0, 1/2 for a gain, and 1.
        rows: Name of each row; none where rows have no names.
        columns: Name and width of each run of columns.
        gates: Whether they are gates, else numbers of both signs.
        scale: Largest number; by default that of the values.
    """

    values: NDArray[np.float64]
    rows: tuple[str, ...] = ()
    columns: tuple[tuple[str, int], ...] = ()
    gates: bool = False
    scale: float | None = None


@record(eq=False)
class Panel:
    """One pair of axes.

    Attributes:
        x: Name of the horizontal axis, its mathematics in dollars.
        y: Name of the vertical axis.
        title: Above it, its mathematics in dollars.
        of: Behind the title: a text of users.
        curves: What is drawn, the first at the bottom.
        cells: A matrix below the curves.
        log: Axes that are logarithmic: "x", "y", or none.
        top: Where the vertical axis ends.
    """

    x: str = ""
    y: str = ""
    title: str = ""
    of: str = ""
    curves: tuple[Curve, ...] = ()
    cells: Cells | None = None
    log: str = ""
    top: float | None = None


@record(eq=False)
class Sketch:
    """A figure before it is drawn.

    Attributes:
        name: Of its files, without extension.
        shown: What it shows: the arguments of the function.
        function: Draws it; returns its axes.
    """

    name: str
    shown: Mapping[str, Any]
    function: str = "figures.draw_panels"

    @classmethod
    def of(cls, name: str, *panels: Panel, height: float, columns: int = 3) -> Sketch:
        """Return the sketch of panels side by side.

        Args:
            name: Of its files.
            panels: The legend is that of the first.
            height: Inches, without the legend.
            columns: Of the legend.
        """
        return cls(name=name, shown={"panels": panels, "height": height, "columns": columns})

    @phase("figures")
    def draw(self, *, pdf: bool = True) -> Drawing:
        """Return the figure as files, with a PDF for LaTeX, which takes as long as all the rest."""
        from symreln.report.drawing import drawing

        module, _, name = self.function.rpartition(".")
        draws = getattr(import_module(f"symreln.report.{module}"), name)
        return drawing(self.name, draws(**self.shown), pdf=pdf)


def begin_to_draw(sketches: Iterable[Sketch], *, pdf: bool) -> Figures:
    """Have figures drawn; return their names, and what returns them when they are drawn."""
    drawn = {sketch.name: hand_over(Sketch.draw, sketch, pdf=pdf) for sketch in sketches}
    return [*drawn], lambda: tuple(each() for each in drawn.values())


#: Names of figures, and what returns these when they are drawn.
Figures = tuple[list[str], Callable[[], tuple["Drawing", ...]]]
