import io
import itertools
import re
from typing import get_args
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

import symreln as sr
from symreln.errors import InputError
from symreln.report.cells import draw_cells, gate_pattern
from symreln.report.curve_labels import label_curves
from symreln.report.drawing import drawing, legend_below, new_axes, plain
from symreln.report.figures import (
    law_shares,
    loss_curve,
    loss_curves,
    mode_trajectories,
    singular_vectors,
)
from symreln.report.html import inline_svg
from symreln.report.looks import CLOSED, FAINT, GAIN, GROUND, INK, OPEN, PALETTE, Role, look
from symreln.report.plots import _coinciding, pathway_modes, thinned
from symreln.report.sketch import LossCurve, MeasuredModes, PathwayModes, Vectors
from tests.report.corpus import HOSTILE

TIMES = np.linspace(0.0, 8.0, 30)
MODES = [
    PathwayModes(
        label=label, times=TIMES, strengths=np.stack([np.tanh(TIMES), TIMES / 9]), plateaus=plateaus
    )
    for label, plateaus in (("common", np.array([1.0, np.nan])), ("off_1", None))
]
GATES = np.array([[1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 0, 1]], dtype=bool)


def curves():
    loss = np.exp(-TIMES) + 0.02
    return [
        LossCurve(
            label="ReLU", role="relu", times=TIMES, loss=loss, low=loss * 0.9, high=loss * 1.1
        ),
        LossCurve(
            label="GDLN", role="gdln", times=TIMES, loss=loss, low=loss - 0.01, high=loss + 0.01
        ),
        LossCurve(label="theory", role="theory", times=TIMES, loss=loss * 1.01, drop_time=1.5),
        LossCurve(label="beside", role="reduction", times=TIMES, loss=loss + 0.3, drop_time=1.6),
        LossCurve(label="wide", role="mean field", times=TIMES, loss=loss + 0.2, drop_time=4.0),
    ]


VECTORS = Vectors(
    label="common",
    v=np.array([[1.0, 0.0, 0.5], [0.0, -1.0, 0.5]]),
    u=np.array([[1.0, 0.0, 0.5], [0.0, 1.0, -0.5], [0.5, 0.0, 0.0]]),
    names=(["wings", "fins"], ["output 1", "output 2", "output 3"]),
    widths={"1": 1, "2": 2},
)
FIGURES = {
    "modes": lambda: mode_trajectories(MODES),
    "loss": lambda: loss_curves(curves())[0],
    "gates": lambda: gate_pattern(GATES, ["common", "off_1"], groups=[("one", 2), ("two", 4)]),
    "vectors": lambda: singular_vectors([VECTORS])[0],
}


def test_settings_of_the_user_are_left_alone_and_not_followed():
    before = dict(mpl.rcParams)
    plain_bytes = drawing("f", mode_trajectories(MODES)).svg
    assert dict(mpl.rcParams) == before
    with mpl.rc_context({"text.usetex": True, "font.size": 40, "svg.fonttype": "none"}):
        loud = drawing("f", mode_trajectories(MODES))
    assert loud.svg == plain_bytes


def test_pyplot_keeps_no_figure():
    import matplotlib.pyplot as plt

    before = plt.get_fignums()  # of tests of users' axes, in the same process
    for draw in FIGURES.values():
        draw()
    assert plt.get_fignums() == before


def test_axes_of_a_user_get_the_data_of_evaluate_and_nothing_else_changes(tmp_path):
    """On pyplot's axes: legends inside, the figure's other axes and settings as they were."""
    import matplotlib.pyplot as plt

    derivation = sr.derive(sr.load("xor"))
    predicted = derivation.evaluate(range(0, 2001))
    before = dict(mpl.rcParams)
    figure, (left, middle, right) = plt.subplots(1, 3)
    try:
        shown = pathway_modes(derivation, predicted)
        assert mode_trajectories(shown, ax=left) is left
        chosen = thinned(predicted.times)
        loss = LossCurve(
            label="theory", role="theory", times=predicted.times[chosen],
            loss=predicted.loss[chosen],
        )  # fmt: skip
        assert loss_curve([loss], middle) is middle
        drawn = [line for line in left.lines if len(line.get_xdata()) == len(chosen)]
        (curve,) = drawn  # four equal pathways
        np.testing.assert_array_equal(curve.get_xdata(), predicted.times[chosen])
        np.testing.assert_array_equal(curve.get_ydata(), predicted.modes[0].best[chosen])
        np.testing.assert_array_equal(middle.lines[0].get_ydata(), predicted.loss[chosen])
        assert figure.legends == []
        assert all(ax.get_legend() is not None for ax in (left, middle))
        assert not right.has_data()
        assert dict(mpl.rcParams) == before
        figure.savefig(tmp_path / "f.png")
    finally:
        plt.close(figure)


def test_draws_into_the_axes_it_is_given():
    figure = Figure()
    axes = figure.subplots(1, 2)
    assert mode_trajectories(MODES, ax=axes[0]) is axes[0]
    assert gate_pattern(GATES, ["common", "off_1"], ax=axes[1]) is axes[1]


@pytest.mark.parametrize("name", FIGURES)
def test_files_are_the_same_every_time_and_undated(name):
    first, second = (drawing(name, FIGURES[name]()) for _ in range(2))
    assert first == second
    assert first.pdf.startswith(b"%PDF")
    assert b"CreationDate" not in first.pdf
    ElementTree.parse(io.StringIO(first.svg))
    assert "<dc:date>" not in first.svg
    assert "<text" not in first.svg  # words are outlines: no font is needed to show them


def test_modes_and_their_plateaus():
    ax = mode_trajectories(MODES)
    data = [line for line in ax.lines if len(line.get_xdata()) == len(TIMES)]
    levels = [line.get_ydata()[0] for line in ax.lines if len(line.get_xdata()) == 2]
    assert levels == [1.0]
    assert [to_rgb(line.get_color()) for line in data] == [
        to_rgb(colour) for colour in (PALETTE[0], PALETTE[0], PALETTE[1], PALETTE[1])
    ]
    np.testing.assert_array_equal(data[0].get_ydata(), np.tanh(TIMES))
    labels = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert labels == ["common", "off_1"]


def test_loss_is_drawn_on_both_scales_with_band_and_drops():
    linear, logarithmic = loss_curves(curves())
    assert (linear.get_yscale(), logarithmic.get_yscale()) == ("linear", "log")
    assert [len(ax.collections) for ax in (linear, logarithmic)] == [1, 1]
    gdln = curves()[1]
    for ax in (linear, logarithmic):
        drawn = [np.asarray(line.get_ydata()) for line in ax.lines]
        for edge in (gdln.low, gdln.high):
            assert any(np.array_equal(values, edge) for values in drawn)
    drops = [line for line in linear.lines if line.get_marker() == "^"]
    assert [line.get_xdata()[0] for line in drops] == [1.5, 1.6, 4.0]
    heights = [line.get_ydata()[0] for line in drops]
    assert heights[0] == heights[2] == 0 < heights[1]  # those that coincide are above each other
    assert not any(line.get_marker() == "^" for line in logarithmic.lines)


def luminance(colour):
    return float(np.dot(to_rgb(colour), (0.2126, 0.7152, 0.0722)))


ROLES = get_args(Role)


def test_roles_that_stand_together_differ_without_colour():
    """By marker or dashes or, for the two lines without either in common, by width and grey."""

    def shape(role):
        seen = look(role)
        return seen.get("marker", ""), str(seen.get("linestyle", "-"))

    assert len({shape(role) for role in ROLES if role != "modes"}) == len(ROLES) - 1
    network, theory = look("relu"), look("theory")
    assert network["linewidth"] > 2 * theory["linewidth"]
    assert luminance(network["color"]) - luminance(theory["color"]) > 0.3
    assert theory["zorder"] > network["zorder"]
    begins = [look(role)["markevery"][0] for role in ROLES if "markevery" in look(role)]
    assert len(set(begins)) == len(begins)  # markers of curves on each other are apart


def test_a_role_has_one_look_wherever_it_is_drawn():
    relu, gdln, theory, *_ = curves()
    for order in ([relu, gdln, theory], [theory, gdln], [gdln, relu]):
        for ax in loss_curves(order):
            for curve in order:
                line = next(each for each in ax.lines if each.get_label() == curve.label)
                wanted = look(curve.role)
                assert to_rgb(line.get_color()) == to_rgb(wanted["color"])
                assert line.get_linewidth() == wanted["linewidth"]
                assert line.get_marker() == wanted.get("marker", "None")


def test_figures_have_no_colours_but_those_of_looks():
    """A page in the dark exchanges them by name."""
    known = {each.lower() for each in (INK, FAINT, GROUND, CLOSED, GAIN, OPEN, *PALETTE)}
    for name, draw in FIGURES.items():
        svg = drawing(name, draw(), pdf=False).svg
        # Axes' text in matplotlib's black has no colour of its own in the SVG.
        assert set(re.findall(r"#[0-9a-f]{6}", svg)) <= known | {"#000000"}, name


FINE = np.linspace(0.0, 8.0, 300)


def named_modes():
    rising = [1.4 / (1 + np.exp(8 - 4 * FINE)), 1.4 / (1 + np.exp(20 - 4 * FINE)), FINE / 9]
    return PathwayModes(
        label="common", times=FINE, strengths=np.stack(rising), number="p = 1",
        symbols=("$a$", "$b$ (2×)", "$c$"),
        measured=(
            MeasuredModes(
                label="ReLU network, measured", role="relu", steps=FINE[::70],
                strengths=np.stack(rising)[:, ::70] * 0.9,
            ),
        ),
    )  # fmt: skip


def test_modes_are_named_at_their_ends_or_where_ends_coincide_at_their_rise():
    ax = mode_trajectories([named_modes()])
    drawing("modes", ax)
    places = {text.get_text(): text for text in ax.texts}
    assert set(places) == {"$a$", "$b$ (2×)", "$c$"}
    renderer = FigureCanvasAgg(ax.figure).get_renderer()
    boxes = {name: text.get_window_extent(renderer) for name, text in places.items()}
    inside = ax.get_window_extent()
    assert boxes["$c$"].x0 > inside.x1
    end = ax.transData.transform((8, 8 / 9))[1]
    assert abs((boxes["$c$"].y0 + boxes["$c$"].y1) / 2 - end) < 2
    for name in ("$a$", "$b$ (2×)"):
        assert inside.x0 < boxes[name].x0 < boxes[name].x1 < inside.x1
    for one, other in itertools.combinations(boxes.values(), 2):
        assert not one.overlaps(other)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0.05, 3), st.floats(0.5, 8), st.floats(0.5, 5)), min_size=1, max_size=40
    )
)
def test_names_never_overlap_each_other_or_leave_the_figure(rises):
    strengths = np.array([h / (1 + np.exp(r * (m - TIMES))) for h, m, r in rises])
    names = tuple(rf"$\pi_{{1,{k}}}$" for k in range(len(rises)))
    (ax,) = new_axes(2.8)
    ax.plot(TIMES, strengths.T)
    ax.set_ylim(bottom=0)
    left_out = label_curves(
        ax, [(name, TIMES, row) for name, row in zip(names, strengths, strict=True)]
    )
    shown = [text.get_text() for text in ax.texts]
    assert sorted(shown + left_out) == sorted(names)
    renderer = FigureCanvasAgg(ax.figure).get_renderer()
    for text in ax.texts:
        if isinstance(text, Annotation):  # where it stands follows from its point when it is drawn
            text.update_positions(renderer)
    boxes = [Text.get_window_extent(text, renderer) for text in ax.texts]
    for one, other in itertools.combinations(boxes, 2):
        across = min(one.x1, other.x1) - max(one.x0, other.x0)
        up = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert min(across, up) < 1.5  # pixels of a line's own ascent


def test_strengths_of_trained_networks_stand_beside_the_modes():
    pathway = named_modes()
    ax = mode_trajectories([pathway])
    (found,) = pathway.measured
    marked = [line.get_ydata() for line in ax.lines if line.get_marker() == "o"]
    for strength in found.strengths:
        assert any(np.array_equal(strength, values) for values in marked)
    labels = [text.get_text() for text in ax.figure.legends[0].get_texts()]
    assert labels == ["common ($p = 1$)", "ReLU network, measured"]


def test_a_logarithmic_axis_is_named_and_has_numbers_within_one_power_of_ten():
    times = np.linspace(0.0, 10.0, 50)
    few = LossCurve(label="r", role="theory", times=times, loss=0.62 + 0.88 * np.exp(-times))
    many = LossCurve(label="r", role="theory", times=times, loss=np.exp(-3 * times))
    axes = [loss_curves([curve])[1] for curve in (few, many)]
    assert all("logarithmic" in ax.get_ylabel() for ax in axes)
    for ax in axes:
        ax.figure.draw_without_rendering()
    low, high = axes[0].get_ylim()
    named = [text.get_text() for text in axes[0].get_yticklabels()]
    shown = [place for place in map(float, named) if low <= place <= high]
    assert len(shown) >= 3, named
    assert "10^{" in axes[1].get_yticklabels()[0].get_text()


def test_gates_are_dark_where_open():
    ax = gate_pattern(GATES, ["common", "off_1"], groups=[("one", 2), ("two", 4)])
    shown = np.zeros(GATES.shape)
    for patch in ax.patches:
        for row, column in np.argwhere(np.ones(GATES.shape)):
            if patch.get_path().contains_point((column + 0.5, row + 0.5)):
                shown[row, column] = 1 - sum(patch.get_facecolor()[:3]) / 3
    assert (shown[GATES] > 0.5).all()
    assert (shown[~GATES] < 0.1).all()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["common", "off_1"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["one", "two"]


def test_gains_have_another_shade_and_a_legend():
    gains = GATES & np.array([[True], [False]])
    ax = gate_pattern(GATES, ["common", "off_1"], gains=gains)
    shades = {
        tuple(patch.get_facecolor()[:3])
        for row, column in np.argwhere(gains)
        for patch in ax.patches
        if patch.get_path().contains_point((column + 0.5, row + 0.5))
    }
    (legend,) = ax.figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    colours = [tuple(patch.get_facecolor()[:3]) for patch in legend.get_patches()]
    assert names == ["0", "gain", "1"]
    assert shades == {colours[1]}
    assert len(set(colours)) == 3
    assert not gate_pattern(GATES, ["common", "off_1"], gains=~GATES & GATES).figure.legends


def test_vectors_are_drawn_column_by_column():
    inputs, outputs = singular_vectors([VECTORS])
    np.testing.assert_array_equal(inputs.images[0].get_array(), VECTORS.v)
    np.testing.assert_array_equal(outputs.images[0].get_array(), VECTORS.u)
    assert [text.get_text() for text in inputs.get_yticklabels()] == ["wings", "fins"]
    assert [text.get_text() for text in outputs.get_xticklabels()] == ["1", "2"]
    assert outputs.get_xticks().tolist() == [0.0, 1.5]
    assert [line.get_xdata()[0] for line in outputs.lines] == [0.5]
    assert inputs.get_title(loc="left") == "$V$, common"


def test_cells_cover_the_matrix_with_few_shapes():
    values = np.random.default_rng(0).integers(0, 3, (40, 60)).astype(float)
    (ax,) = new_axes(2.0)
    draw_cells(ax, values, colours=colormaps["Reds"], bound=2.0)
    assert len(ax.patches) == 3
    areas = []
    for patch in ax.patches:
        corners = patch.get_path().vertices.reshape(-1, 5, 2)
        areas.append(np.sum(np.ptp(corners[:, :, 0], axis=1) * np.ptp(corners[:, :, 1], axis=1)))
    assert areas == [np.sum(values == level) for level in (0.0, 1.0, 2.0)]


@pytest.mark.parametrize("label", HOSTILE)
def test_any_label_is_drawn_as_words(label):
    """No mathematics is read into a label, and no glyph is missing (a warning is an error here)."""
    ax = gate_pattern(GATES, [label[:40], "b"], groups=[(label[:20], 2), ("$x^2$", 4)])
    ElementTree.parse(io.StringIO(drawing("f", ax, pdf=False).svg))


def test_plain():
    assert plain("$x$ off_1 中") == r"\$x\$ off_1 [U+4E2D]"
    assert plain("a" * 40) == "a" * 31 + "…"


@pytest.mark.parametrize(
    "draw",
    [
        lambda: gate_pattern(GATES, ["one"]),
        lambda: gate_pattern(GATES, ["a", "b"], groups=[("x", 5)]),
        lambda: loss_curves([LossCurve(label="x", role="theory", times=TIMES, loss=TIMES[:3])]),
        lambda: mode_trajectories([PathwayModes(label="m", times=TIMES, strengths=np.eye(2))]),
    ],
)
def test_shapes_that_do_not_fit_are_refused(draw):
    with pytest.raises(InputError, match=r"Give (one value|sizes)"):
        draw()


def test_svg_is_small():
    shown = {name: drawing(name, draw(), pdf=False).svg for name, draw in FIGURES.items()}
    # A page carries half a dozen of them; 150 kB each keeps it below a megabyte.
    assert max(map(len, shown.values())) < 150_000
    assert not any(re.search("NaN|nan", svg) for svg in shown.values())


def bounds(ax):
    renderer = FigureCanvasAgg(ax.figure).get_renderer()
    return ax.get_tightbbox(renderer)


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_is_cut_off_and_nothing_overlaps(name):
    ax = FIGURES[name]()
    drawing(name, ax)
    figure = ax.figure
    boxes = [bounds(one) for one in figure.axes]
    renderer = FigureCanvasAgg(figure).get_renderer()
    legends = [box.get_window_extent(renderer) for box in figure.legends]
    for box in (*boxes, *legends):
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1 + 1
        assert figure.bbox.y0 <= box.y0
        assert box.y1 <= figure.bbox.y1
    for box, following in itertools.combinations([*boxes, *legends], 2):
        across = min(box.x1, following.x1) - max(box.x0, following.x0)
        up = min(box.y1, following.y1) - max(box.y0, following.y0)
        assert min(across, up) <= 1


@pytest.mark.parametrize(("long", "columns"), [(9, 3), (35, 2), (60, 1)])
def test_a_legend_has_as_many_columns_as_its_labels_leave_room_for(long, columns):
    (ax,) = new_axes(2.0)
    for number in range(4):
        ax.plot(TIMES, TIMES + number, label=str(number) * long)
    legend_below(ax)
    (legend,) = ax.figure.legends
    drawing("f", ax, pdf=False)
    left = [text.get_window_extent().x0 for text in legend.get_texts()]
    assert len({round(each) for each in left}) == columns
    assert legend.get_window_extent().x1 <= ax.figure.bbox.x1


def test_numbers_that_grow_with_the_axes_are_not_cut_off():
    """Ticks every 2.5 need more room than every 5, and come with the place of the legend."""
    for top in np.linspace(14, 18, 5):
        loss = LossCurve(label="r", role="theory", times=TIMES, loss=top * np.exp(-TIMES))
        linear, logarithmic = loss_curves([loss])
        drawing("loss", linear, pdf=False)
        assert min(bounds(ax).x0 for ax in (linear, logarithmic)) >= 0


def test_a_figure_is_arranged_once_and_shown_whole_again():
    ax = mode_trajectories(MODES)
    first = drawing("f", ax)
    assert drawing("f", ax) == first
    assert ax.patch.get_visible()
    assert ax.figure.patch.get_visible()


def test_a_layout_of_the_user_is_kept():
    figure = Figure()
    ax = mode_trajectories(MODES, ax=figure.subplots())
    before = ax.get_position().bounds
    drawing("f", ax)
    assert ax.get_position().bounds == before


def test_small_figures_draw_without_warnings():
    # pytest turns warnings into errors; matplotlib's constrained layout gave one here.
    tall = [("a" * 80, 1), ("b" * 80, 1)]
    drawing("f", gate_pattern(np.array([[True, False]]), ["x" * 200], groups=tall))
    drawing("f", singular_vectors([VECTORS] * 3)[0])


def test_gates_of_many_samples_stay_a_small_file():
    noise = np.random.default_rng(0).random((17, 2048)) < 0.5
    ax = gate_pattern(noise, [f"p{k}" for k in range(17)])
    (image,) = ax.images
    shown = 1 - np.asarray(image.get_array())[..., :3].mean(axis=2)
    np.testing.assert_array_equal(shown > 0.3, noise)
    figure = drawing("gates", ax)
    assert len(figure.svg) < 100_000
    inline_svg(figure, "gates")


def test_crowded_groups_are_named_once():
    gates = np.ones((2, 32), dtype=bool)
    names = [(f"context {k}", 2) for k in range(1, 17)]
    ax = gate_pattern(gates, ["a", "b"], groups=names)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == [str(k) for k in range(1, 17)]
    assert ax.get_xlabel() == "samples (32), by context"
    mixed = [(f"{'context' if k % 2 else 'block'} {k}", 2) for k in range(1, 17)]
    assert gate_pattern(gates, ["a", "b"], groups=mixed).get_xlabel() == "samples (32)"


def test_rows_of_gates_share_a_bounded_height_and_leave_out_names():
    many = gate_pattern(np.ones((70, 4), dtype=bool), [f"p{k}" for k in range(70)])
    assert many.figure.get_figheight() < 4.2
    labels = [tick.get_text() for tick in many.get_yticklabels()]
    assert labels == [f"p{k}" for k in range(0, 70, 3)]
    np.testing.assert_allclose(many.get_yticks(), np.arange(0, 70, 3) + 0.5)


def test_only_coinciding_curves_are_drawn_as_one():
    curve = np.tanh(TIMES)[None]
    strengths = {"a": curve, "b": curve + 2e-4, "c": curve + 2e-2, "d": np.vstack([curve, curve])}
    alone = dict(zip(strengths, range(4), strict=True))
    assert _coinciding(list(strengths), strengths, alone) == [["a", "b"], ["c"], ["d"]]


def test_networks_that_agree_have_a_range_of_nothing():
    """The mean of three numbers 0.1 is above 0.1."""
    equal = np.full((3, 2), 0.1)
    assert equal.mean(axis=0)[0] > 0.1
    axes = law_shares(equal[:1], equal, np.array([1.0, 2.0]))
    (bars,) = axes.collections
    for segment in bars.get_segments():
        assert np.ptp(segment[:, 1]) == pytest.approx(0, abs=1e-15)
