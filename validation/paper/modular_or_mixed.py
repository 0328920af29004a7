"""Modular or mixed: why mixed selectivity learns faster (findings 2 and 3)."""

import numpy as np

import symreln as sr

ONE = {"each": "context", "name": "only", "gate": "context == {context}"}
OFF = {**ONE, "name": "off", "gate": "context != {context}", "inputs": "items", "stage": 2}
COMMON, HEAD = {"name": "common"}, ("C", "ReLN", "by theory", "trained")
KINDS = {"modular": [ONE], "mixed": [COMMON, OFF], "both": [COMMON, OFF, ONE]}
LEVELS = (0.9, 0.5, 0.1, 0.01)


def task(c, hidden, pathways):
    data = {"task": "contextual", "items": 8, "contexts": c, "structures": "hierarchy"}
    net = {"hidden": hidden, "init_std": f"1/{200 * hidden}", "learning_rate": "1/1000"}
    return sr.load({"dataset": data, "pathway": pathways, "network": {**net, "steps": 8001}})


def times(loss):  # the number of steps where a loss never is at a level
    return np.array([(loss > level * loss[0]).sum() for level in LEVELS])


def head_starts(page):
    more = {f"pathway.off.{key}": ONE[key] for key in ("gate", "name")}
    mixed, modular = (sr.derive(sr.load("contextual-C", each)) for each in ({}, more))
    off, only = (each.family.modes[-1] for each in (mixed, modular))
    text = "What a common pathway leaves, pathways off in one context (mixed) or open in one alone "
    text += "(modular) learn with the same $s$ and the same $d$ in effect, for every C and n."
    page.derive(text, off.law.s == only.law.s and off.law.d == only.law.d)
    c, u = (mixed.family.task.symbols[name] for name in "Cu")
    one, two = (each.faster for each in (off, only))
    text = f"Until the common pathway has learned a split, a mixed one learns it {page.math(one)} "
    text += f"times as fast as afterwards, a modular one {page.math(two)} times: mixed is faster "
    more = (one**2 - two**2).subs(c, u + 2).factor().is_positive
    page.derive(f"{text}meanwhile, for every C > 2.", bool(more))


def reproduce(page):
    counts, seeds, hidden = ((3, 4, 5, 6), 4, 700) if page.full else ((3, 6), 2, 100)
    page.assume(f"C contexts, equal structures, {hidden} hidden units, {seeds} networks of each.")
    page.assume("ReLNs: `modular`, one pathway a context; `mixed`, one off in each, one common.")
    head_starts(page)
    rows, ends, at = [], {}, {name: [] for name in KINDS}
    for c in counts:
        raced = sr.race(task(c, hidden, [COMMON]), by="context", seeds=seeds, rng=page.rng)
        classes = page.keep(f"C-{c}", raced).found.points[0].classes  # m = C is the first
        ends[f"C = {c}"] = range(1, c + 1), [each.measured for each in classes[::-1]]
        for name, pathways in KINDS.items():
            own = [{**each, "hidden": hidden // 2} for each in pathways]  # gated networks alone
            run = sr.validate(task(c, hidden, own), seeds, page.rng, diagnosis=False)
            mean, losses, theory = run.gdln.mean_loss, run.gdln.losses, run.prediction.reduced
            at[name].append([*times(mean), *np.std([*map(times, losses)], 0, ddof=1)])
            rows.append((c, name, times(theory).tolist(), times(mean).tolist()))
    slow, fast = (np.array(at[name]) for name in ("modular", "mixed"))
    least = ((slow - fast)[:, :4] / np.maximum((slow + fast)[:, 4:8] / seeds**0.5, 1)).min()
    text = f"Mixed ReLNs reach all levels of the table before modular ones, by {least:.0f} standard"
    page.confirm(f"{text} errors or more.", page.less(0, least, 2), finding=2, figure="steps")
    page.table(f"Steps to {', '.join(map(str, LEVELS))} of L(0).", HEAD, rows)
    curves = {f"{x} of L(0)": (counts, slow[:, k] / fast[:, k]) for k, x in enumerate(LEVELS)}
    page.plot("steps", "Steps to a level.", curves, x="C", y="steps, modular / mixed")
    one, up = zip(*((each[0], sum(each[1:-1])) for _, each in ends.values()), strict=True)
    text = "ReLU networks end with more weight open in several contexts, but not in all, than in "
    text += f"one alone: {min(up):.0%} or more against {max(one):.1%} or less over these C."
    page.confirm(text, page.less(max(one), min(up), max(up) - min(up)), finding=3, figure="ends")
    page.plot("ends", "Final weight.", ends, x="contexts open, m", y="share in ReLU networks")
