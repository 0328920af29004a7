"""Which contexts: in how many of C contexts units are open (finding 3)."""

import symreln as sr

C_1 = {"parameters.c.minimum": "1/2", "parameters.c.maximum": "3/2"}  # networks take the middle
HEAD = ("C", "fastest m on what is left", "networks", "predicted")


def speeds(page, found):
    laws, step = found.formulas, found.formulas.faster_with_m
    c, m, n = ({x.name: x for x in laws.partial.free_symbols}[name] for name in "Cmn")
    page.derive(
        f"On the targets, gates open in m contexts grow at {page.math(laws.first)} (in units of "
        r"$1/\tau$). This rises with m: open everywhere is the fastest, for every C, n and c.",
        bool(step["first stage"].subs(n, n + 1).factor().is_positive),
    )
    signs = [step[name] / (c - 1 - 2 * m) for name in ("residual", "residual, partial gate")]
    signs = [each.cancel().subs({n: n + 1, c: c + m + 1}).factor() for each in signs]
    signs.append((step["residual"].subs(m, c - 2) / (3 - c)).subs({n: n + 1, c: c + 2}).factor())
    page.derive(
        f"On what the common pathway leaves they grow at {page.math(laws.residual)}. The fastest "
        "m are next to C/2, for every C, n and c: m = C − 1, as in the published ReLN, for C ≤ 3 "
        "only. No such gate is self-consistent there (C = 3), but partial ones are, open on half "
        "of the items: for them the same m are the fastest.",
        all(bool(each.is_positive) for each in signs)
        and not any(each.self_consistent for each in found.runners),
    )
    up = {k: [(laws.residual**2).subs({c: k, m: j, n: 8}) for j in range(k)] for k in range(3, 7)}
    return {k: [j for j, each in enumerate(row) if each == max(row)] for k, row in up.items()}


def listed(numbers):
    return ", ".join(f"{round(each, 2):g}" for each in numbers)


def reproduce(page):
    page.assume("C contexts of equal structure, c = 1. Speeds: small units, constant residual.")
    three = sr.race("contextual-3", "c", by="context", stage=2)
    fastest = speeds(page, page.keep("three", three).found)
    asked, points = {"seeds": page.seeds // 2, "points": 1, "rng": page.rng}, {}
    for c in range(3, 7):
        spec = sr.load("contextual-C", {"parameters.C.value": c, **C_1})
        points[c] = sr.race(spec, "c", by="context", **asked).found.points[0]
    shares = {c: sorted(x.classes, key=lambda y: y.pattern.count("1")) for c, x in points.items()}
    ends = {c: [each.measured for each in up] for c, up in shares.items()}
    wide = {c: [each.predicted for each in up] for c, up in shares.items()}
    error = 2 * max(each.spread for up in shares.values() for each in up)
    alone, mixed = max(up[0] for up in ends.values()), min(sum(up[1:-1]) for up in ends.values())
    text = "ReLU networks of C = 3, …, 6 contexts end with more weight open in several contexts, "
    text += f"but not in all, than in one alone: at least {mixed:.0%} against at most {alone:.1%}."
    page.confirm(text, page.less(alone, mixed, error), finding=3, figure="ends")
    text = f"Share of weight at the end at m = 1, …, C ({asked['seeds']} networks)."
    rows = [(c, listed(fastest[c]), listed(ends[c]), listed(wide[c])) for c in points]
    page.table(text, HEAD, rows)
    curves = {f"C = {c}": (range(1, c + 1), up) for c, up in ends.items()}
    page.plot("ends", "Trained networks.", curves, x="contexts open, m", y="share of weight")
    page.figure("three", three, "Three contexts: speeds on what is left, for all c.")
    for c in (4, 6):
        one, most = ends[c][c // 2 - 1], max(ends[c])
        text = f"C = {c}: {one:.0%} is at the m fastest on what is left, {most:.0%} at another."
        page.beyond(text, page.less(one, most, error))
    agree = [point.agrees for point in points.values()]
    text = "Units followed from the data alone have these shares: all of them agree within "
    text += f"three standard errors (for {sum(agree)} of {len(agree)} C). Left open: a closed form."
    page.beyond(text, all(agree))
