"""Gates of samples that span at most a plane: sectors between rays, in order of angle."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise

import numpy as np

from symreln.exact.int64 import product, reduced_rows, shortened


def planar_prefix(values: np.ndarray) -> int:
    """Return how many of the first columns span at most a plane."""
    height, width = values.shape
    if height <= 2:
        return width
    frame: list[list[int]] = []
    for n in range(width):
        column = [int(v) for v in values[:, n]]
        for row in frame:
            place = next(k for k, v in enumerate(row) if v)
            if column[place]:
                factor, pivot = column[place], row[place]
                column = [v * pivot - w * factor for v, w in zip(column, row, strict=True)]
        if any(column):
            if len(frame) == 2:
                return n
            frame.append(column)
    return width


def planar_gates(values: np.ndarray, *, open_only: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the gates of columns that span at most a plane, and witnesses.

    Args:
        values: Whole numbers, shape (k, n), of rank at most 2.
        open_only: Whether directions orthogonal to a column that is not 0 count.

    Returns:
        Gates, bool, shape (N, n); for each a w in Z^k with gate = 1[wᵀ values > 0], shape (N, k).
    """
    frame = _frame(values)
    seen = product(frame, values)
    candidates = _candidates(reduced_rows(seen.T), open_only=open_only)
    gates = product(candidates, seen) > 0
    _, first = np.unique(gates, axis=0, return_index=True)
    if not gates.shape[1]:
        first = np.zeros(1, dtype=np.int64)
    first.sort()
    return gates[first], reduced_rows(product(shortened(candidates[first], seen), frame))


def _frame(values: np.ndarray) -> np.ndarray:
    """Return rows so that w = a·row_1 + b·row_2 takes all values on the columns."""
    height, width = values.shape
    if height <= 2:
        return np.eye(height, dtype=values.dtype)
    # Two columns that span all: orthogonal to them is orthogonal to every column.
    chosen: list[np.ndarray] = []
    for n in range(width):
        column = reduced_rows(values[:, n][None])[0]
        if column.any() and (not chosen or not _parallel(chosen[0], column)):
            chosen.append(column)
        if len(chosen) == 2:
            break
    return np.array(chosen, dtype=values.dtype).reshape(len(chosen), height)


def _parallel(a: np.ndarray, b: np.ndarray) -> bool:
    place = int(np.flatnonzero(a)[0])
    return all(int(x) * int(a[place]) == int(y) * int(b[place]) for x, y in zip(b, a, strict=True))


def _candidates(normals: np.ndarray, *, open_only: bool) -> np.ndarray:
    """Return a direction in every sector, then on every ray and 0 unless only sectors count."""
    width = normals.shape[1]
    zero = np.zeros((1, width), dtype=normals.dtype)
    used = normals[normals.any(axis=1)]
    if not len(used):
        return zero
    if width == 1:
        sectors = np.array([[1], [-1]], dtype=normals.dtype)
        return sectors if open_only else np.concatenate([sectors, zero])
    lines = _ordered(np.stack([-used[:, 1], used[:, 0]], axis=1))
    rays = np.concatenate([lines, -lines])
    if len(lines) == 1:
        sectors = np.stack([-rays[:, 1], rays[:, 0]], axis=1)
    else:
        sectors = rays + np.roll(rays, -1, axis=0)
    return sectors if open_only else np.concatenate([sectors, rays, zero])


def _ordered(lines: np.ndarray) -> np.ndarray:
    """Return distinct lines as vectors of the upper half plane, by angle; exact."""
    below = (lines[:, 1] < 0) | ((lines[:, 1] == 0) & (lines[:, 0] < 0))
    lines = np.where(below[:, None], -lines, lines)
    if lines.dtype != object and np.abs(lines).max() < 2**30:
        lines = lines[np.argsort(np.arctan2(lines[:, 1].astype(float), lines[:, 0].astype(float)))]
        lines = lines[np.append(True, (lines[1:] != lines[:-1]).any(axis=1))]
        crossed = lines[:-1, 0] * lines[1:, 1] - lines[:-1, 1] * lines[1:, 0]
        if (crossed > 0).all():
            return lines
    # Floats could not tell some of them apart.
    exact = sorted({(int(x), int(y)) for x, y in lines}, key=cmp_to_key(_turn))
    assert all(_turn(a, b) < 0 for a, b in pairwise(exact))
    return np.array(exact, dtype=lines.dtype)


def _turn(a: tuple[int, int], b: tuple[int, int]) -> int:
    crossed = a[0] * b[1] - a[1] * b[0]
    return (crossed < 0) - (crossed > 0)
