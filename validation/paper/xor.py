"""XoR with a third input: which solution is learned, for every Δ (section 3, finding 1)."""

import sympy as sp

import symreln as sr

DELTA = sp.Symbol("Delta", positive=True)


def boundaries(page, race, rates):
    parts = [part for part in race.pieces if not part.piece.is_root]
    marks = [mark for mark in race.boundaries if float(mark.value) > 0]
    at = {mark.kind: page.math(mark.value) for mark in marks}
    page.derive(
        "Speeds of gates are exact in $\\Delta$. One pathway a sample, with speed "
        f"{page.math(rates[1])}, is fastest below $\\Delta$ = {at.get('speed')}; one a class, with "
        f"speed {page.math(rates[2])}, above.",
        race.complete and [part.winners[0].count("1") for part in parts] == [1, 2, 2],
    )
    page.derive(
        f"Single-sample gates stop being self-consistent at $\\Delta$ = {at.get('existence')}, "
        "which ends the nonlinear solution altogether.",
        [{r.pattern.count("1") for r in part.runners} for part in parts[-2:]] == [{1, 2}, {2}],
    )
    return [mark.value.to_sympy() for mark in marks]


def networks(page, points):
    right = [point for point in points if point.fastest_taken]
    alone = [p for p in right if p.value > 0 and p.taken[0].count("1") == 1]
    text = f"Most of the networks' weight has the fastest gate (at {len(right)} of {len(points)} "
    text += "values of $\\Delta$); it is of the nonlinear solution also where a linear one exists, "
    text += f"$\\Delta$ > 0 (at {len(alone)})."
    holds = len(right) == len(points) and bool(alone)
    page.confirm(text, holds, finding=1, figure="race")
    told = [point.agrees for point in points if point.agrees is not None]
    page.beyond(
        "Units followed from the data alone have shares too (crosses of the figure). Networks "
        f"agree with them within three standard errors (at {sum(told)} of {len(told)} values).",
        all(told) if told else sr.Truth.UNDECIDED,
    )


def reproduce(page):
    spec = sr.load("xor")
    page.assume(
        "Four samples, a third input of size $\\Delta$ with the label. Initial weights are small: "
        "hidden units race on the frozen targets, and the fastest gate is learned first."
    )
    asked = {"seeds": page.seeds, "points": 4 if page.full else 2, "rng": page.rng}
    race = page.keep("race", sr.race(spec, over="Delta", **asked))
    found, everywhere = race.found, {4: race.found.beside[0].speed}
    speeds = {r.pattern.count("1"): r.rate for r in found.runners} | everywhere
    rates = {n: each.to_sympy().subs(sp.Symbol("Delta"), DELTA) for n, each in speeds.items()}
    marks = boundaries(page, found.race, rates)
    caption = "Speeds of gates: 1000 is one sample, 1100 a class; shares in trained networks."
    page.figure("race", race, caption)
    networks(page, found.points)
    for name in ("xor", "xor-linear"):
        page.validate(name)
    (cross,) = sp.solve(rates[4] ** 2 - rates[1] ** 2, DELTA)
    page.beyond(
        "Neither boundary is where a linear network would be the faster one: a gate open on all "
        f"samples has the speed {page.math(rates[4])}, more than one of a sample from $\\Delta$ = "
        f"{page.math(cross)} on. The inputs sum to zero, so that no ReLU unit is open on all.",
        cross not in marks and (spec.dataset.inputs.to_sympy() * sp.ones(4, 1)).is_zero_matrix,
        by="proven",
    )
