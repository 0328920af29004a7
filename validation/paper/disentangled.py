"""Disentangled representations: what makes modular pathways faster than common ones."""

from fractions import Fraction
from itertools import product

import sympy as sp

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
    """Return the squares of c above which modular pathways, closed somewhere, are the fastest."""
    race = found.found.race
    above = "0" in race.at(Fraction(1)).order[0][0]
    return [m.value.to_sympy() ** 2 for m in race.boundaries if m.changes_winner and above]


def reproduce(page):
    page.assume("Small weights: the fastest pathway is first. Modular: open in one context.")
    paper = sr.race("contextual-C", by="context").found.formulas
    letters = {each.name: each for each in (paper.first * paper.residual).free_symbols}
    items = sp.Symbol("k", nonnegative=True)  # n = k + 1 items
    growth = sp.diff(paper.first**2, letters["m"]).subs(letters["n"], items + 1)
    text = "In the paper contexts are one-hot inputs of size $c$. A pathway open in $m$ of $C$ "
    text += f"contexts has the speed {page.math(paper.first)}, on the residual "
    text += f"{page.math(paper.residual)}. The first grows with $m$: modular ones are never first."
    page.derive(text, bool(growth.is_positive))
    text = "Learning rate and initial weights are in no speed: they change when pathways are "
    page.derive(text + "learned, not which is the fastest.", {*letters} == {"C", "c", "m", "n"})
    text = "Now let an input of $c$ or $-c$ tell two contexts of four items, and common features "
    text += "have the size $a$. Modular pathways are the fastest if $4c^2 > (3a^2 + 1)/(a^2 + 1)$: "
    right = [turns(race(a)) == [Fraction(3 * a**2 + 1, 4 * a**2 + 4)] for a in (1, 2, 3)]
    page.derive(text + "a strong cue, few common features. Exact at $a$ = 1, 2, 3.", all(right))
    half, known = (
        sr.derive(race(2).spec).modes[0].half_time,
        {"seeds": page.seeds, "rng": page.rng},
    )
    text = (
        "After {} half-times, $a$ = 2, the fastest pathway has the most weight at each $c$ tried. "
    )
    text += "Modular ones have {} of it where the common one is faster, {} where they are."
    kept = {}
    for name, time in (("first", 1.2), ("last", 8)):
        found = page.keep(name, race(2, int(time * half), points=2, **known))
        shares = kept[name] = {True: [], False: []}  # by whether modular pathways are the fastest
        for point in found.found.points:
            (own,) = (each.measured for each in point.classes if "0" in each.pattern)
            shares["0" in point.order[0][0]].append(own)
        told = (f"{min(shares[x]):.2f} to {max(shares[x]):.2f}" for x in (False, True))
        taken = all(point.fastest_taken for point in found.found.points)
        page.confirm(text.format(time, *told), taken, figure=name)
        page.figure(name, found, "Speeds and shares of weight over $c$; solid: the boundary.")
    text = "What is learned later takes weight from modular pathways where they are the fastest."
    page.beyond(text, max(kept["last"][True]) < min(kept["first"][True]))
