"""Figures as files: the frame that all of them share, and bytes that are the same every time.

Places of axes and legends are found here: matplotlib's constrained layout measures every word more
often, which is most of the time that a small figure takes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from symreln.document.document_model import Drawing
from symreln.document.escape import clean, typographic
from symreln.report.looks import INK
from symreln.specs.finding import cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEXT_WIDTH = 6.1  # inches: the text width of the LaTeX page
LABEL_LENGTH = 32  # letters
_FEW_POWERS = 1e3  # a ratio: within less an axis names numbers between the powers of ten
FONT_SIZE = 8.5  # points; the figures are not scaled, so this is what is printed
_FONTS = ["STIXGeneral", "DejaVu Sans"]  # both come with matplotlib: the same glyphs everywhere
_STYLE: dict[Any, Any] = {
    "font.family": _FONTS,
    "mathtext.fontset": "stix",
    "text.usetex": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "symreln",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,  # by which matplotlib 3.11 sizes the subsets of fonts in a PDF too
    "pdf.compression": 6,
    "axes.titley": 1.0,  # no ticks stand above axes, and looking for them takes as long as drawing
}


def new_axes(height: float, columns: int = 1) -> list[Axes]:
    """Return the axes of a new figure, in one row, without touching pyplot.

    Args:
        height: Inches.
        columns: How many axes.
    """
    options: dict[str, Any] = {"layout": "constrained", "dpi": 72, "facecolor": "none"}
    figure = Figure(figsize=(TEXT_WIDTH, height), **options)
    grid = figure.add_gridspec(1, columns)
    return [figure.add_subplot(grid[0, k], facecolor="none") for k in range(columns)]


def dress(ax: Axes, *, x: str = "", y: str = "", title: str = "") -> None:
    """Give ``ax`` the common look: names, small ticks, no box above and to the right."""
    # Axes that are given have texts of the user's fonts already.
    fonts: dict[str, Any] = {"fontfamily": _FONTS, "math_fontfamily": "stix"}
    ax.set_xlabel(x, fontsize=FONT_SIZE, **fonts)
    ax.set_ylabel(y, fontsize=FONT_SIZE, **fonts)
    ax.set_title(title, fontsize=FONT_SIZE, loc="left", color=INK)
    ax.tick_params(labelsize=FONT_SIZE - 1, colors=INK, length=3, width=0.6, labelfontfamily=_FONTS)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set(color=INK, linewidth=0.6)


def log_scale(ax: Axes, *, of: Literal["x", "y"] = "y") -> None:
    """Make an axis logarithmic; within few powers of ten it names numbers in between."""
    ax.set(**{f"{of}scale": "log"})
    axis = ax.xaxis if of == "x" else ax.yaxis
    low, high = sorted(axis.get_view_interval())
    if high < _FEW_POWERS * low:
        between = (1, 2, 5) if high > 10 * low else (1, 1.5, 2, 3, 4, 6)
        axis.set_major_locator(LogLocator(subs=between))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def plain(label: str, longest: int = LABEL_LENGTH) -> str:
    """Return a user's label so that matplotlib prints it rather than reading it as mathematics.

    A character that the fonts lack becomes its code point, as in LaTeX; a label too long to leave
    room for the data is cut, with a mark.
    """
    known = _known_characters()
    shown = "".join(
        c if ord(c) in known else f"[U+{ord(c):04X}]" for c in typographic(clean(label))
    )
    return cut(shown, longest).replace("$", r"\$")


@cache
def _known_characters() -> frozenset[int]:
    files = [findfont(FontProperties(family=[family])) for family in _FONTS]
    return frozenset(code for file in files for code in get_font(file).get_charmap())


@contextmanager
def _style() -> Iterator[None]:
    """Set the common style, whatever the user's own settings, and put those back.

    No other setting: the first figure of a notebook chooses pyplot's backend and how it shows.
    """
    own = {name: mpl.rcParams[name] for name in _STYLE}
    mpl.rcParams.update(_STYLE)
    try:
        yield
    finally:
        mpl.rcParams.update(own)


#: Runs what draws under the common style.
styled = _style()


def legend_below(ax: Axes, *, columns: int = 3) -> None:
    """Put a legend of what ``ax`` shows below the axes of its figure.

    It has fewer columns where labels are too long for as many.
    """
    handles, labels = ax.get_legend_handles_labels()
    figure = ax.figure.figure
    where = "lower left" if figure.get_layout_engine() is None else "outside lower left"
    for count in range(columns, 0, -1):
        legend = figure.legend(
            handles, labels, loc=where, ncols=count, fontsize=FONT_SIZE - 1, frameon=False
        )
        if count == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def drawing(name: str, ax: Axes, *, pdf: bool = True) -> Drawing:
    """Return the figure that ``ax`` belongs to as files.

    The figure keeps the places that its layout gives it here.

    Args:
        name: File name without extension.
        ax: Any axes of the figure.
        pdf: Whether to make the PDF that LaTeX includes.
    """
    figure = ax.figure.figure
    # A context, because the SVG and PDF writers read these from rcParams alone.
    with _style():
        if figure.get_layout_engine() is not None:
            _arrange(figure)
        return Drawing(name=name, svg=_svg(figure), pdf=_pdf(figure) if pdf else b"")


# The canvases' own writers, because savefig draws every figure twice to lay it out.


def _svg(figure: Figure) -> str:
    stream = io.BytesIO()
    FigureCanvasSVG(figure).print_svg(stream, metadata={"Date": None, "Creator": None})
    return stream.getvalue().decode()


def _pdf(figure: Figure) -> bytes:
    # Here, because it brings all of fontTools: a sixth of a second.
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    stream = io.BytesIO()
    FigureCanvasPdf(figure).print_pdf(stream, metadata={"CreationDate": None, "Creator": None})
    return stream.getvalue()


_PAD = 4.0  # points between what belongs to different axes, and at the figure's edge
_LEAST = 0.1  # share of the figure that axes keep, however long their labels are


def _arrange(figure: Figure) -> None:
    """Give the axes of ``figure``, one row, the room that their labels and the legend leave.

    A figure that was arranged once does not change.

    Args:
        figure: Its axes share one grid of one row; a legend stands below.
    """
    figure.set_layout_engine("none")
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [box.get_window_extent(renderer) for box in figure.legends]
    floor = max((box.height for box in boxes), default=0.0)
    before = _numbers(figure)
    _place(figure, renderer, floor)
    if _numbers(figure) != before:  # axes of another size may have other, longer numbers
        _place(figure, renderer, floor)


def _numbers(figure: Figure) -> list[str]:
    return [text.get_text() for ax in figure.axes for text in ax.get_yticklabels()]


def _place(figure: Figure, renderer: object, floor: float) -> None:
    """Place the axes by the labels that they have where they stand now.

    Args:
        figure: Its axes share one grid of one row.
        renderer: Measures words.
        floor: Pixels to leave below.
    """
    axes = figure.axes
    width, height = figure.bbox.width, figure.bbox.height
    around = np.array([_overhangs(ax, renderer) for ax in axes]) + _PAD * figure.dpi / 72
    left, bottom, right, top = around.T
    room = max(width - float((left + right).sum()), _LEAST * width)
    wide = room / len(axes)
    below = float(bottom.max()) + floor
    tall = max(height - below - float(top.max()), _LEAST * height)
    start = 0.0
    for ax, before, after in zip(axes, left, right, strict=True):
        start += before
        ax.set_position((start / width, below / height, wide / width, tall / height))
        start += wide + after


def _overhangs(ax: Axes, renderer: object) -> tuple[float, ...]:
    """Return how far labels, ticks and insets reach out: left, below, right, above, in pixels."""
    inner = ax.get_window_extent()
    outer = ax.get_tightbbox(renderer) or inner  # pyright: ignore[reportArgumentType]
    reach = (inner.x0 - outer.x0, inner.y0 - outer.y0, outer.x1 - inner.x1, outer.y1 - inner.y1)
    return tuple(max(0.0, float(side)) for side in reach)
