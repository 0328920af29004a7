"""Order of learning: why the mode of the largest singular value is not always first, or highest."""

from itertools import combinations, product

import numpy as np

import symreln as sr

FEATURES = ((2, "1/2"), ("1/4", "84/5"), ("1/2", 4))  # size of each, and its weight in its target
LARGE, TINY = ("1/4000", 1601), ("1/4000000000", 4001)  # initial scale, and steps


def task(init_std, steps):
    signs = [*product((1, -1), repeat=len(FEATURES))]
    rows = [[f"{a}*({x})" for a, (x, _) in zip(each, FEATURES, strict=True)] for each in signs]
    wanted = [[f"{x}*({w})" for x, (_, w) in zip(row, FEATURES, strict=True)] for row in rows]
    more = {"learning_rate": "1/100", "loss": "mean", "activation": "linear", "steps": steps}
    network = sr.network(hidden=400, init_std=init_std, **more)
    return sr.spec(rows, wanted, pathways=[sr.pathway("all")], network=network)


def half_times(found, subject):
    """Return the trained half-times by the mode's label."""
    own = [each for each in found.modes if each.subject == subject]
    return {m.label: float(np.interp(m.plateau / 2, m.mean, m.steps)) for m in own}


def reproduce(page):
    page.assume("Small balanced weights. Three features of different sizes, with a target each.")
    large, tiny = (sr.validate(task(*each), page.seeds, page.rng) for each in (LARGE, TINY))
    modes = large.derivation.modes
    page.derive(
        r"A mode grows as $e^{2st/\tau}$ to its plateau $s/d$, lowers the loss by $s^2/2d$, and "
        r"takes $\frac{\tau}{2s}\ln(s/d\pi_0 - 1)$ to its half: $s$ is the speed, $d$ sets the way.",
        all(step.outcome is sr.Truth.PROVEN for step in large.derivation.steps),
    )
    seen = [half_times(each, "relu") for each in (large, tiny)]
    rows = [
        (m.s, m.d, m.s / m.d, m.s**2 / m.d / 2, m.half_time, seen[0][m.label], n.half_time, seen[1][n.label])
        for m, n in zip(modes, tiny.derivation.modes, strict=True)
    ]
    print(rows)
    t = np.arange(LARGE[1])
    lines = {f"s = {m.s}, s/d = {m.s / m.d}": (t, large.derivation.to_numpy(m.label)(t)) for m in modes}
    print([step.outcome for step in large.derivation.steps])
