"""Order of learning by design: data scale, sharing, gate and width for a wanted order."""

import numpy as np
import sympy as sp

import symreln as sr

A, BROAD, NARROW = {"a": {"positive": True, "value": 1}}, [1, 1, -1, -1], [1, -1, 0, 0]
RATES = {"learning_rate": "1/100", "steps": 2501, "loss": "mean", "activation": "linear"}
HEAD = ("task", "derived to be first", "half-time earlier by", "two standard errors")


def task(x, y, *pathways, hidden=100, std="1/2000", **more):
    network = sr.network(hidden=hidden, init_std=std, **RATES)
    return sr.spec(x, y, samples="columns", pathways=pathways, network=network, **more)


def shared(k=1, a=1, **more):  # a broad target, and k rows with a narrow one of size a
    gates = sr.pathway("broad", outputs=[0]), sr.pathway("narrow", outputs=[*range(1, k + 1)])
    return task(np.eye(4), [BROAD, *k * [[f"{x}*{a}" for x in NARROW]]], *gates, **more)


def gated(m):  # one pathway open on the first m of five samples, one on the others
    gates = [m * [one] + (5 - m) * [1 - one] for one in (1, 0)]
    return task([[1] * 5], [[2, 2, 1, 1, 1]], *map(sr.pathway, ("open", "rest"), gates))


def wide(units):  # two modes of different singular values and plateaus
    gates = sr.pathway("larger", outputs=[0]), sr.pathway("smaller", outputs=[1])
    return task([[1, 0], [0, 8]], [[2, 0], [0, "1/8"]], *gates, hidden=units, std="1/512")


def first(spec, small=True):  # by singular values as weights become small, or by half-times
    modes = [m for m in sr.derive(spec).at_values.modes if m.s]
    return max(modes, key=lambda m: m.s if small else -m.half_time).pathway


def trained(page, name, spec):  # by how many steps the pathway that is derived so is first
    early = first(spec, small=False)
    found = sr.validate(spec, page.seeds, page.rng, diagnosis=False).modes
    both = sorted((m for m in found if m.subject == "gdln"), key=lambda m: m.pathway == early)
    lead = np.subtract(*([np.interp(m.plateau / 2, y, m.steps) for y in m.measured] for m in both))
    mean, error = float(lead.mean()), float(2 * lead.std(ddof=1) / page.seeds**0.5)
    return f"${name}$", early, mean, error, page.less(0, mean, error)


def confirm(page, say, text, rows):
    say(text, min(rows, key=lambda row: row[2] / row[3])[-1])  # the least certain one decides
    page.table("Half-times of gated networks, in steps.", HEAD, [row[:-1] for row in rows])


def reproduce(page):
    text = "A broad target tells items 1, 2 from 3, 4, a narrow one 1 from 2. From small weights "
    page.assume(text + "the larger singular value $s$ is first; width acts by finite $\\sigma$.")
    broad, narrow = (m.s for m in sr.derive(shared(a="a", parameters=A)).modes if m.s)
    (turn,) = sp.solve(narrow - broad)
    text = "By data scale: a narrow target of size $a$ is learned before a broad one of size 1 if "
    text += f"and only if $a$ > {page.math(turn)}."
    page.derive(text, (narrow - broad).diff().is_positive)
    many = [k for k in range(1, 6) if first(shared(k)) == "narrow"]
    text = f"By sharing: $k$ narrow rows ($k$ < 6) are before a broad one iff $k$ > {turn**2}."
    page.derive(text, many == [k for k in range(1, 6) if k > turn**2])
    some = [m for m in range(1, 5) if first(gated(m)) == "open"]
    text = "By gate: of samples with the targets 2, 2, 1, 1, 1 a pathway sees the first $m$. It is "
    text += f"learned before one that sees the others if and only if $m$ > {some[0] - 1} ($m$ < 5)."
    page.derive(text, some == [*range(some[0], 5)])
    one, two = (sr.derive(wide(8)).formula(name).half_time for name in ("pi_1_1", "pi_2_1"))
    apart = sp.lambdify(sorted(one.free_symbols, key=str), one - two)  # over pi_0 and tau
    few = [units for units in range(1, 1001) if apart(units / 2 / 512**2, 100) < 0]
    text = f"By width: two modes have half-times {page.math(one)} and {page.math(two)}, where "
    text += f"$\\pi_0 = H\\sigma^2/2$. Of $H$ up to 1000, larger $s$ is first up to {len(few)}."
    page.compute(text, few == [*range(1, len(few) + 1)])
    asked = (shared, "a", (1, 2)), (shared, "k", (1, 3)), (gated, "m", (some[0] - 1, some[0]))
    rows = [trained(page, f"{x} = {v}", f(**{x: v})) for f, x, values in asked for v in values]
    text = "Gated networks on both sides of the first three boundaries have the derived orders."
    confirm(page, page.confirm, text, rows)
    text = "Width alone reverses an order: the larger $s$ is first for $H$ = 10, not for $H$ = 500."
    confirm(page, page.beyond, text, [trained(page, f"H = {h}", wide(h)) for h in (10, 500)])
