"""Algorithm 1: gates from trained networks, and what a replay with them says (finding 5)."""

import symreln as sr

NARROW = {"network.hidden": 100, "network.init_std": "1/20000"}


def clusters(page, gates):
    runs, wanted, seen = gates.stability, gates.spec_gates, gates.coverage
    page.confirm(
        f"K-means over {runs.runs} networks (K = {gates.clusters}) finds every gate of the "
        f"published ReLN ({sum(g.found for g in wanted)} of {len(wanted)}). Of single networks, "
        f"{runs.runs_with_all_spec_gates} of {runs.runs} give all of them.",
        all(each.found for each in wanted),
        finding=5,
        figure="clusters",
    )
    found = list(enumerate(gates.centroids, start=1))
    curves = {f"gate {k}": (range(len(g.centroid)), g.centroid) for k, g in found}
    page.plot("clusters", "Clusters of patterns.", curves, x="sample", y="share of units open")
    text = f"Clusters; of single networks K is {' or '.join(map(str, sorted(set(runs.clusters))))}"
    rows = [(k, f"`{g.pattern}`", g.share, len(g.partial)) for k, g in found]
    head = ("gate", "open on", "share of patterns", "samples on which 10 % to 90 % are open")
    page.table(f"{text}.", head, rows)
    (errors,), floor = gates.errors.values(), gates.seed_floor
    page.beyond(
        "A replay with the gates found is farther from its network than networks of other seeds "
        f"are from each other: {errors.mean:.1%} of L(0) against {floor:.1%}.",
        page.less(floor, errors.mean, max(errors.each) - min(errors.each)),
    )
    page.beyond(
        f"Most of the final weight has none of the gates found: {seen.exact[-1]:.1%} has exactly "
        f"one of them; a network has up to {max(seen.patterns):.0f} different gates.",
        seen.exact[-1] < 0.5,
    )


def replays(page, answer):
    found = {(point.clusters, point.windows): point for point in answer.found.curve}
    own = sorted((w, p.mean) for (k, w), p in found.items() if k is None)
    text = "The error of a replay with each unit's own gates falls with the number of windows: "
    text += ", ".join(f"{error:.1%} of L(0) with {w}" for w, error in own)
    page.confirm(f"{text}.", own == sorted(own, key=lambda each: -each[1]), figure="replay")
    page.figure("replay", answer, "Replay errors by number of gates K and of time windows W.")
    most = max(w for k, w in found if k == 4)
    switch, one, many = (found[key] for key in ((4, most), (4, 1), (32, 1)))
    page.beyond(
        f"Gates that switch are nearer than more gates that stay: four in {most} windows are "
        f"{switch.mean:.1%} away, four in one {one.mean:.1%}, 32 in one {many.mean:.1%}.",
        page.less(switch.mean, many.mean, max(max(p.each) - min(p.each) for p in (switch, many))),
    )


def reproduce(page):
    spec = sr.load("contextual-3", {} if page.full else NARROW)
    page.assume(
        f"Three contexts, {spec.network.hidden} hidden units. Algorithm 1: which units are open on "
        "which samples is looked at every 100 updates; patterns are clustered (K-means, K by mean "
        "silhouette); centroids above 1/2 are open. A replay trains a gated network with these "
        "gates from the initial weights of another ReLU network."
    )
    gates = sr.gates(spec, "kmeans", seeds=page.seeds, rng=page.rng)
    clusters(page, page.keep("gates", gates).found)
    answer = sr.replay(spec, curve=True, every=None if page.full else 20, rng=page.rng)
    replays(page, page.keep("replay", answer))
