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


def theory_says(page, held, loss, theory):
    drops = [k for k, step in enumerate(held.steps) if loss[step] < 0.9 * loss[0]] or [-1]
    page.compute(
        "Similarities follow from the strengths of the modes, with nothing fitted. That of an item "
        f"in two contexts, over that in one, falls: from {theory[drops[0]]:.2f} at step "
        f"{held.steps[drops[0]]}, after the first drop of L, to {theory[-1]:.2f} at the end.",
        theory[-1] < theory[drops[0]],
    )


def hidden_layer(page, relu, theory):
    least, seen = theory.min(), relu.mean[-1].min()
    apart, size = relu.mean[-1] - theory, np.linalg.norm(relu.mean[-1])
    page.beyond(
        "Predicted similarities can be negative, as open units of gated networks can; products of "
        f"ReLU units cannot. The least is {least:.2f} by theory, {seen:.2f} in ReLU networks.",
        bool(least < 0 <= seen),
    )
    rest, total = (float(np.linalg.norm(each) / size) for each in (apart - apart.mean(), apart))
    page.beyond(
        f"A part of the difference is an offset of all similarities by {apart.mean():.2f}: without "
        f"it {total:.1%} becomes {rest:.1%}.",
        page.less(rest, total, relu.floor[-1]),
    )


def reproduce(page):
    spec = sr.load("contextual-3", {} if page.full else SMALL)
    page.assume(
        "Three contexts, equal structures. Weights are balanced and aligned, so that "
        r"$W_1^\top W_1 = \sum_\alpha \pi_\alpha v_\alpha v_\alpha^\top$ in every pathway, and "
        "units keep their gates. Similarity of samples is the product of their hidden activities."
    )
    found = page.keep("networks", sr.validate(spec, page.seeds, page.rng, representations=True))
    held, labels = found.representations, spec.dataset.labels
    theory_says(page, held, found.prediction.loss, across(held.theory, labels))
    for each in held.subjects:
        name = {"relu": "ReLU networks", "gdln": "Gated networks"}[each.name]
        least = np.floor(1000 * each.correlation[held.half_way :].min()) / 1000
        page.confirm(
            f"{name} end with the predicted similarities, within {found.tolerance:.0%}: they are "
            f"{each.distance[-1]:.1%} of their size away (seeds: {each.floor[-1]:.1%}). From step "
            f"{held.steps[held.half_way]} on the correlation is at least {least:.3f}. The ratio "
            f"of two contexts to one is {across(each.mean, labels)[-1]:.2f} at the end.",
            bool(each.distance[-1] <= found.tolerance),
            figure="similarities",
        )
    page.figure(
        "similarities",
        page.folder / "networks" / "representations.svg",
        "Similarities of samples, predicted and trained.",
    )
    hidden_layer(page, held.subjects[0], held.theory[-1])
