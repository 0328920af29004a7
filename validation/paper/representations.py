"""Representations over time: what hidden layers hold of the samples, predicted and trained."""

import numpy as np

import symreln as sr

NETWORK = {"hidden": 200, "init_std": "1/40000", "learning_rate": "1/500", "steps": 3001}
SMALL = {"dataset.items": 4, **{f"network.{key}": value for key, value in NETWORK.items()}}


def across(similarity, labels):
    """Return the similarity of an item in two contexts over that in one, at every step."""
    item, context = (np.array(labels[name]) for name in ("item", "context"))
    alike, one = item[:, None] == item, context[:, None] == context
    return similarity[:, alike & ~one].mean(axis=1) / similarity[:, alike & one].mean(axis=1)


def reproduce(page):
    spec = sr.load("contextual-3", {} if page.full else SMALL)
    page.assume(
        "Three contexts, equal structures. Weights are balanced and aligned, so that "
        r"$W_1^\top W_1 = \sum_\alpha \pi_\alpha v_\alpha v_\alpha^\top$ in every pathway, and "
        "hidden units keep their gates. The similarity of two samples is the product of their "
        "hidden activities."
    )
    found = page.keep("networks", sr.validate(spec, page.seeds, page.rng, representations=True))
    held, labels, loss = found.representations, spec.dataset.labels, found.prediction.loss
    first = next(k for k, step in enumerate(held.steps) if loss[step] < 0.9 * loss[0])
    theory = across(held.theory, labels)
    page.derive(
        "Similarities follow from the strengths of the modes, with nothing fitted. All contexts "
        f"look alike at first: at step {held.steps[first]}, after the first drop of the loss, an "
        f"item in two contexts is {theory[first]:.2f} times as similar as in one; at the end "
        f"{theory[-1]:.2f} times.",
        bool(theory[-1] < theory[first]),
    )
    names, half = {"relu": "ReLU networks", "gdln": "Gated networks"}, held.half_way
    for each in held.subjects:
        page.confirm(
            f"{names[each.name]}: at the end similarities are {each.distance[-1]:.1%} of their "
            f"size from the predicted ones (seeds: {each.floor[-1]:.1%}), with a correlation of "
            f"{each.correlation[half:].min():.3f} or more from step {held.steps[half]} on. An item "
            f"in two contexts is {across(each.mean, labels)[-1]:.2f} times as similar at the end.",
            bool(each.distance[-1] <= found.tolerance),
        )
    page.figure(
        "similarities",
        page.folder / "networks" / "representations.svg",
        "Similarities of samples; below, their distances as pictures over time (multidimensional "
        "scaling), and how near networks are to the prediction.",
    )
    low, seen = held.theory[-1].min(), held.subjects[0].mean[-1].min()
    page.beyond(
        f"The smallest predicted similarity is {low:.2f}. Activities of ReLU units are not "
        f"negative, so that theirs cannot be below 0 (it is {seen:.2f}). The losses are "
        f"{found.distance('theory_vs_relu'):.1%} apart all the same: outputs may agree where "
        "hidden layers differ.",
        bool(low < 0 <= seen) and found.verdict == "agrees",
    )
