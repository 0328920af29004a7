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
    listed = [tuple(keys) for keys in items]
    holders: dict[Hashable, list[int]] = {}
    for place, keys in enumerate(listed):
        for key in keys:
            holders.setdefault(key, []).append(place)
    found: list[tuple[int, ...]] = []
    seen: set[int] = set()
    for first in range(len(listed)):
        if first not in seen:
            group = [first]
            seen.add(first)
            for place in group:  # grows while it is read
                fresh = {other for key in listed[place] for other in holders.pop(key, ())} - seen
                seen |= fresh
                group += fresh
            found.append(tuple(sorted(group)))
    return found
