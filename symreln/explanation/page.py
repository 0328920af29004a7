"""The explanation of a network as a page: the answer first, then each part, then its derivation."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import numpy as np

from symreln.base.rounding import percent, positional
from symreln.base.summaries import few
from symreln.document.document_model import Block, Figure, Items, Math, Section, Strong, Table
from symreln.document.mathtext import to_latex
from symreln.document.typeset import say, typeset
from symreln.experiment.metrics import DROP
from symreln.explanation.recorded import LARGE
from symreln.laws.law import strength_symbol
from symreln.report.looks import points
from symreln.report.plots import loss_curve, loss_panel, modes_sketches, timeline_sketch
from symreln.report.sentences import gate_law_sentence
from symreln.report.sketch import Curve, Panel, Sketch
from symreln.report.validation_plots import gate_law_sketch
from symreln.specs.finding import counted

if TYPE_CHECKING:
    from symreln.explanation.explained import Explained
    from symreln.explanation.recorded import Recorded

#: Shares of L(0) for which it is said how many units are needed, and shares of the weight.
SHARES, HELD = (0.01, 0.02, 0.05), 0.95
#: Part by which a given rate is another than that of the weights.
_OTHER = 0.05
#: Windows that the table has.
_MOST_WINDOWS = 8
_CAPTIONS = {
    "loss": "Loss of the recorded weights (dots), of the theory with their gates, and of the "
    "replay of few units that is nearest.",
    "needed": "Largest |ΔL| over L(0) of replays from the network's own weights, against the "
    "number of units, and of the theory of its gates.",
    "timeline": "Gates over time: each row is the share of the weight that is nearest to a gate, "
    "from none (light) to all (dark), from where replays begin on.",
    "gate_law": "When units leave the first gates: share of the weight of those that have them, by "
    "the law of gates (line) and in the network (dots).",
    "modes": "Strengths of modes: formulas (lines) and the network's (dots).",
}


def sentences(found: Explained) -> Iterator[str]:
    """Yield what is said first, in a few sentences."""
    if other := another_rate(found.found, found.rate):
        yield f"{other}, and all that follows has the given one"
    yield _loss(found.found)
    yield _gates(found)
    yield answer(found)
    yield from _theory(found)
    if found.law is not None:
        yield gate_law_sentence(found.law)
    if (most := found.most_left) is not None:
        yield (
            f"of what this theory leaves most is {most.assumption}: "
            f"{share(most.distance_before)} of L(0) off, and with {most.replaced_by} "
            f"{share(most.distance_after)}"
        )
    yield from _descent(found)
    if (begun := found.found.outputs[0]) > LARGE:
        step = found.found.steps[0]
        late = "what came before is not seen. Record from step 0"
        yield (
            f"at the first checkpoint, step {step}, outputs are {share(begun)} of the targets by "
            "norm, and the theory, which begins with small weights, is of another training: "
            f"{late if step else 'initial weights are large'}"
        )


def _loss(found: Recorded) -> str:
    steps, losses = found.steps, found.losses
    same = "" if found.apart is None else f"; those given are within {share(found.apart)} of L(0)"
    fell, odd = 1 - losses.min() / losses[0], ""
    if losses[-1] > losses[0]:
        odd = "; it rises: other data, another scaling of them, or another loss was trained"
    elif fell < 1 - DROP:
        odd = f"; it has fallen by {share(fell)}, and what follows is of this beginning alone"
    return (
        f"loss of the weights, 1/(2P) Σ‖y − ŷ‖²: {losses[0]:.4g} at step {steps[0]}, "
        f"{losses[-1]:.4g} at step {steps[-1]}{same}{odd}"
    )


def _gates(found: Explained) -> str:
    names, held = [each.name for each in found.units.units], found.windows[0].shares
    strong = sorted(names, key=lambda name: -held[name])
    strong = [f"{name} {percent(held[name])}" for name in strong if held[name] > 1 - HELD]
    first, last = found.windows[0], found.windows[-1]
    return (
        f"gates: {few(names, 6)}; of the weight at step {first.end} {few(strong, 6)}; units that "
        f"have one of them exactly hold {share(first.exact)} then, {share(last.exact)} at step "
        f"{last.end}"
    )


def answer(found: Explained) -> str:
    """Return how few units have the loss of all."""
    replayed, begin = found.replayed, int(found.found.steps[found.found.begins])
    hidden = len(found.units.network.looks[0].units[0])
    needed = dict[int, float]()  # of several shares with as many units the least
    for within in SHARES:
        count = replayed.needed(within)
        if count not in (None, hidden):
            needed.setdefault(count, within)
    if needed:
        told = ", ".join(f"{n} within {percent(within)}" for n, within in needed.items())
        return (
            f"units that have the loss of all {hidden}, replayed from the network's own weights at "
            f"step {begin}, those of nearly one direction taken together: {told} of L(0)"
        )
    if not replayed.points:
        return (
            f"of {counted(hidden, 'hidden unit')} no fewer than half stand for all by their "
            f"directions at step {begin}, or a replay of them takes minutes"
        )
    nearest = [point for point in replayed.points if point.count < hidden][-1:]
    beside = "".join(f"; {p.count} are {percent(p.distance)} off" for p in nearest)
    return (
        f"no replay of fewer than all {counted(hidden, 'hidden unit')}, from the network's own "
        f"weights at step {begin}, has the loss within {percent(SHARES[-1])} of L(0){beside}"
    )


def _theory(found: Explained) -> Iterator[str]:
    if found.prediction is None:
        yield f"theory of these gates: none, {found.why_not}"
        return
    kind = "closed forms" if found.prediction.judged == "closed" else "integrated reduction"
    begins, loss = found.found.begins, found.prediction.loss
    whole, later = found.far(loss), found.far(loss, begins)
    after = f", {percent(later)} from step {found.found.steps[begins]} on" * (later < whole)
    yield f"theory of these gates ({kind}): {percent(whole)} of L(0) from the network{after}"
    if found.found.bias is not None:
        first = 0.5 * np.square(found.found.y).sum(axis=0).mean() / found.found.losses[0]
        yield (
            "the outputs have a bias, which the theory has from the beginning as it is at the "
            f"end: its loss begins at {percent(first)} of L(0)"
        )


def _descent(found: Explained) -> Iterator[str]:
    """Yield whether the weights descend, and with which rate."""
    measured, whole = found.found.rate, found.replayed.whole
    if measured is None:
        change = "the weights do not change as by gradient descent on all samples"
    else:
        off = share(found.found.off)
        change = (
            "the weights change as by gradient descent on all samples with the learning rate "
            f"{measured:.4g} of the mean loss, but for {off} of the change"
        )
        if found.found.off > _OTHER:
            change += ", which mini-batches, momentum or another optimiser make"
    if whole is not None:
        left = share(whole.distance)
        change += f"; all units replayed with the rate {found.rate:.4g} are {left} of L(0) off"
    yield change


def another_rate(found: Recorded, rate: float) -> str:
    """Say that the rate that is given is not that of the weights; "" where it is.

    Args:
        found: What the weights say.
        rate: That is given, of the mean loss, a step.
    """
    measured, samples = found.rate, found.x.shape[1]
    if measured is None or abs(rate / measured - 1) <= _OTHER + found.off:
        return ""
    ratio = rate / measured
    convention = any(abs(ratio / each - 1) < _OTHER for each in (samples, 1 / samples))
    hint = f' (there are {samples} samples: is the loss of the network "mean" or "sum"?)'
    return (
        f"the learning rate that is given, {rate:.4g} of the mean loss, is {ratio:.3g} times that "
        f"with which the weights descend{hint * convention}"
    )


def blocks(found: Explained, said: list[str], drawn: Collection[str]) -> tuple[Block, ...]:
    """Return the chapter on a network.

    Args:
        found: What is said of it.
        said: Its sentences, of which the answer comes first.
        drawn: Names of the figures that there are.
    """
    said.sort(key=answer(found).__ne__)
    first, *more = [f"{each[:1].upper()}{each[1:]}." for each in said]
    figures = {
        name: [Figure(name=name, alt=caption, caption=caption)] if name in drawn else []
        for name, caption in _CAPTIONS.items()
    }
    parts = (
        say("{said}", said=Strong(first)),
        Items(tuple(map(typeset, more))),
        *figures["loss"],
        *figures["needed"],
        found.units.table(
            "Gates of the network: samples on which they are open, share of its weight among the "
            "first stage's gates where replays begin, growth rate in 1/τ, whether a direction is "
            "proven to keep it, and half-time of its first mode by the closed form, in steps."
        ),
        _windows(found),
        *figures["timeline"],
        _left(found),
        *figures["gate_law"],
        *([_modes(found)] if found.modes else []),
        *figures["modes"],
    )
    return (Section(title="The network explained", blocks=parts, label="sec:explained"),)


def share(value: float | None) -> str:
    """Return a share as a percentage; below a millionth it is none."""
    return "–" if value is None else percent(round(value, 6))


def _windows(found: Explained) -> Table:
    shown = found.windows[:_MOST_WINDOWS]
    return Table(
        header=("gate", *(f"to {window.end}" for window in shown)),
        rows=(
            *(
                (unit.name, *(share(window.shares[unit.name]) for window in shown))
                for unit in found.units.units
            ),
            ("closed on all samples", *(share(window.closed) for window in shown)),
        ),
        caption="Share of the weight of the units nearest to each gate, with which their outputs "
        "are reproduced best, at the ends of the windows between which the loss drops.",
        alignment="l" + "r" * len(shown),
    )


def _left(found: Explained) -> Table:
    """Return what is left of the loss as a table."""
    return Table(
        header=("assumed", "replaced by", "before", "after"),
        rows=tuple(
            (
                each.assumption,
                each.replaced_by if not each.why_not else f"not tried: {each.why_not}",
                share(each.distance_before),
                share(each.distance_after),
            )
            for each in found.left
        ),
        caption="What is left: largest |ΔL| over L(0) to the network before and after one thing "
        "is replaced.",
        alignment="pprr",
    )


def _modes(found: Explained) -> Table:
    return Table(
        header=("pathway", "mode", "multiplicity", "relative error", "half-time error"),
        rows=tuple(
            (
                mode.pathway,
                Math(to_latex(strength_symbol(mode.label))),
                str(mode.multiplicity),
                percent(mode.difference),
                "–" if (late := mode.half_time_error.value) is None else positional(late, 3),
            )
            for mode in found.modes
        ),
        caption="Strengths of modes in the network against their formulas: largest difference over "
        "the plateau, and predicted less measured half-time in steps.",
        alignment="llrrr",
    )


def sketches(found: Explained) -> tuple[Sketch, ...]:
    """Sketch the figures of the chapter."""
    steps = found.found.steps.astype(float)
    network = Curve(x=steps, y=found.found.losses, style=points("relu"), label="recorded weights")
    curves = [network]
    if found.prediction is not None:
        grid = np.unique(np.linspace(0, steps[-1], 400).round().astype(int))
        theory = found.prediction.loss[grid]
        curves.append(loss_curve("theory of its gates", "theory", grid.astype(float), theory))
    if found.replayed.best is not None:
        label, losses = found.replayed.best
        at = found.replayed.steps.astype(float)
        curves.append(loss_curve(label, "effective", at, losses))
    made = [Sketch.of("loss", loss_panel(curves), height=2.0), timeline_sketch(found.units)]
    if found.replayed.points:
        counts = np.array([point.count for point in found.replayed.points], dtype=float)
        errors = np.array([max(point.distance, 1e-6) for point in found.replayed.points])
        style = points("gdln") | {"linewidth": 1.0}
        needed = [Curve(x=counts, y=errors, style=style, label="replay of so many units")]
        if found.prediction is not None:
            far, ends = found.far(found.prediction.loss), counts[[0, -1]]
            needed.append(loss_curve("theory of its gates", "theory", ends, np.full(2, far)))
        panel = Panel(x="units", y="max |ΔL|/L(0)", curves=tuple(needed), log="xy")
        made.append(Sketch.of("needed", panel, height=1.8))
    if found.law is not None:
        made.append(gate_law_sketch(found.law))
    if found.derivation is not None:
        measured = [("measured", mode) for mode in found.modes]
        made += modes_sketches(found.derivation, found.prediction, measured)
    return tuple(made)
