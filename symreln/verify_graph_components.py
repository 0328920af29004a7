r"""The graph verifier's components: their modes, joint bases and levels; standard library alone."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

try:
    from symreln import verify
    from symreln.verify_graph_forms import check_chain
    from symreln.verify_graph_paths import Bundle, read_gains
    from symreln.verify_graph_spaces import Maps, check_diagonal, equal
    from symreln.verify_modes import read_pathway
    from symreln.verify_numbers import require, take
    from symreln.verify_reading import Data
except ImportError:  # the files alone, without the package
    import verify  # type: ignore[no-redef]
    from verify_graph_forms import check_chain  # type: ignore[no-redef]
    from verify_graph_paths import Bundle, read_gains  # type: ignore[no-redef]
    from verify_graph_spaces import Maps, check_diagonal, equal  # type: ignore[no-redef]
    from verify_modes import read_pathway  # type: ignore[no-redef]
    from verify_numbers import require, take  # type: ignore[no-redef]
    from verify_reading import Data  # type: ignore[no-redef]

CLOSED, BY_SYMMETRY, MODES, MATRICES = verify.LEVELS


def joined(paths: list[Any], maps: Maps) -> list[list[int]]:
    """Return the pathways that share an edge or a bundle, or whose bundles couple."""
    groups: list[tuple[set[int], set[Any]]] = []
    for n, path in enumerate(paths):
        links = {("edge", e) for e in path.edges} | {("bundle", path.bundle)}
        links |= {("bundle", key[1]) for key in maps if key[0] == "x" and key[2] == path.bundle}
        met = [g for g in groups if not g[1].isdisjoint(links)]
        members = {n}.union(*(g[0] for g in met))
        all_links = links.union(*(g[1] for g in met))
        groups = [*(g for g in groups if g[1].isdisjoint(links)), (members, all_links)]
    return sorted((sorted(members) for members, _ in groups), key=min)


def regular_counts(data: Data, own: list[Any], bundles: list[Bundle], maps: Maps) -> Any:
    """Return how many pathways use an edge at each place, None where they are not all alike."""
    lengths = {len(path.edges) for path in own}
    numbers = [path.bundle for path in own]
    if len(lengths) != 1 or len(set(numbers)) != len(numbers):
        return None
    uses = [Counter(path.edges[n] for path in own) for n in range(len(own[0].edges))]
    if sum(map(len, uses)) != len({e for path in own for e in path.edges}):
        return None
    if any(len(set(counter.values())) != 1 for counter in uses):
        return None
    if any(key[0] == "x" and key[1] != key[2] and key[1] in numbers for key in maps):
        return None
    first = bundles[numbers[0]]
    if not all(_alike(data, bundles[n], first) for n in numbers):
        return None
    return [next(iter(counter.values())) for counter in uses]


def _alike(data: Data, a: Bundle, b: Bundle) -> bool:
    return equal(data, a.x, b.x) and equal(data, a.yx, b.yx)


def check_component(
    data: Data,
    value: Any,
    path: str,
    members: list[int],
    paths: list[Any],
    bundles: list[Bundle],
    maps: Maps,
    whole: SimpleNamespace,
) -> tuple[str, list[int] | None]:
    """Check one component; return its level and, where it is regular, its counts."""
    v = take(value, path, "pathways counts modes diagonal chain ordinary level")
    good = v.pathways == members and all(type(n) is int for n in v.pathways)
    require(good, f"{path}.pathways", "the pathways that meet")
    own = [paths[n] for n in members]
    counts = regular_counts(data, own, bundles, maps)
    good = v.counts == counts and all(type(n) is int for n in v.counts or [])
    require(good, f"{path}.counts", "how many pathways use an edge at each place")
    edges = [e for p in own for e in p.edges]
    parallel = counts is None and len(set(edges)) == len(edges)
    parallel = parallel and all(len(p.edges) == 2 for p in own)
    require((v.ordinary is not None) == parallel, f"{path}.ordinary", "there for parallel pathways")
    require((v.modes is None) == parallel, f"{path}.modes", "null for parallel pathways")
    general = counts is None and not parallel
    require((v.diagonal is not None) == general, f"{path}.diagonal", "there in other components")
    if parallel:
        level = _ordinary(data, v.ordinary, f"{path}.ordinary", own, bundles, whole)
    else:
        numbers = list(dict.fromkeys(p.bundle for p in own))
        commutes = _modes(data, v.modes, f"{path}.modes", numbers, bundles)
        level = MATRICES
        if counts is not None and commutes:
            level = CLOSED if max(counts) == 1 else BY_SYMMETRY
        elif general:
            part = _part(maps, numbers)
            met = {end for source, target, _ in part.values() for end in (source, target)}
            sizes = {name: size for name, size in whole.ends.items() if name in met}
            outcome = check_diagonal(data, v.diagonal, f"{path}.diagonal", sizes, part)
            level = MODES if outcome == "proven" else MATRICES
    closed = counts is not None and level != MATRICES
    require((v.chain is not None) == closed, f"{path}.chain", "there where modes close")
    if counts is not None and closed:
        ratios = [data.constant(n) for n in counts]
        check_chain(v.chain, f"{path}.chain", ratios, data)
    require(v.level == level, f"{path}.level", level)
    return level, counts


def _part(maps: Maps, numbers: list[int]) -> Maps:
    """Return the maps of some bundles, in order."""
    return {key: item for key, item in maps.items() if set(key[1:]) <= set(numbers)}


def _modes(data: Data, value: Any, path: str, numbers: list[int], bundles: list[Bundle]) -> bool:
    """Check the modes of every bundle; return whether all commute."""
    good = isinstance(value, list) and len(value) == len(numbers)
    require(good, path, "one entry for every bundle")
    commutes = []
    for n, (item, number) in enumerate(zip(value, numbers, strict=True)):
        where, bundle = f"{path}[{n}]", bundles[number]
        if type(item) is int:
            good = 0 <= item < n and not isinstance(value[item], int)
            require(good, where, "an earlier bundle whose modes are shown")
            require(_alike(data, bundle, bundles[numbers[item]]), where, "one with the same data")
            continue
        p = read_pathway(data, item, where, [])
        require(_same(data, item, bundle, where), where, "the bundle's inputs, outputs and gate")
        bare = all(c.inverse_text is None and c.gram is None for c in p.classes)
        require(bare, f"{where}.classes", "without gram_inverse and inverse_d_eff")
        commutes.append(p.commutes)
    return all(commutes)


def _same(data: Data, item: Any, bundle: Bundle, path: str) -> bool:
    same = item["inputs"] == bundle.inputs and item["outputs"] == bundle.outputs
    return same and read_gains(data, item["gate"], f"{path}.gate") == bundle.gate


def _ordinary(
    data: Data, value: Any, path: str, own: list[Any], bundles: list[Bundle], whole: SimpleNamespace
) -> str:
    """Check the certificate of parallel pathways; return its level."""
    verify.verify(value)
    names = value["parameters"]
    good = [n for n in data.names if n in names] == names
    good = good and value["inputs"] == whole.inputs and value["targets"] == whole.targets
    require(good and len(value["stages"]) == 1, path, "one stage on the same data")
    listed = value["stages"][0]["pathways"]
    require(len(listed) == len(own), path, "the component's pathways")
    for item, p in zip(listed, own, strict=True):
        require(_same(data, item, bundles[p.bundle], path), path, "the component's pathways")
    return value["level"]
