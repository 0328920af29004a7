"""Modular or mixed: why mixed selectivity learns faster (findings 2 and 3)."""

import symreln as sr

ONE = {"pathway.off.gate": "context == {context}", "pathway.off.name": "only_{context}"}
HEAD = ("C", "ReLN", "by theory", "trained", "from ReLU networks")


def head_starts(page):
    mixed, modular = (sr.derive(sr.load("contextual-C", more)) for more in ({}, ONE))
    off, only = (each.family.pathways[-1].modes[-1] for each in (mixed, modular))
    page.derive(
        "What a common pathway leaves, pathways that are off in one context (mixed) or open in one "
        "alone (modular) learn with the same $s$ and the same $d$ in effect, for every C and n.",
        off.law.s == only.law.s and off.law.d == only.law.d,
    )
    c, u = (mixed.family.symbols[name] for name in "Cu")
    page.derive(
        "Until the common pathway has learned a split, a mixed one learns it "
        f"{page.math(off.ahead.faster)} times as fast as afterwards, a modular one "
        f"{page.math(only.ahead.faster)} times: mixed is faster meanwhile, for every C > 2.",
        bool((off.ahead.faster**2 - only.ahead.faster**2).subs(c, u + 2).factor().is_positive),
    )
    rows, at = [], {"n": 8, "u": 1, "pi_0": float(mixed.regime.strength0)}
    for count in range(3, 7):
        at |= {"C": count, "tau": float(mixed.spec.network.tau(8 * count))}
        letters = [(each, at[each.name]) for each in off.half_time.free_symbols]
        rows.append((count, *(float(mode.half_time.subs(letters)) for mode in (off, only))))
    page.table("Half-times of the first split, in steps.", ("C", "mixed", "modular"), rows)


def reproduce(page):
    counts, seeds, hidden = ((3, 4, 5, 6), 4, 700) if page.full else ((3, 6), 2, 100)
    page.assume(
        f"C contexts, equal structures, {hidden} hidden units, {seeds} networks of each. ReLNs: "
        "`modular`, one pathway a context; `mixed`, a common one and one off in each; `both`."
    )
    head_starts(page)
    rows, later, ends, apart = [], [], {}, []
    net = {"network.hidden": hidden, "network.init_std": f"1/{200 * hidden}"}
    for c in counts:
        spec = sr.load("contextual-C", {"parameters.C.value": c, **net})
        raced = sr.race(spec, rivals="context", seeds=seeds, rng=page.rng)
        found = page.keep(f"C-{c}", raced).found
        for each in found.rivals:
            rows.append((c, each.name, each.theory, each.measured, each.distance_to_network))
        one, two, both = found.rivals
        times = zip(one.measured, two.measured, one.errors, two.errors, strict=True)
        later += [a - b > 2 * (e + f) for a, b, e, f in times]
        apart += [two.distance_to_network < both.distance_to_network]
        ends[f"C = {c}"] = range(c + 1), found.taken
    text = f"Trained ReLNs with mixed pathways reach {found.levels} of L(0) before modular ones"
    page.confirm(f"{text}, for C in {counts}.", all(later), finding=2, figure="ends")
    page.table("Steps to these levels, and max |ΔL|/L(0).", HEAD, rows)
    page.plot("ends", "Final weight.", ends, x="contexts open, m", y="share in ReLU networks")
    alone, most = max(up[1] for _, up in ends.values()), min(sum(u[2:-1]) for _, u in ends.values())
    text = f"ReLU networks end with {alone:.1%} of the weight or less open in one context alone"
    page.confirm(f"{text}, {most:.0%} or more in several.", alone < most, finding=3, figure="ends")
    page.beyond("ReLU networks are nearer to `mixed` than to `both` in every case.", all(apart))
