"""Order of learning: why the largest singular value is not always first, or highest."""

from itertools import combinations

import numpy as np
import sympy as sp

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
    forms = {m.label: large.formula(m.label) for m in large.modes}
    start, tau = sorted(forms["pi_1_1"].half_time.free_symbols, key=str)
    right = [
        sp.simplify(sp.log(m.s / m.d / start - 1) / sp.log(1 + m.s / tau) / 2 - form.half_time) == 0
        and sp.limit(form.expr, sp.Symbol("t", nonnegative=True), sp.oo) == m.s / m.d
        for m, form in zip(large.modes, forms.values(), strict=True)
    ]
    page.derive(
        r"A mode has the plateau $s/d$ and the half-time $\ln(s/(d\pi_0) - 1)/(2\ln(1 + s/\tau))$: "
        "$s$ sets the speed, $s/d$ the plateau.",
        all(right),
    )
    t, (_, a, b) = range(1601), large.modes
    apart = (forms[a.label].half_time - forms[b.label].half_time).subs(
        {start: sp.exp(start), tau: sp.Rational(100, 3)}
    )
    turn = float(sp.exp(sp.nsolve(apart, start, (-38, -12), solver="bisect")))
    page.compute(
        f"From $\\pi_0$ > {turn:.2g}, $s$ = {b.s} is learned before $s$ = {a.s}. From smaller "
        "weights it is learned after it: then the larger singular value is first.",
        low < turn < high and (rows[1][0], later[1][0]) == (b.s, a.s),
    )
    lines = {f"s = {m.s}": (t, large.to_numpy(m.label)(t)) for m in large.modes}
    page.plot("strengths", "Closed forms.", lines, x="step $t$", y="strength", log="y")
    modes = [m for m in sr.derive("contextual-3").at_values.modes if m.s]
    pairs = [(x, y) for x, y in combinations(modes, 2) if x.s > y.s and x.half_time > y.half_time]
    told = " and ".join(f"{m.half_time:.0f} steps for $s$ = {page.math(m.s)}" for m in pairs[0])
    text = "Later stages have a head start: a mode of larger $s$ can be learned later. In "
    page.beyond(f"{text}`contextual-3` half-times are {told}.", bool(pairs), by="computed")
    if page.full:
        confronted(page, "contextual-3", "gdln")
