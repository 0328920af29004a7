"""What figures show, as plain arrays and labels, before Matplotlib is imported to draw them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from symreln.base.beside import hand_over
from symreln.base.progress import phase
from symreln.base.records import record

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from symreln.document.model import Drawing
    from symreln.report.looks import Role


@record(eq=False)
class MeasuredModes:
    """Strengths of one pathway's modes in trained networks.

    Attributes:
        label: What was trained.
        role: The same for its look: "gdln" or "relu".
        steps: Shape (K,).
        strengths: Shape (R, K): mean over seeds, one row a mode; NaN where none is known.
    """

    label: str
    role: Role
    steps: NDArray[np.float64]
    strengths: NDArray[np.float64]


@record(eq=False)
class PathwayModes:
    r"""Mode strengths of one pathway over time.

    Attributes:
        label: Name of the pathway.
        times: Shape (T,), in the unit of the axis label.
        strengths: Shape (R, T): one row a mode; NaN where it is not drawn.
        plateaus: Shape (R,): height that each mode grows to; NaN where it has none.
        symbols: Name of every mode that is written beside its curve, its mathematics in dollars;
            none where curves have no names.
        number: Of the pathway, as it stands in the symbols: "p = 2"; empty where it has none.
        measured: The same strengths in trained networks.
    """

    label: str
    times: NDArray[np.float64]
    strengths: NDArray[np.float64]
    plateaus: NDArray[np.float64] | None = None
    symbols: tuple[str, ...] = ()
    number: str = ""
    measured: tuple[MeasuredModes, ...] = ()


@record(eq=False)
class LossCurve:
    """A loss over time, with the spread between seeds where there is one.

    Attributes:
        label: What the curve is: "theory", "ReLU network".
        role: The same for its look.
        times: Shape (T,).
        loss: Shape (T,): for a network, the mean over seeds.
        low: Shape (T,): lower edge of the band.
        high: Shape (T,): upper edge of the band.
        drop_time: When the loss first falls below 0.9 of its start; marked where given.
    """

    label: str
    role: Role
    times: NDArray[np.float64]
    loss: NDArray[np.float64]
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    drop_time: float | None = None


@record(eq=False)
class GateShare:
    """A class of gates and what it carries over time.

    Attributes:
        label: Name of the class.
        gate: One of its gates: "0" or "1" a sample.
        shares: Share of the units' weight, shape (T,).
    """

    label: str
    gate: str
    shares: NDArray[np.float64]


@record(eq=False)
class Vectors:
    """The singular vectors of a pathway, or of some side by side.

    Attributes:
        label: What the panels are called.
        v: Shape (inputs, modes).
        u: Shape (outputs, modes).
        names: Of the inputs, and of the outputs.
        widths: How many columns each mode has, by its name.
    """

    label: str
    v: NDArray[np.float64]
    u: NDArray[np.float64]
    names: tuple[list[str], list[str]]
    widths: dict[str, int]


@record(eq=False)
class Sketch:
    """A figure before it is drawn.

    Attributes:
        name: Of its files, without extension.
        function: Draws it; returns its axes, or the first of several.
        shown: What it shows: the arguments of the function.
    """

    name: str
    function: str
    shown: Mapping[str, Any]

    @property
    def draws(self) -> Callable[..., Axes | tuple[Axes, ...]]:
        """The function that draws it."""
        module, _, name = self.function.rpartition(".")
        return getattr(import_module(f"symreln.report.{module}"), name)

    @phase("figures")
    def draw(self, *, pdf: bool = True) -> Drawing:
        """Return the figure as files, with a PDF for LaTeX, which takes as long as all the rest."""
        from symreln.report.drawing import drawing

        axes = self.draws(**self.shown)
        return drawing(self.name, axes[0] if isinstance(axes, tuple) else axes, pdf=pdf)


def begin_to_draw(sketches: Iterable[Sketch], *, pdf: bool) -> Callable[[], tuple[Drawing, ...]]:
    """Have figures drawn; return what returns them when they are."""
    drawn = [hand_over(Sketch.draw, sketch, pdf=pdf) for sketch in sketches]
    return lambda: tuple(each() for each in drawn)
