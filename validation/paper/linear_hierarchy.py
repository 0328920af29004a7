"""Linear hierarchy: broad distinctions before fine ones (Saxe et al. 2019)."""

import symreln as sr


def first_drop(page, found):
    off = found.intervals["closed_vs_relu"].drop_time_error_steps.value
    most = found.floor.maximum.drop_time_error_steps
    page.confirm(
        "The error of the predicted first drop of the loss is not above the spread of single "
        f"networks: the mean drops {abs(off):.0f} steps off the prediction, single networks up to "
        f"{most:.0f} steps off the mean of the others.",
        abs(off) <= most,
    )


def reproduce(page):
    spec = sr.load("linear-hierarchy")
    page.assume(
        "One linear pathway, two layers of weights, small Gaussian initial weights that end up "
        "aligned with the modes (silent alignment). No number is set by hand."
    )
    derivation = sr.derive(spec)
    page.derive(
        r"Inputs are white and every split of the tree is a mode: $\Sigma^{x}$ commutes with "
        r"$(\Sigma^{yx})^\top\Sigma^{yx}$, so that the modes are independent sigmoids.",
        derivation.verdict.level is sr.Level.CLOSED,
    )
    learned = [mode for mode in derivation.modes if mode.s != 0]
    counts = [mode.multiplicity for mode in learned]
    page.derive(
        "By decreasing singular value there are as many modes as a binary tree of 8 items has "
        "distinctions, broad ones first: the mean, and 1, 2 and 4 splits.",
        counts == [1, 1, 2, 4],
    )
    times = [mode.half_time for mode in learned]
    page.compute("Half-times grow from broad to fine splits.", times == sorted(set(times)))
    rows = [(f"`{mode.label}`", mode.s, mode.multiplicity, mode.half_time) for mode in learned]
    page.table(
        "Modes, broad splits first; half-times in steps.",
        ("mode", "singular value", "multiplicity", "half-time"),
        rows,
    )
    found = page.validate(spec)
    first_drop(page, found)
    page.derive(
        "That the modes are independent is certified by `certificate.json`, and checked again in "
        "exact arithmetic.",
        all("closed" in each for each in sr.verify(page.folder / spec.source)),
    )
    closed, flow = (found.intervals[f"{kind}_vs_relu"] for kind in ("closed", "flow"))
    closed, flow = closed.max_abs_over_initial, flow.max_abs_over_initial
    page.beyond(
        "Finite steps bring closed forms nearer to the networks than gradient flow is: they are "
        f"{closed.value:.1%} of L(0) away, those of the flow {flow.value:.1%}.",
        page.less(closed.value, flow.value, closed.high - closed.value),
    )
