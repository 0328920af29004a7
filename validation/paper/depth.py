"""Depth: two hidden layers, trajectories that vary, and the gated network that they follow."""

import numpy as np

import symreln as sr


def reproduce(page):
    # A ninth of the width at three times the standard deviation has the same initial strengths.
    quick = {"network.hidden": 47, "network.init_std": "9/5000"}
    page.assume(
        "The C = 3 task, two hidden layers of ReLU. The published gated network holds its context "
        "paths at zero until step 12 000, starts at step 500 and scales four groups of weights by "
        "1.15, 1.1, 1.1 and 8, all by hand. Here one number is: gates that switch are read again "
        "when half of a layer's weight has left them."
    )
    spec = sr.load("depth", {} if page.full else quick)
    answer = page.depth(spec, seeds=20 if page.full else 6)
    found, drop = answer.found, answer.found.first_drop
    shown = {"finding": 4, "figure": "depth"}
    deep, shallow = (_apart(run.losses) for run in (found.relu, found.shallow))
    page.confirm(
        f"Trajectories vary more with depth: networks are up to {deep:.1%} of L(0) from their mean "
        f"with two hidden layers of {found.widths[0]} units, {shallow:.1%} with one.",
        deep > shallow,
        **shown,
    )
    page.figure("depth", answer, "Losses, and distributions of when they fall.")
    page.confirm(
        "The early phase alone, in the frozen residual and from the networks' own initial weights, "
        f"gives when each network's loss first drops: {drop.gap:+.0f} ± {drop.spread:.0f} steps "
        f"off at {np.median(drop.trained):.0f}, correlation over seeds {drop.correlation:.3f}.",
        abs(drop.gap) < drop.trained.std() and drop.correlation > 0.9,
        **shown,
    )
    never = [np.isinf(times[1]).mean() for times in _of(found.crossings, 0, 0.25, "times")]
    page.confirm(
        "The paper's fixed gates, open on unions of contexts, fit the distribution without numbers "
        f"set by hand; {never[0] if never else 1:.0%} of them never reach 0.1 of the loss.",
        not found.differ,
        **shown,
    )
    for name, low, high in (("first half", 0.5, 1), ("rest", 0, 0.5)):
        p = min(_of(found.switched_crossings, low, high, "p"), default=0.0)
        text = (
            f"Gates that switch fit the distribution of the {name} of learning (least p {p:.2g})."
        )
        page.confirm(text, p > 0.05, **shown)
    rows = [("fixed", *_row(each)) for each in found.crossings]
    rows += [("switching", *_row(each)) for each in found.switched_crossings]
    header = ("gates", "L/L(0)", "ReLU, median", "gated, median", "KS distance", "p")
    page.table("First step with a loss below a share of the first.", header, rows)
    for sentence in list(answer.remarks())[1:]:
        page.beyond(f"{sentence[0].upper()}{sentence[1:]}.")


def _apart(losses):
    return np.abs(losses - losses.mean(axis=0)).max(axis=1).mean() / losses[:, 0].mean()


def _of(crossings, low, high, name):
    return [getattr(each, name) for each in crossings if low <= each.level < high]


def _row(each):
    medians = [np.median(times) for times in each.times]
    shown = [f"{step:.0f}" if np.isfinite(step) else "never" for step in medians]
    return (each.level, *shown, each.distance, each.p)
