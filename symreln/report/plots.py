"""The figures of a derivation and of its confrontation, from results to sketches of them."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from symreln.claims.derivation import Derivation
from symreln.claims.orbits import mode_orbits, short_list
from symreln.claims.phases import in_phase
from symreln.claims.solve import at_values
from symreln.errors import InputError
from symreln.laws.choice import plateau
from symreln.laws.law import Regime
from symreln.report.chapters.vectors import drawn_vectors
from symreln.report.sketch import LossCurve, MeasuredModes, PathwayModes, Sketch, Vectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.claims.curves import ModeCurve, Prediction
    from symreln.claims.derivation import ModeDerivation
    from symreln.experiment.strengths import ModeMeasured

#: Points of a drawn curve: more cannot be told apart at the width of a page.
POINTS = 400
#: Modes up to which every trajectory of a pathway is drawn.
MOST_CURVES = 12
#: Share of the steps that measured strengths are apart, so that their marks are.
_MEASURED = 0.035
#: Runs of samples up to which they are named.
MOST_GROUPS = 24
#: Share of the greatest strength below which curves lie on each other in print.
SAME = 1e-3
#: The same for pathways with equal modes: they differ by the scatter of initial strengths alone,
#: which are followed from random units (:mod:`symreln.claims.early`).
_SAME_MODES = 3e-2


def derivation_sketches(
    derivation: Derivation,
    prediction: Prediction | None,
    measured: Sequence[tuple[str, ModeMeasured]] = (),
) -> tuple[Sketch, ...]:
    """Sketch the gates, the spectra and, where numbers are there, the predicted strengths."""
    return (*still_sketches(derivation), *modes_sketches(derivation, prediction, measured))


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
    return [modes_sketch(pathway_modes(derivation, prediction, measured))]


def still_sketches(derivation: Derivation) -> list[Sketch]:
    """Sketch the gates and the spectra; not those that float64 has no room for."""
    sketches = [_gates(derivation)]
    values = all(parameter.value is not None for parameter in derivation.spec.parameters)
    if values and any(
        not mode.is_null
        for _, phase in derivation.ask(at_values).phases
        for pathway in phase.pathways
        for mode in pathway.modes
    ):
        # The numbers are in the tables, of any size; only the drawing of them needs floats.
        with suppress(InputError):
            numbers = derivation.ask(at_values)
            sketches += _vectors(numbers)
    return sketches


def _gates(derivation: Derivation) -> Sketch:
    gates: dict[str, tuple] = {}
    edges: dict[str, tuple[int, ...]] = {}
    for begin, phase in derivation.phases:
        for pathway, first in zip(phase.spec.pathways, derivation.spec.pathways, strict=True):
            if not begin or any(switch.step == begin for switch in first.then):
                gates[in_phase(pathway.name, begin)] = pathway.gate
                edges[in_phase(pathway.name, begin)] = pathway.boundary
    both = zip(gates.values(), edges.values(), strict=True)
    shown = {
        "gates": np.array([[gain != 0 for gain in gate] for gate in gates.values()]),
        "pathways": list(gates),
        "gains": np.array([[gain not in (0, 1) for gain in gate] for gate in gates.values()]),
        "boundary": np.array([[n in edge for n in range(len(gate))] for gate, edge in both]),
        "groups": sample_groups(derivation),
    }
    return Sketch(name="gates", function="cells.gate_pattern", shown=shown)


def sample_groups(derivation: Derivation) -> list[tuple[str, int]]:
    """Return runs of equal labels, of the label with the fewest runs (at least 2), or none."""
    found: list[list[tuple[str, int]]] = []
    for name, values in derivation.spec.dataset.labels.items():
        runs: list[tuple[str, int]] = []
        for value in values:
            text = f"{name} {value}"
            if runs and runs[-1][0] == text:
                runs[-1] = (text, runs[-1][1] + 1)
            else:
                runs.append((text, 1))
        if 2 <= len(runs) <= MOST_GROUPS:
            found.append(runs)
    return min(found, key=len, default=[])


def _vectors(derivation: Derivation) -> list[Sketch]:
    data, shown = derivation.spec.dataset, []
    for beside in drawn_vectors(derivation):
        own = beside[0].first.effective.pathway
        u, _, v, _ = zip(*(one.first.to_numpy() for one in beside), strict=True)
        names = data.names_of("inputs", own.inputs), data.names_of("outputs", own.outputs)
        widths = {
            f"{one.first.number}," * (len(beside) > 1) + str(mode.number): mode.multiplicity
            for one in beside
            for mode in one.learning
        }
        label = short_list([each.name for one in beside for each in one.pathways])
        drawn = Vectors(label=label, v=np.hstack(v), u=np.hstack(u), names=names, widths=widths)
        shown.append(drawn)
    panels = {"pathways": shown}
    sketch = Sketch(name="vectors", function="figures.singular_vectors", shown=panels)
    return [sketch] if shown else []


def _plateau(mode: ModeDerivation, known: Regime) -> float:
    """Return the height that a mode grows to; NaN where it has none of its own."""
    if mode.d_eff is None or mode.d_eff.is_zero:
        return math.nan
    found = plateau(known, mode.s.to_float(), mode.d_eff.to_float())
    if math.isinf(found):
        msg = f"the plateau of {mode.label} is too large for float64"
        raise InputError(msg)
    return found


def pathway_modes(
    derivation: Derivation,
    prediction: Prediction,
    measured: Sequence[tuple[str, ModeMeasured]] = (),
) -> list[PathwayModes]:
    """Return the strengths to draw; pathways whose curves lie on each other are one.

    Modes are those of the gates that hold, so that a curve ends where its gates do.

    Args:
        derivation: What is drawn.
        prediction: Its curves.
        measured: Strengths of trained networks, with the name of what was trained.
    """
    chosen = thinned(prediction.times)
    curves: dict[str, list[ModeCurve]] = {}
    for curve in prediction.modes:
        found = curves.setdefault(curve.pathway, [])
        if len(found) < MOST_CURVES:
            found.append(curve)
    times = prediction.times[chosen]
    spans = {name: span for name, span in _spans(derivation).items() if name in curves}
    strengths = {
        name: np.where(
            (times >= begin) & (times < end),
            [c.of(prediction.judged)[chosen] for c in curves[name]],
            np.nan,
        )
        for name, (begin, end) in spans.items()
    }
    return [
        PathwayModes(
            label=_shared_phase(group),
            times=times,
            strengths=strengths[group[0]],
            plateaus=np.array(
                [np.nan if c.plateau is None else c.plateau for c in curves[group[0]]]
            ),
            symbols=tuple(_symbol(c, alone=len(group) == 1) for c in curves[group[0]]),
            number=_numbers([curves[name][0].label for name in group]),
            measured=_measured(curves[group[0]], measured),
        )
        for group in _coinciding(list(spans), strengths, _twins(derivation))
    ]


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
) -> tuple[MeasuredModes, ...]:
    """Return the strengths of some modes in trained networks, where they are these modes'."""
    found = []
    for name in dict.fromkeys(name for name, _ in measured):
        modes = {m.label: m for label, m in measured if label == name}
        mine = [modes.get(curve.label) for curve in curves]
        known = next((mode for mode in mine if mode is not None), None)
        if known is not None:
            steps = np.array(known.steps, dtype=float)
            # Large markers must be apart; dots show the curve the better the more there are.
            gap = _MEASURED * steps[-1] if known.subject == "gdln" else 0.0
            chosen = _apart_by(steps, gap)
            nothing = np.full(len(steps), np.nan)
            rows = [nothing if mode is None else mode.mean for mode in mine]
            found.append(
                MeasuredModes(
                    label=name,
                    role=known.subject,
                    steps=steps[chosen],
                    strengths=np.array(rows)[:, chosen],
                )
            )
    return tuple(found)


def _apart_by(steps: np.ndarray, distance: float) -> list[int]:
    """Return the indices of steps that are at least so far apart, the last included."""
    chosen = [len(steps) - 1]
    for index in reversed(range(len(steps) - 1)):
        if steps[chosen[-1]] - steps[index] >= distance:
            chosen.append(index)
    return chosen[::-1]


def modes_sketch(pathways: Sequence[PathwayModes]) -> Sketch:
    """Return the figure of strengths over time."""
    return Sketch(name="modes", function="figures.mode_trajectories", shown={"pathways": pathways})


def loss_sketch(curves: Sequence[LossCurve]) -> Sketch:
    """Return the figure of losses over time."""
    return Sketch(name="loss", function="figures.loss_curves", shown={"curves": curves})


def _spans(derivation: Derivation) -> dict[str, tuple[float, float]]:
    """Return the first step and the end of the gates of every pathway in every phase, by name."""
    begins = [begin for begin, _ in derivation.phases]
    ends = [*map(float, begins[1:]), math.inf]
    return {
        in_phase(pathway.name, begin): (begin, end)
        for (begin, phase), end in zip(derivation.phases, ends, strict=True)
        for pathway in phase.pathways
    }


def _twins(derivation: Derivation) -> dict[str, int]:
    """Number the groups of pathways with equal modes, phase by phase."""
    groups = [(begin, group) for begin, phase in derivation.phases for group in mode_orbits(phase)]
    return {
        in_phase(pathway.name, begin): place
        for place, (begin, group) in enumerate(groups)
        for pathway in group.pathways
    }


def _shared_phase(names: list[str]) -> str:
    """Return names for the legend, the step that all of them have in common once."""
    parts = [name.rpartition(", step ") for name in names]
    steps = {step for _, comma, step in parts if comma}
    if len(steps) == 1 and all(comma for _, comma, _ in parts):
        return in_phase(short_list([name for name, _, _ in parts]), int(steps.pop()))
    return short_list(names)


def _coinciding(
    names: list[str], strengths: dict[str, np.ndarray], twins: dict[str, int]
) -> list[list[str]]:
    """Group the names whose curves cannot be told apart in print, or need not be."""
    greatest = max(float(np.nanmax(np.abs(v), initial=0.0)) for v in strengths.values())
    groups: list[list[str]] = []
    for name in names:
        mine = strengths[name]
        for group in groups:
            first = strengths[group[0]]
            near = _SAME_MODES if twins[name] == twins[group[0]] else SAME
            if first.shape == mine.shape and _apart(first, mine) <= near * greatest:
                group.append(name)
                break
        else:
            groups.append([name])
    return groups


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest distance of curves, infinite where one is drawn and the other is not."""
    if (np.isnan(one) != np.isnan(other)).any():
        return math.inf
    return float(np.nanmax(np.abs(one - other), initial=0.0))


def drawn_times(steps: int) -> np.ndarray:
    """Return the steps that a curve over ``steps`` recorded steps is drawn at."""
    return thinned(np.arange(steps)).astype(float)


def thinned(times: np.ndarray) -> np.ndarray:
    """Return indices of at most POINTS times, the first and the last included."""
    return np.unique(np.linspace(0, len(times) - 1, POINTS).round().astype(int))
