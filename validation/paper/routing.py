"""Routing: shared pathways learn faster, for every M and K (neural race reduction)."""

from dataclasses import replace
from itertools import compress, product

import sympy as sp

import symreln as sr


def _half_time(uses, start=0.001, step=1e-2):
    """Return when three edges that start equal have half of the plateau 1, s = d = tau = 1."""
    w, time = [start] * 3, 0.0
    while (strength := w[0] * w[1] * w[2]) < 0.5:
        move = step / max(n * strength / x**2 for n, x in zip(uses, w, strict=True))
        pull = move * strength * (1 - strength)
        w = [x + n * pull / x for n, x in zip(uses, w, strict=True)]
        time += move
    return time


def reproduce(page):
    small = {} if page.full else {"network.hidden": 100}
    derivation = sr.derive(sr.load("routing", small))
    network = derivation.routing.network
    chain, equal = network.chain, network.speed_of_equal_weights
    many, few = ({x.name: x for x in equal.free_symbols}[name] for name in "MK")
    a, b, c = chain.strengths
    page.assume(
        "M input and M output domains with white inputs, each trained with K partners. All pairs "
        "share one hidden edge between their input and output edges; a, b, c are the strengths of "
        "input, hidden and output edge in a mode. Edges start small, aligned, and alike by kind."
    )
    page.derive(
        "For every M and K one pathway stands for all. From a balanced start it obeys "
        rf"$\tau\dot{{\pi}}$ = {page.math(chain.rate)}, with a closed form in time. Pairs of "
        "domains that are never trained learn the same.",
        {step.outcome for step in derivation.steps} == {sr.Truth.PROVEN},
    )
    hidden, last = chain.conserved
    page.derive(
        f"{page.math(hidden)} and {page.math(last)} are conserved. Where both are 0, as they are "
        "nearly after a small start, the shared edge is "
        f"{page.math(sp.solve(hidden, b)[0] / a)} times as strong as the outer ones.",
        all(chain.along(each) == 0 for each in chain.conserved) and sp.solve(last, c) == [a],
    )
    rows, names = [], ("input", "hidden", "output")
    for bits in product((False, True), repeat=3):
        uses = tuple(n if s else sp.S.One for n, s in zip(chain.counts, bits[::-1], strict=True))
        shared = ", ".join(compress(names, bits[::-1])) or "none"
        rows.append((shared, *uses, replace(chain, counts=uses).gain))
    text = "Pathways that use an edge, and speed against unshared edges, by what is shared."
    page.table(text, ("shared", *names, "speed"), rows)
    ms, curves = (2, 4, 8, 16, 32), {}
    for name, speed in (("balanced start", chain.gain), ("equal small weights", equal)):
        for k in (1, 2, 4):
            curves[f"{name}, K = {k}"] = ms, [float(speed.subs({many: m, few: k})) for m in ms]
    page.plot("speed", "Speed of full sharing.", curves, x="M", y="speed", log="xy")
    found = page.validate(derivation)
    apart, random = found.distance("descent_vs_aligned"), found.distance("theory_vs_gdln")
    page.confirm(
        "GDLNs that start aligned follow the predicted curve to rounding errors: they differ by "
        f"{apart:.0e} of L(0). From random weights, which are not aligned, they differ by "
        f"{random:.1%}.",
        apart < 1e-9,
    )
    domains, pairs = derivation.routing.domains, derivation.routing.partners
    limit = float(equal.subs({many: domains, few: pairs}))
    uses = [int(n.subs({many: domains, few: pairs})) for n in chain.counts]
    declared = _half_time([1, 1, 1]) / _half_time(uses)
    page.beyond(
        f"When all edges start equally small, sharing makes a mode {page.math(equal)} times as "
        f"fast. For M = {domains} and K = {pairs} this is {limit:.3g}, and integration "
        f"from a thousandth of the plateau, {declared:.3g}, is within 1%.",
        abs(declared / limit - 1) < 0.01,
        by="computed",
    )
