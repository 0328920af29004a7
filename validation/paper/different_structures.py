"""Different structures: mixed against modular pathways (section 4, finding 2)."""

import symreln as sr

TASK, LEVELS = "contextual-different", (0.9, 0.5, 0.1, 0.01)
ONE = {f"pathway.off_{k}.gate": f"context == {k}" for k in (1, 2, 3)}
ALONE = {"dataset.structures": ["hierarchy", "ring", "cross"]}


def assumption(page, mixed, modular):
    seen = mixed.pathways[0].effective
    one, two = (seen.sigma_yx.T @ seen.sigma_yx).to_sympy(), seen.sigma_x.to_sympy()
    rest = (one * two - two * one).expand()
    row, column = min(rest.todok(), default=(0, 0))
    page.derive(
        r"Assumption 2.1.1 fails for the common pathway: $[(\Sigma^{yx})^\top\Sigma^{yx}, "
        rf"\Sigma^x]_{{{row + 1},{column + 1}}}$ = {page.math(rest[row, column])}, not 0. The "
        f"reduction to {mixed.level.value} is exact, and is integrated.",
        rest[row, column] != 0 and mixed.level is modular.level is sr.Level.COUPLED_MATRICES,
    )
    pairs = zip(mixed.pathways[1:], modular.pathways[1:], strict=True)
    page.derive(
        "On what the common pathway leaves, a pathway that is off in a context and one open in it "
        "alone have equal singular values: by themselves neither is faster there.",
        all([m.s for m in a.modes] == [m.s for m in b.modes] for a, b in pairs),
    )


def reproduce(page):
    mixed, modular = sr.derive(TASK), sr.derive(sr.load(TASK, ONE))
    page.assume(
        "Three contexts share 8 items: a hierarchy, a ring and a cross. The published ReLN, "
        "`mixed`, has a common pathway and, for each context, one that is off in it. Its rivals "
        "have one open in each context alone: with a common pathway (`shared`), or without it "
        "(`modular`). Gates are fixed; a later pathway starts from half of the hidden units."
    )
    assumption(page, mixed, modular)
    found = page.validate(mixed)
    relu, away = found.network.mean_loss, found.intervals["reduced_vs_relu"].max_abs_over_initial
    losses = {"mixed": mixed.evaluate().loss, "shared": modular.evaluate().loss}
    losses["modular"] = sr.derive(sr.load("contextual-3-modular", ALONE)).evaluate().loss
    losses["networks"] = relu
    # One step after the last where a loss never is at a level.
    at = {n: [int((each > a * each[0]).sum()) for a in LEVELS] for n, each in losses.items()}
    apart = {n: max(abs(each - relu)) / relu[0] for n, each in losses.items()}
    before = any(b < a for a, b in zip(at["mixed"], at["shared"], strict=True))
    page.compute(
        "By theory `shared` reaches no level of the table below before `mixed`.", not before
    )
    text = "; ".join(f"`{n}` {apart[n]:.1%}" for n in ("mixed", "shared", "modular"))
    text = f"ReLU networks are nearer to mixed than to modular pathways (of L(0) away: {text})."
    error, nearest = 2 * (away.high - away.value), min(apart["shared"], apart["modular"])
    page.confirm(text, page.less(apart["mixed"], nearest, error), finding=2, figure="rivals")
    rows = [(f"`{n}`", *at[n], each[-1] / relu[0], apart[n]) for n, each in losses.items()]
    head = ("", *(f"step to {level}" for level in LEVELS), "last loss/L(0)", "max |ΔL|/L(0)")
    page.table(f"Theory from π₀, mean of networks; {len(relu)}: never.", head, rows)
    curves = {n: (range(0, len(each), 100), each[::100] / relu[0]) for n, each in losses.items()}
    page.plot("rivals", "Losses.", curves, x="step", y="loss/L(0)", log="y", dots=["networks"])
    (drop, half), (first, later) = at["mixed"][:2], at["modular"][:2]
    page.beyond(
        f"Which is faster depends on the level: `mixed` reaches {LEVELS[0]} of L(0) first (step "
        f"{drop}, `modular` {first}), `modular` {LEVELS[1]} (step {later}, `mixed` {half}).",
        drop < first and later < half,
    )
    page.beside_published(found)
