"""What hangs together: sets of items that common keys link."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


def linked(items: Iterable[Iterable[Hashable]]) -> list[tuple[int, ...]]:
    """Return the sets of items that are linked, directly or by others, by their places.

    Args:
        items: The keys of every item; two items with a common key are linked.

    Returns:
        Ascending places of every set, sets in the order of their first.

    Example:
        >>> linked(["ab", "c", "bd", "d", ""])
        [(0, 2, 3), (1,), (4,)]
    """
    groups: list[set[int]] = []
    group: dict[Hashable, int] = {}
    joined: list[int] = []

    def root(number: int) -> int:
        while joined[number] != number:
            joined[number] = joined[joined[number]]
            number = joined[number]
        return number

    for place, keys in enumerate(items):
        joined.append(place)
        groups.append({place})
        for key in keys:
            first, second = sorted((root(place), root(group.setdefault(key, place))))
            if first != second:
                joined[second] = first
                groups[first] |= groups[second]
    return [tuple(sorted(groups[n])) for n in range(len(joined)) if joined[n] == n]
