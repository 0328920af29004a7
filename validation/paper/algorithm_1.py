"""Algorithm 1: gates from trained networks, and what a replay with them says (finding 5)."""

import symreln as sr

NARROW = {"network.hidden": 100, "network.init_std": "1/20000"}


def clusters(page, gates):
    runs, wanted, seen = gates.stability, gates.spec_gates, gates.coverage
    hits = runs["runs_with_all_spec_gates"]
    page.confirm(
        f"K-means over {runs['runs']} networks (K = {len(gates.centroids)}) finds every gate of "
        f"the published ReLN ({sum(not apart for apart in wanted.values())} of {len(wanted)}). Of "
        f"single networks, {hits} of {runs['runs']} give all of them.",
        not any(wanted.values()),
        finding=5,
        figure="clusters",
    )
    found = list(enumerate(gates.centroids, start=1))
    curves = {f"gate {k}": (range(len(g["centroid"])), g["centroid"]) for k, g in found}
    page.plot("clusters", "Clusters of patterns.", curves, x="sample", y="share of units open")
    text = f"Clusters; of single networks K is {' or '.join(map(str, runs['clusters']))}"
    rows = [(k, f"`{g['pattern']}`", g["share"], len(g["partial"])) for k, g in found]
    head = ("gate", "open on", "share of patterns", "samples on which 10 % to 90 % are open")
    page.table(f"{text}.", head, rows)
    error, floor, each = (gates.replay[name] for name in ("mean", "seed_floor", "each"))
    page.beyond(
        "A replay with the gates found is farther from its network than networks of other seeds "
        f"are from each other: {error:.1%} of L(0) against {floor:.1%}.",
        page.less(floor, error, max(each) - min(each)),
    )
    exact = seen["exact"][-1]
    text = f"Most of the final weight has none of the gates found: {exact:.1%} has exactly one."
    page.beyond(text, bool(exact < 0.5))


def replays(page, answer):
    found = answer.found
    own = [(windows, errors.mean) for windows, errors in found.own.items()]
    text = "The error of a replay with each unit's own gates falls with the number of windows: "
    text += ", ".join(f"{error:.1%} of L(0) with {w}" for w, error in own)
    page.confirm(f"{text}.", own == sorted(own, key=lambda each: -each[1]), figure="replay")
    windows, errors = zip(*own, strict=True)
    curves = {"each unit its own gates": (windows, errors)}
    ends = (1, windows[-1])
    curves["gates of the published ReLN"] = ends, (found.spec.mean,) * 2
    curves["networks of other seeds"] = ends, (found.seed_floor,) * 2
    caption, y = "Replay errors by number of time windows W.", "max |ΔL|/L(0)"
    page.plot("replay", caption, curves, x="W", y=y, log="xy")
    last, spread = own[-1][1], max(found.spec.each) - min(found.spec.each)
    page.beyond(
        "Gates that switch are nearer than gates that stay: every unit's own gates in "
        f"{own[-1][0]} windows are {last:.1%} away, the published ReLN's {found.spec.mean:.1%}.",
        page.less(last, found.spec.mean, spread),
    )
    rows = [
        (place, point.count, f"{point.distance:.1%}")
        for place, points in enumerate(found.units)
        for point in points
    ]
    text = "Few units in place of all, from the network's own weights where outputs are first felt."
    page.table(text, ("network", "units", "of L(0) away"), rows)


def reproduce(page):
    spec = sr.load("contextual-3", {} if page.full else NARROW)
    page.assume(
        f"Three contexts, {spec.network.hidden} hidden units. Algorithm 1: which units are open on "
        "which samples is looked at every 100 updates; patterns are clustered (K-means, K by mean "
        "silhouette); centroids above 1/2 are open. A replay trains a gated network with these "
        "gates from the initial weights of another ReLU network; each unit has the gate that it is "
        "nearest to at the end."
    )
    gates = sr.gates(spec, "kmeans", seeds=page.seeds, rng=page.rng)
    clusters(page, page.keep("gates", gates).found)
    answer = sr.replay(spec, curve=True, every=None if page.full else 20, rng=page.rng)
    replays(page, page.keep("replay", answer))
