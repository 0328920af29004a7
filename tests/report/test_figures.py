"""Figures: what they show, and files that are the same every time."""

import io
import itertools
import re
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import symreln as sr
from symreln.report.drawing import drawing
from symreln.report.figures import draw_panels
from symreln.report.looks import CLOSED, FAINT, GAIN, GROUND, INK, OPEN, PALETTE, line_style, look
from symreln.report.plots import loss_curve
from symreln.report.sketch import Cells, Curve, Panel, Sketch
from symreln.report.validation_plots import loss_sketch
from tests.cases import derived
from tests.report.corpus import HOSTILE

TIMES = np.linspace(0.0, 8.0, 300)
LOSS = np.exp(-TIMES) + 0.02
RISING = np.array(
    [1.4 / (1 + np.exp(8 - 4 * TIMES)), 1.4 / (1 + np.exp(20 - 4 * TIMES)), TIMES / 9]
)


def modes():
    names = ("$a$", "$b$ (2×)", "$c$")
    curves = [
        Curve(x=TIMES, y=row, style=line_style(0), name=name, label="common" * (name == "$a$"))
        for row, name in zip(RISING, names, strict=True)
    ]
    curves.append(Curve(x=TIMES[::70], y=RISING[0, ::70], style=look("relu"), label="measured"))
    return Sketch.of("modes", Panel(x="time", y="strength", curves=tuple(curves)), height=2.2)


def losses():
    curves = [
        loss_curve("ReLU", "relu", TIMES, LOSS, np.array([LOSS * 0.9, LOSS * 1.1])),
        loss_curve("GDLN", "gdln", TIMES, LOSS, np.array([LOSS - 0.01, LOSS + 0.01])),
        loss_curve("theory", "theory", TIMES, LOSS * 1.01),
        loss_curve("wide", "effective", TIMES, LOSS + 0.2),
    ]
    return loss_sketch(curves, [(1.5, "theory"), (1.6, "relu"), (4.0, "effective")])


def gate_cells(values, names, groups):
    return Cells(values=values, rows=tuple(names), columns=tuple(groups), gates=True)


def gates(names=("common", "off_1"), groups=(("one", 2), ("two", 4))):
    values = np.array([[1, 1, 1, 1, 1, 1], [0, 0.5, 1, 1, 0, 1]])
    return Sketch.of("gates", Panel(x="samples", cells=gate_cells(values, names, groups)), height=1)


def vectors():
    values = np.array([[1.0, 0.0, 0.5], [0.0, -1.0, 0.5]])
    cells = Cells(values=values, rows=("wings", "fins"), columns=(("1", 1), ("2", 2)))
    return Sketch.of("vectors", Panel(title="$V$", of="common", cells=cells), height=2.4)


SKETCHES = {each().name: each for each in (modes, losses, gates, vectors)}


def axes_of(sketch):
    return draw_panels(**sketch.shown).figure.axes


def legend(ax):
    return [text.get_text() for text in ax.figure.legends[0].get_texts()]


@pytest.mark.parametrize("name", SKETCHES)
def test_files_are_the_same_every_time_small_and_in_known_colours(name):
    """A page in the dark exchanges colours by name."""
    first, second = (SKETCHES[name]().draw() for _ in range(2))
    assert first == second
    assert first.pdf.startswith(b"%PDF")
    assert b"CreationDate" not in first.pdf
    ElementTree.parse(io.StringIO(first.svg))
    assert "<dc:date>" not in first.svg
    assert "<text" not in first.svg  # words are outlines: no font is needed to show them
    assert len(first.svg) < 150_000
    known = {each.lower() for each in (INK, FAINT, GROUND, CLOSED, GAIN, OPEN, *PALETTE)}
    # Axes' text in matplotlib's black has no colour of its own in the SVG.
    assert set(re.findall(r"#[0-9a-f]{6}\b", first.svg)) <= known | {"#000000"}


@pytest.mark.parametrize("name", SKETCHES)
def test_nothing_is_cut_off_and_nothing_overlaps(name):
    ax = axes_of(SKETCHES[name]())[0]
    drawing(name, ax)
    assert ax.patch.get_visible()
    figure = ax.figure
    renderer = FigureCanvasAgg(figure).get_renderer()
    boxes = [one.get_tightbbox(renderer) for one in figure.axes]
    boxes += [box.get_window_extent(renderer) for box in figure.legends]
    for box in boxes:
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1 + 1
        assert figure.bbox.y0 <= box.y0
        assert box.y1 <= figure.bbox.y1
    for box, following in itertools.combinations(boxes, 2):
        across = min(box.x1, following.x1) - max(box.x0, following.x0)
        up = min(box.y1, following.y1) - max(box.y0, following.y0)
        assert min(across, up) <= 1


def test_settings_of_the_user_are_left_alone_and_not_followed():
    import matplotlib.pyplot as plt

    before, open_ = dict(mpl.rcParams), plt.get_fignums()
    quiet = modes().draw().svg
    assert dict(mpl.rcParams) == before
    with mpl.rc_context({"text.usetex": True, "font.size": 40, "svg.fonttype": "none"}):
        assert modes().draw().svg == quiet
    assert plt.get_fignums() == open_


def test_axes_of_a_user_get_the_data_of_evaluate_and_nothing_else_changes(tmp_path):
    """On pyplot's axes: legends inside, the figure's other axes and settings as they were."""
    import matplotlib.pyplot as plt

    derivation = derived("xor")
    predicted = derivation.evaluate(range(0, 2001))
    before = dict(mpl.rcParams)
    figure, (left, right) = plt.subplots(1, 2)
    try:
        assert derivation.plot(left) is left
        (curve,) = (line for line in left.lines if len(line.get_xdata()) > 100)  # four are equal
        steps = curve.get_xdata().astype(int)
        np.testing.assert_allclose(curve.get_ydata(), predicted.modes[0].best[steps], rtol=1e-6)
        assert figure.legends == []
        assert not right.has_data()
        assert dict(mpl.rcParams) == before
        figure.savefig(tmp_path / "f.png")
    finally:
        plt.close(figure)


def test_curves_have_names_at_their_ends_those_with_one_end_together():
    (ax,) = axes_of(modes())
    assert legend(ax) == ["common", "measured"]
    drawing("modes", ax)
    renderer = FigureCanvasAgg(ax.figure).get_renderer()
    boxes = {text.get_text(): text.get_window_extent(renderer) for text in ax.texts}
    assert boxes.keys() == {"$c$", "$b$ (2×), $a$"}
    assert all(box.x0 > ax.get_window_extent().x1 for box in boxes.values())
    end = ax.transData.transform((8, 8 / 9))[1]
    assert abs((boxes["$c$"].y0 + boxes["$c$"].y1) / 2 - end) < 2


def test_gates_and_vectors_are_drawn_cell_by_cell():
    (ax,) = axes_of(gates())
    shown = [
        (shape.get_x(), shape.get_width(), mpl.colors.to_hex(shape.get_facecolor()))
        for shape in ax.patches
        if shape.get_y() == 1
    ]
    known = [(0, 1, CLOSED), (1, 1, GAIN), (2, 2, OPEN), (4, 1, CLOSED), (5, 1, OPEN)]
    assert shown == known
    assert [text.get_text() for text in ax.get_yticklabels()] == ["common", "off_1"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["one", "two"]
    (ax,) = axes_of(vectors())
    assert ax.get_xticks().tolist() == [0.5, 2.0]
    assert [line.get_xdata()[0] for line in ax.lines] == [1.0]
    assert ax.get_title(loc="left") == "$V$, common"


def test_many_gates_share_a_bounded_height_and_stay_a_small_file():
    noise = (np.random.default_rng(0).random((70, 2048)) < 0.5).astype(float)
    cells = gate_cells(noise, [f"p{k}" for k in range(70)], ())
    sketch = Sketch.of("gates", Panel(cells=cells), height=3.95)
    (ax,) = axes_of(sketch)
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    assert labels == [f"p{k}" for k in range(0, 70, 3)]
    figure = sketch.draw()
    assert len(figure.svg) < 150_000


@pytest.mark.parametrize("label", HOSTILE)
def test_any_label_is_drawn_as_words(label):
    """No mathematics is read into a label, and no glyph is missing (a warning is an error here)."""
    sketch = gates([label[:40], "b"], [(label[:20], 2), ("$x^2$", 4)])
    ElementTree.parse(io.StringIO(sketch.draw(pdf=False).svg))


def test_the_edges_of_a_graph_are_a_figure(tmp_path):
    assert tmp_path / "figures" / "graph.pdf" in sr.derive("routing").save(tmp_path, ["tex"])
