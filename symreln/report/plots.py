"""The figures of a derivation and of its confrontation, from results to sketches of them."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from symreln.base.summaries import short_list
from symreln.claims.curves import ModeCurve, Prediction, in_phase
from symreln.claims.derivation import Derivation
from symreln.claims.edges import edges_of
from symreln.claims.pathway_orbits import mode_orbits
from symreln.claims.rules import rule_of
from symreln.claims.solve import at_values
from symreln.errors import InputError
from symreln.report.chapters.mode_tables import drawn_vectors
from symreln.report.looks import CLOSED, GAIN, INK, OPEN, Role, line_style, look, measured_look
from symreln.report.sketch import Cells, Curve, Panel, Sketch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from symreln.effective.found import FromData
    from symreln.experiment.strengths import ModeMeasured

#: Points of a drawn curve: more cannot be told apart at the width of a page.
_POINTS = 400
#: Modes up to which every trajectory of a pathway is drawn.
MOST_CURVES = 12
#: Edges up to which a graph can be read in print.
_MOST_EDGES = 160
#: Share of the panel that marks of measured strengths are apart.
_MEASURED = 0.035
#: Rows of vectors up to which they have names.
_MOST_NAMES = 16
#: Letters of a pathway above its vectors, beyond which it has its number.
_MOST_LETTERS = 20
_ROW, _ROWS = 0.17, 3.2  # inches: height of a row of gates, and of all of them at most
#: Columns of gates over time, and how many runs of them have names.
_MOMENTS, _RUNS = 120, 6
TIME = r"time $t$ (full-batch steps)"
#: As the closed form of L(t) is printed, whatever the training descends.
LOSS = "loss $L(t)$ (mean over samples)"
#: Runs of samples up to which they are named.
_MOST_GROUPS = 24
#: Share of the greatest strength below which curves lie on each other in print.
SAME = 1e-3
#: The same for pathways with equal modes: they differ by the scatter of initial strengths alone,
#: which are followed from random units (:mod:`symreln.claims.early`).
_SAME_MODES = 3e-2


def modes_sketches(
    derivation: Derivation,
    prediction: Prediction | None,
    measured: Sequence[tuple[str, ModeMeasured]] = (),
) -> list[Sketch]:
    """Sketch the predicted strengths, where there are some.

    Args:
        derivation: What is drawn.
        prediction: Its curves, or None.
        measured: Strengths of trained networks, with the name of what was trained.
    """
    if prediction is None or not prediction.modes:
        return []
    labels: set[str] = set()
    shown = []
    for curve in _mode_curves(derivation, prediction, measured):
        # A name that comes again is in the legend once.
        shown.append(replace(curve, label="") if curve.label in labels else curve)
        labels.add(curve.label)
    panel = Panel(x=TIME, y=r"mode strength $\pi_{p,\alpha}(t)$", curves=tuple(shown))
    return [Sketch.of("modes", panel, height=2.2)]


def still_sketches(derivation: Derivation) -> list[Sketch]:
    """Sketch the gates and the spectra; not those that float64 has no room for."""
    sketches = [_gates(derivation)]
    found = derivation.ask(rule_of("found"))
    if found is not None:
        sketches += [timeline_sketch(found), _predicted(found)]
    shared = derivation.ask(edges_of)
    if shared is not None and len(shared.edges.graph.edges) <= _MOST_EDGES:
        network, uses = shared.edges.graph, shared.edges.uses
        shown = {"network": network, "uses": [uses[place] for place in range(len(network.edges))]}
        sketches.append(Sketch(name="graph", function="network_figure.draw_network", shown=shown))
    # The numbers are in the tables, of any size; only the drawing of them needs floats and values.
    with suppress(InputError):
        sketches += _vectors(derivation.ask(at_values))
    return sketches


def _gates(derivation: Derivation) -> Sketch:
    gates: dict[str, tuple] = {}
    edges: list[tuple[int, int]] = []
    for begin, phase in derivation.phases:
        for pathway, first in zip(phase.spec.pathways, derivation.spec.pathways, strict=True):
            if not begin or any(switch.step == begin for switch in first.then):
                edges += [(len(gates), sample) for sample in pathway.boundary]
                gates[in_phase(pathway.name, begin)] = pathway.gate
    values = np.array([[0.5 * (g != 0) + 0.5 * (g == 1) for g in gate] for gate in gates.values()])
    panel = Panel(
        x=f"samples ({values.shape[1]})",
        cells=Cells(
            values=values, rows=tuple(gates), columns=tuple(_sample_groups(derivation)), gates=True
        ),
        curves=tuple(_gate_marks(values, edges)),
    )
    return Sketch.of("gates", panel, height=0.75 + min(_ROW * len(values), _ROWS))


def timeline_sketch(found: FromData) -> Sketch:
    """Return the figure of the gates that come from the data, rows over time."""
    steps = np.array([look.step for look in found.network.looks])
    grid = np.linspace(0, steps[-1], _MOMENTS + 1)
    shares = found.strengths / np.maximum(found.strengths.sum(axis=1, keepdims=True), 1e-300)
    values = np.array([np.interp(grid[1:], steps, row, left=0.0) for row in shares.T])
    ends = np.linspace(0, steps[-1], _RUNS + 1).round().astype(int).tolist()
    columns = [(f"to {end}", _MOMENTS // _RUNS) for end in ends[1:]]
    names = tuple(unit.name for unit in found.units)
    cells = Cells(values=values, rows=names, columns=tuple(columns), scale=1.0)
    panel = Panel(x="training time (steps)", cells=cells)
    return Sketch.of("timeline", panel, height=0.75 + min(_ROW * len(values), _ROWS))


def _predicted(found: FromData) -> Sketch:
    """Return the figure of the loss that the effective network predicts, with its draws' spread."""
    steps, drawn = found.shown_steps, found.network.drawn
    low, high = (np.quantile(drawn[:, steps], share, axis=0) for share in (0.05, 0.95))
    spread = np.array([low, high])
    mean = found.network.losses[steps]
    curve = loss_curve("effective network", "theory", steps.astype(float), mean, spread)
    return Sketch.of("predicted", loss_panel([curve]), height=1.8)


def _gate_marks(values: np.ndarray, edges: Sequence[tuple[int, int]]) -> Iterator[Curve]:
    """Yield what the legend of gates has: shades where there is a gain, strokes on boundaries."""
    nowhere, style = np.full(1, np.nan), {"linestyle": "", "marker": "s", "markeredgecolor": INK}
    if (values == 0.5).any():
        for label, colour in (("0", CLOSED), ("gain", GAIN), ("1", OPEN)):
            yield Curve(x=nowhere, y=nowhere, label=label, style=style | {"color": colour})
    if edges:
        row, column = np.array(edges).T
        gap = np.full(len(edges), np.nan)  # parts one stroke from the next
        x, y = (np.stack(ends, axis=1).ravel() for ends in (
            (column + 0.2, column + 0.8, gap), (row + 0.8, row + 0.2, gap)
        ))  # fmt: skip
        style = {"color": INK, "linewidth": 0.8, "zorder": 3}
        yield Curve(x=x, y=y, label="/ on its boundary", style=style)


def _sample_groups(derivation: Derivation) -> list[tuple[str, int]]:
    """Return runs of equal labels, of the label with the fewest runs (at least 2), or none."""
    found: list[list[tuple[str, int]]] = []
    for name, values in derivation.spec.dataset.labels.items():
        texts = (f"{name} {value}" for value in values)
        runs = [(text, len(list(own))) for text, own in groupby(texts)]
        if 2 <= len(runs) <= _MOST_GROUPS:
            found.append(runs)
    return min(found, key=len, default=[])


def _vectors(derivation: Derivation) -> list[Sketch]:
    data, panels = derivation.spec.dataset, list[Panel]()
    for beside in drawn_vectors(derivation):
        own = beside[0].first.effective.pathway
        u, _, v, _ = zip(*(one.first.to_numpy() for one in beside), strict=True)
        columns = tuple(
            (f"{one.first.number}," * (len(beside) > 1) + str(mode.number), mode.multiplicity)
            for one in beside
            for mode in one.learning
        )
        shown = [each for one in beside for each in one.pathways]
        label = short_list([each.name for each in shown])
        if any(len(each.name) > _MOST_LETTERS for each in shown):
            label = f"pathway {short_list([str(each.number) for each in shown])}"
        for symbol, parts, names in (
            ("$V$", v, data.names_of("inputs", own.inputs)),
            ("$U$", u, data.names_of("outputs", own.outputs)),
        ):
            rows = tuple(names if len(names) <= _MOST_NAMES else ())
            cells = Cells(values=np.hstack(parts), rows=rows, columns=columns)
            panels.append(Panel(title=symbol, of=label, cells=cells))
    return [Sketch.of("vectors", *panels, height=2.0)] if panels else []


def _mode_curves(
    derivation: Derivation, prediction: Prediction, measured: Sequence[tuple[str, ModeMeasured]]
) -> Iterator[Curve]:
    """Yield the strengths to draw; pathways whose curves lie on each other are one.

    Modes are those of the gates that hold, so that a curve ends where its gates do.

    Args:
        derivation: What is drawn.
        prediction: Its curves.
        measured: Strengths of trained networks, with the name of what was trained.
    """
    chosen = thinned(prediction.times)
    curves: dict[str, list[ModeCurve]] = {}
    for curve in prediction.modes:
        curves.setdefault(curve.pathway, []).append(curve)
    times, spans = prediction.times[chosen], _spans(derivation)
    strengths = {
        name: np.where(
            (times >= spans[name].begin) & (times < spans[name].end),
            [c.of(prediction.judged)[chosen] for c in own[:MOST_CURVES]],
            np.nan,
        )
        for name, own in curves.items()
    }
    for place, group in enumerate(_coinciding(strengths, spans)):
        own, drawn = curves[group[0]][:MOST_CURVES], strengths[group[0]]
        style = line_style(place) | {"linewidth": 1.4}
        label, note = _shared_phase(group), _numbers([curves[name][0].label for name in group])
        for curve, strength in zip(own, drawn, strict=True):
            name = _symbol(curve, alone=len(group) == 1)
            yield Curve(x=times, y=strength, style=style, name=name, label=label, note=note)
            label = note = ""  # the first mode stands for all
        there = times[np.isfinite(drawn).any(axis=0)]
        thin = {"color": style["color"], "linewidth": 0.5, "alpha": 0.55}
        for level in np.unique([curve.plateau for curve in own if curve.plateau is not None]):
            yield Curve(x=there[[0, -1]], y=np.array([level, level]), style=thin)
        yield from _measured(own, measured)


def _places(label: str) -> tuple[str, str]:
    """Return the numbers of the pathway and of the mode in the label of a strength."""
    _, pathway, mode = label.split("_", 2)
    return pathway, mode


def _symbol(curve: ModeCurve, *, alone: bool) -> str:
    """Return what is written beside a curve, that of several pathways with p for their numbers."""
    pathway, mode = _places(curve.label)
    times = f" ({curve.multiplicity}×)" if curve.multiplicity > 1 else ""
    return rf"$\pi_{{{pathway if alone else 'p'},{mode}}}$" + times


def _numbers(labels: list[str]) -> str:
    """Return the numbers of pathways, the first and the last of many."""
    found = list(dict.fromkeys(_places(label)[0] for label in labels))
    if len(found) > 3:
        found = [found[0], r"\ldots", found[-1]]
    return "p = " + ", ".join(found)


def _measured(
    curves: list[ModeCurve], measured: Sequence[tuple[str, ModeMeasured]]
) -> Iterator[Curve]:
    """Yield the strengths of some modes in trained networks, where they are these modes'."""
    places = {curve.label for curve in curves}
    for name, mode in measured:
        if mode.label in places:
            # Large markers must be apart; dots show the curve the better the more there are.
            gap = {"markevery": _MEASURED} if mode.subject == "gdln" else {}
            style = measured_look(mode.subject) | gap
            steps = np.array(mode.steps, dtype=float)
            yield Curve(x=steps, y=np.array(mode.mean), style=style, label=name)


def loss_curve(
    label: str, role: Role, times: np.ndarray, loss: np.ndarray, spread: np.ndarray | None = None
) -> Curve:
    """Return a loss over time as a curve of what its role is.

    Args:
        label: What the curve is: "theory", "ReLU network".
        role: The same for its look.
        times: Shape (T,).
        loss: Shape (T,): for a network, the mean over seeds.
        spread: Lower and upper edge of the band between seeds, shape (2, T).
    """
    low, high = (None, None) if spread is None else spread
    kind = "area" if role == "relu" else "edges"
    style = look(role)
    return Curve(x=times, y=loss, style=style, label=label, low=low, high=high, spread=kind)


def loss_panel(curves: Sequence[Curve]) -> Panel:
    """Return losses on a linear scale."""
    return Panel(x=TIME, y=LOSS, curves=tuple(curves))


class _Span(NamedTuple):
    """When the gates of a pathway hold, and the number of its group of those with equal modes."""

    begin: float
    end: float
    group: int


def _spans(derivation: Derivation) -> dict[str, _Span]:
    """Return the span of every pathway in every phase, by name."""
    begins = [begin for begin, _ in derivation.phases]
    ends = [*map(float, begins[1:]), math.inf]
    return {
        in_phase(pathway.name, begin): _Span(begin, end, place)
        for (begin, phase), end in zip(derivation.phases, ends, strict=True)
        for place, group in enumerate(mode_orbits(phase))
        for pathway in group.pathways
    }


def _shared_phase(names: list[str]) -> str:
    """Return names for the legend, the step that all of them have in common once."""
    parts = [name.rpartition(", step ") for name in names]
    steps = {step for _, comma, step in parts if comma}
    if len(steps) == 1 and all(comma for _, comma, _ in parts):
        return in_phase(short_list([name for name, _, _ in parts]), int(steps.pop()))
    return short_list(names)


def _coinciding(strengths: dict[str, np.ndarray], spans: dict[str, _Span]) -> list[list[str]]:
    """Group the names whose curves cannot be told apart in print, or need not be."""
    greatest = max(float(np.nanmax(np.abs(v), initial=0.0)) for v in strengths.values())
    groups: list[list[str]] = []
    for name, mine in strengths.items():
        for group in groups:
            first, equal = strengths[group[0]], spans[group[0]] == spans[name]
            near = (_SAME_MODES if equal else SAME) * greatest
            same = first.shape == mine.shape
            if same and np.allclose(first, mine, rtol=0, atol=near, equal_nan=True):
                group.append(name)
                break
        else:
            groups.append([name])
    return groups


def thinned(times: np.ndarray) -> np.ndarray:
    """Return indices of at most _POINTS times, the first and the last included."""
    return np.unique(np.linspace(0, len(times) - 1, _POINTS).round().astype(int))
