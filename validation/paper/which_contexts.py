"""Which contexts: in how many of C contexts units are open (finding 3)."""

import symreln as sr

C_1 = {"parameters.c.minimum": "1/2", "parameters.c.maximum": "3/2"}  # networks take the middle
HEAD = ("C", "fastest m on what is left", *(f"m = {m}" for m in range(1, 7)))


def speeds(page, found):
    laws, step = found.formulas, found.faster_with_m
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
        and not any(each.self_consistent for each in found.stages[-1].subsets),
    )
    up = {k: [(laws.residual**2).subs({c: k, m: j, n: 8}) for j in range(k)] for k in range(3, 7)}
    return {k: [j for j, each in enumerate(row) if each == max(row)] for k, row in up.items()}


def reproduce(page):
    page.assume(
        "C contexts of equal structure; networks at c = 1. Small units grow in a constant residual."
    )
    three = sr.race("contextual-3", by="context", seeds=page.seeds, rng=page.rng)
    fastest = speeds(page, page.keep("three", three).found)
    rows, ends, error = [], [], 0.0
    for c in range(3, 7):
        spec, seeds = sr.load("contextual-C", {"parameters.C.value": c, **C_1}), page.seeds // 2
        found = sr.race(spec, "c", by="context", seeds=seeds, points=1, rng=page.rng).found
        share = {each.pattern.count("1") // 8: each for each in found.points[0].classes}
        ends.append([share[m].measured for m in range(1, c + 1)])
        error = max(error, *(each.spread for each in share.values()))
        first = " and ".join(map(str, fastest[c]))
        rows.append((c, first, *map("{:.2f}".format, ends[-1]), *[None] * (6 - c)))
    alone, mixed = max(up[0] for up in ends), min(sum(up[1:-1]) for up in ends)
    text = "ReLU networks of C = 3, …, 6 contexts end with more weight open in several contexts, "
    text += f"but not in all, than in one alone: at least {mixed:.0%} against at most {alone:.1%}."
    page.confirm(text, page.less(alone, mixed, 2 * error), finding=3, figure="ends")
    page.table(f"Share of the weight of {seeds} networks at the end.", HEAD, rows)
    curves = {f"C = {len(up)}": (range(1, len(up) + 1), up) for up in ends}
    page.plot("ends", "Trained networks.", curves, x="contexts open, m", y="share of weight")
    page.figure("three", three, "Three contexts: weight by m while the loss decreases.")
    for c, up in ((4, ends[1]), (6, ends[3])):
        ((first,), most) = fastest[c], up.index(max(up)) + 1
        page.beyond(
            f"For C = {c} the largest share is at another m than the fastest on what is left: "
            f"m = {first}, the fastest, has {up[first - 1]:.0%}, m = {most} has {max(up):.0%}.",
            page.less(up[first - 1], max(up), 2 * error),
        )
    page.beyond(
        "Left open: speeds are those of a constant residual. How the weight is shared among the m "
        "while the residual decreases is not derived."
    )
