"""Order of learning by design: data scale, sharing, gate and width for a wanted order."""

import numpy as np
import sympy as sp

import symreln as sr

A, ALL = {"a": {"positive": True, "value": 1}}, [sr.pathway("all")]
RATES = {"init_std": sp.Rational(1, 2000), "learning_rate": sp.Rational(1, 100)}
BROAD, LEFT, RIGHT = ["a", "a", "-a", "-a"], [1, -1, 0, 0], [0, 0, 1, -1]
GATED = [sr.pathway("one", "context == 1"), sr.pathway("many", "context != 1")]
# Inputs, targets, pathways and wanted order; a column a sample.
CASES = {
    "data scale": (np.eye(4), [BROAD, LEFT, RIGHT], ALL, "pi_1_1 pi_1_2"),
    "sharing": (np.eye(4), [BROAD, *4 * [LEFT], RIGHT], ALL, "pi_1_2 pi_1_1 pi_1_3"),
    "gate": ([[1, 1, 1, 1]], [["a", 1, 1, 1]], GATED, "one many"),
}


def reproduce(page):
    page.assume("Modes start together from small weights: the larger singular value is first.")
    rows = []
    for name, (*data, order) in CASES.items():
        answer = page.keep(name.replace(" ", "-"), sr.design(_spec(*data), order.split()))
        found = answer.found
        turns = " and ".join(map(page.math, found.boundaries))
        (where,) = (each.piece for each in found.achieved)
        told = ", ".join(f"`{each}`" for each in order.split())
        page.derive(
            f"By {name}: the order {told} holds for all $a$ above {page.math(where.low)} and no "
            f"others. Orders change at $a$ = {turns} alone.",
            where.high is None,
        )
        for value, derived in found.intervals:
            report = sr.validate(answer.at(value), page.seeds, page.rng)
            there = found.labels_at(value)
            times = {mode: _half_times(report, there.get(mode, mode)).mean() for mode in derived}
            told = ", ".join(f"{mode} {step:.0f}" for mode, step in times.items())
            same = tuple(sorted(times, key=times.get)) == derived
            rows.append((name, value, " > ".join(derived), told, same))
    right = sum(row[-1] for row in rows)
    text = "Gated networks trained on both sides of every boundary learn in the derived order in"
    page.confirm(f"{text} {right} of {len(rows)} cases.", right == len(rows))
    header = ("by", "$a$", "derived order", "half-times in networks", "the same")
    page.table("Order of learning between all boundaries.", header, rows)
    *scaled, _ = CASES["data scale"]
    time = sr.derive(_spec(*scaled)).formula("pi_1_1").half_time
    page.derive(f"The half-time of the broad mode, {page.math(time)}, is solved for the width.")
    values = {"a": 1, "tau": 1 / (4 * RATES["learning_rate"])}
    time = time.subs({each: values.get(each.name, each) for each in time.free_symbols})
    for wanted in (280, 320, 360):
        (start,) = sp.solve(sp.Eq(time, wanted), *time.free_symbols)
        units = int(2 * start / RATES["init_std"] ** 2)  # on average a mode starts at H σ²/2
        times = _half_times(sr.validate(_spec(*scaled, units), page.seeds, page.rng), "pi_1_1")
        taken = f"{times.mean():.0f} ± {times.std():.0f}"
        text = f"A half-time of {wanted} steps needs {units} units: networks take {taken} steps."
        page.confirm(text, abs(times.mean() - wanted) < 2 * times.std())


def _spec(x, y, pathways, units=100):
    network = sr.network(hidden=units, steps=2001, activation="linear", **RATES)
    more = {"labels": {"context": [1, 2, 3, 4]}, "pathways": pathways, "parameters": A}
    return sr.spec(x, y, samples="columns", network=network, **more)


def _half_times(report, name):
    mode = next(m for m in report.modes if m.subject == "gdln" and name in (m.label, m.pathway))
    return np.array([np.interp(mode.plateau / 2, row, mode.steps) for row in mode.measured])
