"""Linear hierarchy: broad distinctions before fine ones (Saxe et al. 2019)."""

import symreln as sr


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
    rows = [(f"`{mode.label}`", mode.s, mode.multiplicity, mode.half_time) for mode in learned]
    page.table(
        "Modes, broad splits first; half-times in steps.",
        ("mode", "singular value", "multiplicity", "half-time"),
        rows,
    )
    times = [mode.half_time for mode in learned]
    page.derive("Half-times grow from the root to the leaves.", times == sorted(times))
    found = page.validate(spec)
    late = max(abs(found.intervals["closed_vs_relu"].drop_time_error_steps.value), 0)
    page.confirm(
        f"The first drop of the loss is predicted to {late} steps; linear networks of different "
        f"seeds differ by {found.floor.mean.drop_time_error_steps:.2g}.",
        late <= found.floor.maximum.drop_time_error_steps,
    )
    page.beyond(
        "The printed formulas are the finite-step ones of gradient descent, certified by "
        "`certificate.json`; the error of gradient flow beside them is "
        f"{found.metrics['flow_vs_relu'].max_abs_over_initial:.1%} of the first loss."
    )
