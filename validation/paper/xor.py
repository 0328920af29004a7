"""XoR with a third input: which solution is learned, for every Δ (section 3, finding 1)."""

import symreln as sr


def reproduce(page):
    spec = sr.load("xor")
    page.assume(
        "Four samples, a third input of size $\\Delta$ with the label. Initial weights are "
        "small, so that hidden units race on the frozen targets; the fastest gate is learned first."
    )
    race = page.keep(
        "race", sr.race(spec, over="Delta", seeds=page.seeds, points=4 if page.full else 2)
    )
    found = race.found.race
    speeds = [mark for mark in found.boundaries if mark.kind == "speed" and mark.changes_winner]
    ends = [mark for mark in found.boundaries if mark.kind == "existence"]
    last = max(ends, key=lambda mark: float(mark.value))
    page.derive(
        "Speeds of gates are exact in $\\Delta$. One pathway a sample is fastest below "
        f"$\\Delta$ = {page.math(speeds[0].value)}, one a class above.",
        found.complete and len(speeds) == 1,
    )
    page.derive(
        "Single-sample gates stop being self-consistent at "
        f"$\\Delta$ = {page.math(last.value)}, which ends "
        "the nonlinear solution altogether.",
        bool(ends),
    )
    points = race.found.points
    page.figure("race", race, "Speeds, boundaries, and shares of trained networks.")
    right = [point for point in points if point.fastest_taken]
    page.confirm(
        f"Networks trained at {len(points)} values of $\\Delta$ on both sides of each boundary "
        f"take the fastest gate at {len(right)} of them; below the first boundary that is the "
        "nonlinear solution, although a linear one exists for every $\\Delta > 0$.",
        len(right) == len(points),
        finding=1,
        figure="race",
    )
    page.validate(spec)
    page.validate(sr.load("xor-linear"))
    page.beyond(
        "There are two boundaries, not one, and neither is where a linear network would overtake: "
        "the always-open gate is the fastest from $\\Delta = \\sqrt{2/15}$ on, but no ReLU unit "
        "can have it. Shares near the boundary at finite initial weights are predicted too "
        "(lines of the figure), with nothing fitted."
    )
