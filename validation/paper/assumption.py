"""Assumption 2.1.1, mutual diagonalisability: where it holds, and what follows where it fails."""

import symreln as sr

INPUTS = [["r", 1], ["r", -1], ["-r", 1], ["-r", -1]]
NET = {"hidden": 400, "init_std": "1/4000", "learning_rate": "1/200", "steps": 1201, "loss": "mean"}
KNOWN = {"pathways": [sr.pathway("all")], "parameters": {"r": {"positive": True, "value": 2}}}


def violates(spectrum):
    m = spectrum.sigma_yx.T @ spectrum.sigma_yx
    return not (m @ spectrum.sigma_x - spectrum.sigma_x @ m).is_zero


def row_of(name):
    found = sr.derive(name)
    own = [p.spectrum for p in found.pathways]
    sizes = [s.commutator.relative_norm_squared for s in own if not s.commutes]
    sizes = [float(each.substitute(found.spec.values).to_fraction()) ** 0.5 for each in sizes]
    row = f"`{name}`", len(own), len(sizes), max(sizes, default=0.0), found.level.value
    return row, all(s.commutes is not violates(s) for s in own)


def reproduce(page):
    page.assume(
        r"$\Sigma^{yx} = U S V^\top$ and $\Sigma^{x} = V D V^\top$ with the same $V$. It exists if "
        r"and only if $\Sigma^{x}$ commutes with $M = (\Sigma^{yx})^\top\Sigma^{yx}$."
    )
    rows, same = zip(*map(row_of, sr.tasks()), strict=True)
    not_so = ", ".join(row[0] for row in rows if row[2])
    page.derive(
        f"Of all {len(rows)} ready-made tasks {not_so} violate it and the others satisfy it, as "
        r"every spectrum says and $[M, \Sigma^{x}]$ multiplied out beside it.",
        all(same),
    )
    head = ("task", "pathways", "that violate it", r"$\|[M,\Sigma^x]\|/\|M\Sigma^x\|$", "level")
    page.table("Decided exactly. The size is the largest over pathways.", head, rows)
    net = sr.network(**NET, activation="linear")
    sizes, both = [[f"{a}/4", 2 * b] for a, b in INPUTS], [f"{a} + {b}" for a, b in INPUTS]
    reverse, mixed = (sr.derive(sr.spec(INPUTS, y, **KNOWN, network=net)) for y in (sizes, both))
    s, d = ([getattr(m, key) for m in reverse.at_values.modes] for key in "sd")
    pairs = " and ".join(f"({one}, {other})" for one, other in zip(s, d, strict=True))
    page.derive(
        "In the authors' counter-example the right singular vectors come in the reverse order of "
        f"those of $\\Sigma^x$: here $(s, d)$ is {pairs}. The matrices commute, so the "
        "assumption holds. What fails is to pair sorted $s$ with sorted $d$.",
        reverse.pathways[0].commutes,
    )
    loss = page.validate(reverse.spec, "reversed").network.losses
    taken = [sum(a**2 / b for a, b in zip(s, x, strict=True)) for x in (sorted(d)[::-1], d)]
    wrong, last = 1 - float(taken[0] / taken[1]), (loss[:, -1] / loss[:, 0]).max()
    text = f"Less of the loss stays ({last:.2%}) than sorted pairing predicts ({wrong:.0%})."
    page.confirm(text, bool(last < wrong))
    roots = ", ".join(page.math(root) for each in mixed.exceptional.sets for root in each.roots)
    fails = mixed.pathways[0].commutes is sr.Truth.REFUTED
    page.derive(
        f"One target that adds features of sizes $r$ and 1 violates it if $r \\neq$ {roots}.", fails
    )
    found = page.validate(mixed.spec, "sum-of-features").intervals
    cost, near = (found[f"{x}_vs_gdln"].max_abs_over_initial for x in ("modes", "theory"))
    page.beyond(
        f"Where it fails, the matrix reduction is closer to gated networks ({near.value:.1%} of "
        f"$L(0)$) than modes that keep their directions ({cost.value:.1%}).",
        cost.low > near.high,
    )
