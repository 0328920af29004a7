"""Algorithm 1: gates from trained networks, and what a replay with them says (finding 5)."""

import symreln as sr

NARROW = {"network.hidden": 100, "network.init_std": "1/20000"}


def reproduce(page):
    spec = sr.load("contextual-3", {} if page.full else NARROW)
    page.assume(
        f"Three contexts, {spec.network.hidden} hidden units. Algorithm 1: which units are open on "
        "which samples is looked at every 100 updates, all patterns are clustered (K-means, K by "
        "the largest mean silhouette), and centroids above 1/2 are open. A replay trains a gated "
        "network with these gates from the initial weights of another ReLU network."
    )
    gates = page.keep("gates", sr.gates(spec, "kmeans", seeds=page.seeds, rng=page.rng)).found
    runs, seen, (errors,) = gates.stability, gates.coverage, gates.replay.errors.values()
    page.confirm(
        f"K-means over {runs.runs} networks (K = {gates.clusters}) finds all "
        f"{len(gates.spec_gates)} gates of the published ReLN. Of single networks "
        f"{runs.runs_with_all_spec_gates} of {runs.runs} give them all.",
        all(each.found for each in gates.spec_gates),
        finding=5,
        figure="replay",
    )
    page.table(
        f"Clusters. On single networks K is {', '.join(map(str, runs.clusters))}, and two of them "
        f"have a Rand index of {runs.adjusted_rand.mean:.2f}.",
        ("gate", "share of patterns", "samples of activity 0.1 to 0.9"),
        [(f"`{each.pattern}`", each.share, len(each.partial)) for each in gates.centroids],
    )
    seeds, every = (2, None) if page.full else (1, 5)
    replayed = sr.replay(spec, curve=True, seeds=seeds, every=every, rng=page.rng)
    by = {(p.clusters, p.windows): p.mean for p in page.keep("replay", replayed).found.curve}
    own, four = ({w: error for (k, w), error in by.items() if k == count} for count in (None, 4))
    most, best = max(own), min(four, key=four.get)
    page.figure("replay", replayed, "Replay errors by number of gates K and of time windows W.")
    page.confirm(
        "A ReLU network is a gated network with gates of its own: a replay with these is "
        f"{own[most]:.1%} of L(0) away in {most} time windows, {own[1]:.0%} in one.",
        own[most] == min(by.values()),
    )
    page.beyond(
        f"The gates found do not give the loss: their replay is {errors.mean:.1%} of L(0) away, "
        f"networks of other seeds {gates.replay.seed_floor:.1%}.",
        page.less(gates.replay.seed_floor, min(errors.each), max(errors.each) - min(errors.each)),
    )
    page.beyond(
        f"Gates are not constant: {seen.exact[-1]:.1%} of the final weight has exactly one of the "
        f"gates found, and a network has up to {max(seen.patterns):.0f} different ones.",
        seen.exact[-1] < 0.5,
    )
    page.beyond(
        f"Time windows help, more gates do not: the replay with four gates in {best} windows is "
        f"{four[best]:.1%} away, with four in one {four[1]:.1%}, with 32 in one {by[32, 1]:.1%}.",
        four[best] < four[1] < by[32, 1],
    )
