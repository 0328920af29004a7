"""Different structures: mixed against modular pathways (section 4, finding 2)."""

import symreln as sr

TASK, LEVELS = "contextual-different", (0.9, 0.5, 0.1, 0.01)
ONE = {f"pathway.off_{k}.gate": f"context == {k}" for k in (1, 2, 3)}
ALONE = {"dataset.structures": ["hierarchy", "ring", "cross"]}


def reproduce(page):
    mixed, modular = sr.derive(TASK), sr.derive(sr.load(TASK, ONE))
    page.assume(
        "Three contexts share 8 items: a hierarchy, a ring and a cross. The published ReLN, "
        "`mixed`, has a common pathway and, for each context, one that is off in it. Its rivals "
        "have one that is open in each context alone: with a common pathway (`shared`), or without "
        "(`modular`). Gates are fixed; a later pathway starts from half of the hidden units."
    )
    page.derive(
        f"Assumption 2.1.1 fails for the common pathway: `{mixed.verdict.reasons[0]}`. The level "
        f"is {mixed.level.value}: the reduction is exact, and is integrated.",
        mixed.pathways[0].commutes is sr.Truth.REFUTED and mixed.level is modular.level,
    )
    pairs = zip(mixed.pathways[1:], modular.pathways[1:], strict=True)
    page.derive(
        "On what the common pathway leaves, a pathway that is off in a context and one that is "
        "open in it alone have equal singular values: by themselves neither is faster there.",
        all([m.s for m in a.modes] == [m.s for m in b.modes] for a, b in pairs),
    )
    found = page.validate(mixed)
    relu, distance = found.network.mean_loss, found.intervals["reduced_vs_relu"]
    error = distance.max_abs_over_initial.high - distance.max_abs_over_initial.value
    losses = {"mixed": mixed.evaluate().loss, "shared": modular.evaluate().loss}
    losses["modular"] = sr.derive(sr.load("contextual-3-modular", ALONE)).evaluate().loss
    losses["networks"] = relu
    at = {n: [int((each > a * each[0]).sum()) for a in LEVELS] for n, each in losses.items()}
    apart = {n: max(abs(each - relu)) / relu[0] for n, each in losses.items()}
    page.derive(
        f"By theory `mixed` is at no level later than `shared`, and is at {LEVELS[-1]} of L(0) at "
        f"step {at['mixed'][-1]}, `shared` after step {at['shared'][-1] - 1}.",
        all(a <= b for a, b in zip(at["mixed"], at["shared"], strict=True)),
    )
    page.confirm(
        f"{found.seeds} ReLU networks are {apart['mixed']:.1%} of L(0) from the ReLN with mixed "
        f"pathways, {apart['shared']:.1%} and {apart['modular']:.1%} from those with modular ones.",
        page.less(apart["mixed"], min(apart["shared"], apart["modular"]), 2 * error),
        finding=2,
        figure="rivals",
    )
    rows = [(f"`{n}`", *at[n], each[-1] / relu[0], apart[n]) for n, each in losses.items()]
    head = ("", *(f"step to {level}" for level in LEVELS), "last loss/L(0)", "max |ΔL|/L(0)")
    page.table("Predictions from π₀ and the mean of networks; 8001: never.", head, rows)
    curves = {n: (range(0, len(each), 100), each[::100] / relu[0]) for n, each in losses.items()}
    page.plot("rivals", "Losses.", curves, x="step", y="loss/L(0)", log="y", dots=["networks"])
    page.beyond(
        f"`mixed` is not the fastest at every level: `modular` drops later (steps {at['mixed'][0]} "
        f"and {at['modular'][0]}) but is halved earlier. Networks drop at {at['networks'][0]}.",
        at["modular"][0] > at["mixed"][0] and at["modular"][1] < at["mixed"][1],
    )
    page.beside_published(found)
