"""Disentangled representations: what makes modular pathways faster than common ones."""

from fractions import Fraction
from itertools import product

import symreln as sr

TREE = [[int(i * k // 4 == j) for k in (1, 2, 4) for j in range(k)] for i in range(4)]
NETWORK = {"hidden": 100, "init_std": "1/100000000", "learning_rate": "1/100"}


def race(size, steps=2, **more):
    """Race pathways of two contexts, cued by c or -c; their common features have a size."""
    places = [*product((1, -1), range(4))]
    rows = [[*(int(i == j) for j in range(4)), f"{sign}*c"] for sign, i in places]
    own = [[x * (sign == other) for other in (1, -1) for x in TREE[i]] for sign, i in places]
    targets = [[*(size * x for x in TREE[i]), *x] for (_, i), x in zip(places, own, strict=True)]
    known = {"network": sr.network(**NETWORK, steps=steps), "pathways": [sr.pathway("common")]}
    known["parameters"] = {"c": {"positive": True, "value": 1}}
    spec = sr.spec(rows, targets, labels={"context": [sign for sign, _ in places]}, **known)
    return sr.race(spec, "c", by="context", **more)


def turns(found):
    return [m.value.to_sympy() ** 2 for m in found.found.race.boundaries if m.changes_winner]


def reproduce(page):
    page.assume(
        "Small weights: the fastest pathway is learned first. Modular: open in one context."
    )
    paper = sr.race("contextual-C", by="context").found.formulas
    page.derive(
        "In the paper contexts are one-hot inputs of size $c$. A pathway open in $m$ of $C$ "
        f"contexts has the speed {page.math(paper.first)}, which grows with $m$. No $c$ makes "
        f"modular ones the fastest. On the residual the speed is {page.math(paper.residual)}.",
        not turns(sr.race("contextual-C", "c", by="context")),
    )
    page.derive("Smaller learning rates and weights slow all pathways, but change no speed.")
    page.derive(
        "Now let an input of $c$ or $-c$ tell two contexts of four items, and common features have "
        "the size $a$. Modular pathways are the fastest if $4c^2 > (3a^2 + 1)/(a^2 + 1)$: a strong "
        "cue, few common features. Exact at $a$ = 1, 2, 3.",
        all(turns(race(a)) == [Fraction(3 * a**2 + 1, 4 * a**2 + 4)] for a in (1, 2, 3)),
    )
    half, more = sr.derive(race(2).spec).modes[0].half_time, {"seeds": page.seeds, "rng": page.rng}
    for name, text, time in (("first", "First feature learned", 1.2), ("last", "Much later", 8)):
        found = page.keep(name, race(2, int(time * half), points=2, **more))
        shares = {"0": [], "1": []}
        for point in found.found.points:
            (own,) = (each.measured for each in point.classes if "0" in each.pattern)
            shares[point.order[0][0][-1]].append(own)
        low, high = (f"{min(x):.2f} to {max(x):.2f}" for x in (shares["1"], shares["0"]))
        page.confirm(
            f"{text} ({time} half-times, $a$ = 2): modular pathways have {low} of the weight where "
            f"the common one is faster, {high} where they are.",
            all(point.fastest_taken for point in found.found.points),
        )
        page.figure(name, found, "Speeds and shares of weight over $c$; solid: the boundary.")
