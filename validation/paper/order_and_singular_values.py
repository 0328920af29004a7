"""Order of learning: why the largest singular value is not always first, or highest."""

from itertools import combinations

import numpy as np

import symreln as sr

INPUTS, TARGETS = [[2, 0, 0], [0, "1/4", 0], [0, 0, "1/2"]], [[1, 0, 0], [0, "21/5", 0], [0, 0, 2]]
NETWORK = {"hidden": 400, "learning_rate": "3/100", "loss": "mean", "activation": "linear"}


def task(init_std, steps):
    network = sr.network(init_std=init_std, steps=steps, **NETWORK)
    return sr.spec(INPUTS, TARGETS, pathways=[sr.pathway("all")], network=network)


def confronted(page, spec, subject):
    """Put modes beside networks, in the order of their half-times."""
    found = sr.validate(spec, page.seeds, page.rng)
    seen = {m.label: m for m in found.modes if m.subject == subject}
    time = {k: float(np.interp(m.plateau / 2, m.mean, m.steps)) for k, m in seen.items()}
    modes = sorted((m for m in found.derivation.at_values.modes if m.s), key=lambda m: m.half_time)
    rows = [(m.s, m.d_eff, m.s / m.d_eff, m.half_time, time[m.label]) for m in modes]
    right = [row[:4] for row in sorted(rows, key=lambda row: row[4])] == [row[:4] for row in rows]
    start = float(found.numbers.strength0)
    who = "Networks" if subject == "relu" else f"Gated networks of `{spec}`"
    page.confirm(f"{who} learn from $\\pi_0$ = {start:.2g} in the predicted order.", right)
    head = ("$s$", "$d$", "plateau $s/d$", "half-time", "in networks")
    page.table("Modes in the order of their half-times.", head, rows)
    return found.derivation, rows, start


def reproduce(page):
    page.assume("Small balanced weights. Three one-hot inputs of different sizes, a target each.")
    large, rows, high = confronted(page, task("1/4000", 1601), "relu")
    _, later, low = confronted(page, task("1/4000000000", 4001), "relu")
    page.derive(
        r"A mode grows as $e^{2st/\tau}$ to its plateau $s/d$, lowers the loss by $s^2/2d$, and "
        r"takes $\frac{\tau}{2s}\ln(s/d\pi_0 - 1)$ to its half: $s$ sets the speed, $d$ the way.",
        all(step.outcome is sr.Truth.PROVEN for step in large.steps),
    )
    t, (_, a, b) = range(1601), large.modes
    turn = float(((b.s / b.d) ** a.s / (a.s / a.d) ** b.s) ** (1 / (a.s - b.s)))
    text = f"From $\\pi_0$ > {turn:.2g} (to leading order) $s$ = {b.s} is before $s$ = {a.s}, from"
    right = low < turn < high and (rows[1][0], later[1][0]) == (b.s, a.s)
    page.derive(f"{text} smaller weights after it: then the larger singular value is first.", right)
    lines = {f"s = {m.s}": (t, large.to_numpy(m.label)(t)) for m in large.modes}
    page.plot("strengths", "Closed forms.", lines, x="step $t$", y="strength", log="y")
    modes = [m for m in sr.derive("contextual-3").at_values.modes if m.s]
    pairs = [(x, y) for x, y in combinations(modes, 2) if x.s > y.s and x.half_time > y.half_time]
    page.beyond(
        "Later stages have a head start. In `contextual-3` these modes, of larger $s$ and smaller, "
        "come to their halves at these steps: "
        + ", ".join(f"{page.math(m.s)} at {m.half_time:.0f}" for m in pairs[0])
        + ".",
        bool(pairs),
    )
    if page.full:
        confronted(page, "contextual-3", "gdln")
