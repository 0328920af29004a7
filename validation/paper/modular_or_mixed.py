"""Modular or mixed: why mixed selectivity learns faster (findings 2 and 3)."""

import numpy as np

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


def reproduce(page):
    counts, seeds, hidden = ((3, 4, 5, 6), 4, 700) if page.full else ((3, 6), 2, 100)
    page.assume(
        f"C contexts, equal structures, {hidden} hidden units, {seeds} networks of each. ReLNs: "
        "`modular`, one pathway a context; `mixed`, a common one and one off in each; `both`."
    )
    head_starts(page)
    rows, found, net = [], {}, {"network.hidden": hidden, "network.init_std": f"1/{200 * hidden}"}
    for c in counts:
        spec = sr.load("contextual-C", {"parameters.C.value": c, **net})
        raced = sr.race(spec, rivals="context", seeds=seeds, rng=page.rng)
        found[c] = page.keep(f"C-{c}", raced).found
        for each in found[c].rivals:
            times = (", ".join(map(str, steps)) for steps in (each.theory, each.measured))
            rows.append((c, each.name, *times, each.distance_to_network))
    kinds, levels = [each.rivals for each in found.values()], found[c].levels
    # A level that is never reached comes after all steps.
    steps = np.nan_to_num(np.array([[r.measured for r in k] for k in kinds], float), nan=1e9)
    errors = np.maximum([np.add(k[0].errors, k[1].errors) for k in kinds], 1)
    least = ((steps[:, 0] - steps[:, 1]) / errors).min()
    text = f"Mixed ReLNs reach all levels of the table before modular ones, by {least:.0f} standard"
    page.confirm(f"{text} errors or more.", page.less(0, least, 2), finding=2, figure="steps")
    page.table(f"Steps to {', '.join(map(str, levels))} of L(0); max |ΔL|/L(0).", HEAD, rows)
    ratio = zip(levels, (steps[:, 0] / steps[:, 1]).T, strict=True)
    curves = {f"{level} of L(0)": (counts, up) for level, up in ratio}
    page.plot(
        "steps", "Steps of trained ReLNs to a level.", curves, x="C", y="steps, modular / mixed"
    )
    ends = {f"C = {c}": (range(c + 1), each.taken) for c, each in found.items()}
    one, some = zip(*((up[1], sum(up[2:-1])) for _, up in ends.values()), strict=True)
    text = "ReLU networks end with more weight open in several contexts, but not in all, than in "
    text += f"one alone: {min(some):.0%} or more against {max(one):.1%} or less over these C"
    right = page.less(max(one), min(some), max(some) - min(some))
    page.confirm(f"{text}.", right, finding=3, figure="ends")
    page.plot("ends", "Final weight.", ends, x="contexts open, m", y="share in ReLU networks")
    mixed, both = ([k[place].distance_to_network for k in kinds] for place in (1, 2))
    text = f"ReLU networks are up to {max(mixed):.1%} of L(0) from `mixed`, {max(both):.1%} from "
    page.beyond(f"{text}`both`. These distances have no errors: nothing is judged.")
