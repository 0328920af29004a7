r"""The graph verifier's spaces and joint bases; the standard library alone.

**Spaces.** At every input and output node a basis B and a matrix N with N B = 0; with ranks that
add up to the node's size, the space of B is the kernel of N. What the correlations map into the
space is then in it exactly where N times it is 0. That it is the smallest such space is shown by
closing the images modulo a prime: no space that holds them all has a smaller dimension.

**Joint bases.** Generators G are integer matrices between nodes; every map of the component and
its transpose is shown as a combination of them, with ratios as factors. Listed products of
generators begin with the identities; every generator times every listed product is shown to be a
combination of listed ones, so that they span all products; those that return to their node are
symmetric. By the lemma of :mod:`symreln.graphs.diagonal` orthonormal bases then make all maps
diagonal. A refutation shows one product of maps that returns and is not symmetric.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

try:
    from symreln.verify_graph_linear import (
        Rows,
        coefficients,
        combination,
        primitive,
        product,
        rank,
        read_rows,
        reduced_row,
        turned,
    )
    from symreln.verify_matrices import Sparse, combined
    from symreln.verify_numbers import Ratio, integers, require, take
    from symreln.verify_reading import Data
except ImportError:  # the files alone, without the package
    from verify_graph_linear import (  # type: ignore[no-redef]
        Rows,
        coefficients,
        combination,
        primitive,
        product,
        rank,
        read_rows,
        reduced_row,
        turned,
    )
    from verify_matrices import Sparse, combined  # type: ignore[no-redef]
    from verify_numbers import Ratio, integers, require, take  # type: ignore[no-redef]
    from verify_reading import Data  # type: ignore[no-redef]

#: ("yx", b), ("x", c, b) or ("o", c, b) to (name of the source, of the target, matrix).
Maps = dict[tuple[Any, ...], tuple[str, str, Sparse]]


def _images(maps: Maps, columns: dict[str, Rows]) -> Iterator[tuple[str, Rows]]:
    """Yield (node, rows that its space must hold); ``columns`` are spaces as rows."""
    for key, (source, target, matrix) in maps.items():
        for part in coefficients(matrix):
            flipped = turned(part, matrix.shape[1])
            if key[0] == "yx":
                yield target, flipped
                yield source, part
            elif key[0] == "x" and columns[target]:  # the space of c through Sigma^x(c, b)ᵀ
                yield source, product(columns[target], part, matrix.shape[1])
            elif key[0] == "o" and columns[source]:
                yield target, product(columns[source], flipped, matrix.shape[0])


def check_spaces(value: Any, path: str, sizes: dict[str, int], maps: Maps) -> int:
    """Check the smallest spaces of input and output nodes; return the sum of their dimensions.

    Args:
        value: What the certificate says, one entry a node.
        path: Its place there.
        sizes: Units by the name of every input and output node.
        maps: All correlations.
    """
    good = isinstance(value, list) and len(value) == len(sizes)
    require(good, path, "one entry for every input and output node")
    spaces: dict[str, Rows] = {}
    outside: dict[str, Rows] = {}
    for n, (item, (name, size)) in enumerate(zip(value, sizes.items(), strict=True)):
        where = f"{path}[{n}]"
        v = take(item, where, "node basis outside")
        require(v.node == name, f"{where}.node", name)
        basis = spaces[name] = read_rows(v.basis, f"{where}.basis", None, size)
        normals = outside[name] = read_rows(
            v.outside, f"{where}.outside", size - len(basis) if len(basis) <= size else 0, size
        )
        right = rank(basis) == len(basis) and rank(normals) == size - len(basis)
        require(right, where, "independent rows, as many together as the node has units")
        apart = not any(map(any, product(normals, turned(basis, size), len(basis))))
        require(apart, where, "two spaces orthogonal to each other")
    for name, rows in _images(maps, spaces):
        inside = product(rows, turned(outside[name], sizes[name]), len(outside[name]))
        require(not any(map(any, inside)), path, f"a space of {name} that the flow does not leave")
    least = _closed(sizes, maps)
    for name, basis in spaces.items():
        require(len(least[name]) == len(basis), path, f"the smallest space of {name}")
    return sum(map(len, spaces.values()))


def _closed(sizes: dict[str, int], maps: Maps) -> dict[str, Rows]:
    """Return rows that every space must hold, independent modulo a prime."""
    found: dict[str, Rows] = {name: [] for name in sizes}
    pivots: dict[str, Any] = {name: [] for name in sizes}
    before = -1
    while before != (before := sum(map(len, found.values()))):
        for name, rows in list(_images(maps, found)):
            for row in rows:
                if reduced_row(row, pivots[name], keep=True):
                    found[name].append(row)
    return found


# -- joint bases ----------------------------------------------------------------------------------


def check_diagonal(data: Data, value: Any, path: str, sizes: dict[str, int], maps: Maps) -> str:
    """Check what is said of joint bases; return "proven", "refuted" or "undecided"."""
    require(isinstance(value, dict), path, "an object")
    outcome = value.get("outcome")
    if outcome == "undecided":
        take(value, path, "outcome")
    elif outcome == "refuted":
        v = take(value, path, "outcome word row column")
        _refuted(v, path, sizes, maps)
    else:
        v = take(value, path, "outcome generators maps products relations")
        require(outcome == "proven", f"{path}.outcome", "proven, refuted or undecided")
        generators = _generators(v.generators, f"{path}.generators", sizes)
        _combinations(data, v.maps, f"{path}.maps", generators, maps)
        _products(v, path, sizes, generators)
    return outcome


def _refuted(v: Any, path: str, sizes: dict[str, int], maps: Maps) -> None:
    require(isinstance(v.word, list) and v.word, f"{path}.word", "a list of maps")
    total: Rows | None = None
    start = end = ""
    for item in reversed(v.word):
        good = isinstance(item, list) and len(item) > 2 and type(item[-1]) is bool
        require(good and tuple(item[:-1]) in maps, f"{path}.word", "[kind, bundles, transposed]")
        source, target, matrix = maps[tuple(item[:-1])]
        constant = len(matrix.terms) == 1 and len(matrix.below) == 1
        constant = constant and not any((*next(iter(matrix.terms)), *next(iter(matrix.below))))
        require(constant, f"{path}.word", "maps without parameters")
        (part,) = coefficients(matrix)
        if item[-1]:
            source, target, part = target, source, turned(part, matrix.shape[1])
        if total is None:
            start, total = source, part
        else:
            require(source == end, f"{path}.word", "maps one after the other")
            total = product(part, total, sizes[start])
        end = target
    assert total is not None
    most = sizes[start] - 1
    row, column = integers([v.row, v.column], path, most)
    differs = start == end and total[row][column] != total[column][row]
    require(differs, path, "a product that returns to its node and is not symmetric there")


def _generators(value: Any, path: str, sizes: dict[str, int]) -> list[tuple[str, str, Rows]]:
    require(isinstance(value, list), path, "a list")
    found = []
    for n, item in enumerate(value):
        where = f"{path}[{n}]"
        g = take(item, where, "source target rows")
        known = type(g.source) is str is type(g.target) and {g.source, g.target} <= sizes.keys()
        require(known, where, "a matrix between nodes")
        rows = read_rows(g.rows, where, sizes[g.target], sizes[g.source])
        found.append((g.source, g.target, rows))
    return found


def _combinations(data: Data, value: Any, path: str, generators: Any, maps: Maps) -> None:
    """Check that every map and its transpose is a combination of generators."""
    needed = [(key, flip) for key in maps for flip in (False, True)]
    good = isinstance(value, list) and len(value) == len(needed)
    require(good, path, "one entry for every map and its transpose")
    one = data.constant(1)
    for n, (item, (key, flip)) in enumerate(zip(value, needed, strict=True)):
        where = f"{path}[{n}]"
        source, target, matrix = maps[key]
        if flip:
            source, target, matrix = target, source, matrix.flipped
        require(isinstance(item, list), where, "a list of [number, generator]")
        parts = [(one * -1, matrix.packed())]
        for part in item:
            require(isinstance(part, list) and len(part) == 2, where, "[number, generator]")
            (place,) = integers(part[1:], where, len(generators) - 1)
            start, end, rows = generators[place]
            require((start, end) == (source, target), where, "generators with the map's ends")
            parts.append((data.ratio(part[0], where), _constant(data, rows, matrix.shape).packed()))
        require(not combined(parts), where, f"{key} as a combination of generators")


def _constant(data: Data, rows: Rows, shape: tuple[int, int]) -> Sparse:
    table = {i: {j: entry for j, entry in enumerate(row) if entry} for i, row in enumerate(rows)}
    terms = {data.unit: {i: row for i, row in table.items() if row}}
    return Sparse(shape, terms, {data.unit: 1})


def _products(v: Any, path: str, sizes: dict[str, int], generators: Any) -> None:
    """Check that the listed products span all, and that those that return are symmetric."""
    where = f"{path}.products"
    require(isinstance(v.products, list), where, "a list")
    known = [
        (name, name, [[int(i == j) for j in range(size)] for i in range(size)])
        for name, size in sizes.items()
    ]
    origins = set()
    for item in v.products:
        require(isinstance(item, list) and len(item) == 2, where, "[generator, product]")
        (g,), (p,) = integers(item[:1], where, len(generators) - 1), integers(
            item[1:], where, len(known) - 1
        )  # fmt: skip
        require(generators[g][0] == known[p][1], where, "a generator after a product")
        rows = product(generators[g][2], known[p][2], sizes[known[p][0]])
        known.append((known[p][0], generators[g][1], primitive(rows)))
        origins.add((g, p))
    for source, target, rows in known:
        symmetric = source != target or rows == turned(rows, sizes[source])
        require(symmetric, where, "symmetric where a product returns to its node")
    pairs = [
        (g, p)
        for g, (start, _, _) in enumerate(generators)
        for p, (_, end, _) in enumerate(known)
        if start == end and (g, p) not in origins
    ]
    where = f"{path}.relations"
    good = isinstance(v.relations, list) and len(v.relations) == len(pairs)
    require(good, where, "one entry for every generator and product")
    for item, (g, p) in zip(v.relations, pairs, strict=True):
        ends = known[p][0], generators[g][1]
        found = product(generators[g][2], known[p][2], sizes[ends[0]])
        parts = [(Fraction(-1), found)]
        require(isinstance(item, list), where, "lists of [numerator, denominator, product]")
        for part in item:
            good = isinstance(part, list) and list(map(type, part)) == [int] * 3 and part[1] > 0
            good = good and 0 <= part[2] < len(known) and known[part[2]][:2] == ends
            require(good, where, "[numerator, denominator, product] with the same ends")
            parts.append((Fraction(part[0], part[1]), known[part[2]][2]))
        require(not any(map(any, combination(parts))), where, "a combination of the products")


def equal(data: Data, a: Sparse, b: Sparse) -> bool:
    """Return whether two matrices are equal."""
    one: Ratio = data.constant(1)
    same = a.shape == b.shape
    return same and not combined([(one, a.packed()), (one * -1, b.packed())])
