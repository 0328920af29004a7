"""Routing: shared pathways learn faster, for every M and K (neural race reduction)."""

import symreln as sr


def reproduce(page):
    small = {} if page.full else {"network.hidden": 100}
    derivation = sr.derive(sr.load("routing", small))
    network = derivation.routing.network
    chain, equal = network.chain, network.speed_of_equal_weights
    many, partners = ({x.name: x for x in equal.free_symbols}[name] for name in "MK")
    a, b, c = chain.strengths
    page.assume(
        "M input and M output domains with white inputs, each trained with K partners. All pairs "
        "share one hidden edge between their input and output edges; a, b, c are the strengths of "
        "input, hidden and output edge in a mode. Edges start small, aligned, and equal by kind."
    )
    page.derive(
        "For every M and K one pathway stands for all. From a balanced start it obeys "
        rf"$\tau\dot{{\pi}}$ = {page.math(chain.rate)}, with a closed form in time. Pairs of "
        "domains that are never trained learn the same.",
        {step.outcome for step in derivation.routing.steps()} == {sr.Truth.PROVEN},
    )
    page.derive(
        f"{page.math(chain.conserved[0])} and {page.math(chain.conserved[1])} are conserved: from "
        r"a small start the shared edge becomes $\sqrt{M}$ times as strong as the outer ones.",
        all(x.subs(b**2, many * a**2).subs(c**2, a**2) == 0 for x in chain.conserved),
    )
    page.table(
        "Pathways that use an edge, and speed against unshared edges, by what is shared.",
        ("shared", "input", "hidden", "output", "speed"),
        [(", ".join(s) or "none", *x.counts, x.gain) for s, x in network.sharings().items()],
    )
    counts, curves = (2, 4, 8, 16, 32), {}
    for name, speed in (("balanced start", chain.gain), ("equal small weights", equal)):
        for k in (1, 2, 4):
            up = [float(speed.subs({many: m, partners: k})) for m in counts]
            curves[f"{name}, K = {k}"] = counts, up
    page.plot("speed", "Speed of full sharing.", curves, x="M", y="speed", log="xy")
    found = page.validate(derivation)
    apart = found.distance("theory_vs_aligned")
    page.confirm(
        "GDLNs that start aligned are trained along the predicted curve: they differ by "
        f"{apart:.0e} of L(0). Random weights, which are not aligned, delay or advance the loss.",
        apart < 1e-9,
    )
    size = {many: derivation.routing.domains, partners: derivation.routing.partners}
    limit = float(equal.subs(size))
    page.beyond(
        f"When all edges start equally small, sharing makes a mode {page.math(equal)} times as "
        f"fast: {limit:.3g} for M = 4 and K = 2, {derivation.curves.speed:.3g} as declared.",
        abs(derivation.curves.speed / limit - 1) < 0.01,
    )
