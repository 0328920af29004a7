"""A derivation from one process to another: what pickle does not know of it, FLINT's numbers.

For a child's results in a folder that only this program's parent and child see. Files of users are
never read in this way.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from flint import Ordering, fmpq, fmpz, fmpz_mat, fmpz_mpoly, fmpz_mpoly_ctx, fmpz_poly

from symreln.exact.backed import SparseBacked

if TYPE_CHECKING:
    from symreln.derivation import Derivation


def hand_over(derivation: Derivation, path: Path) -> None:
    """Write a derivation, whole or not at all."""
    unfinished = path.with_suffix(".part")
    with open(unfinished, "wb") as stream:
        _Pickler(stream, protocol=5).dump(derivation)
    unfinished.replace(path)


def take_over(path: Path) -> Derivation:
    """Return what :func:`hand_over` wrote."""
    return pickle.loads(path.read_bytes())


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """Return (function, arguments) that make the value again."""
        kind = type(value)
        if kind is MappingProxyType:
            return _read_only, (dict(value),)
        if kind is fmpz:
            return fmpz, (int(value),)
        if kind is fmpq:
            return fmpq, (int(value.p), int(value.q))
        if kind is fmpz_poly:
            return fmpz_poly, ([int(entry) for entry in value.coeffs()],)
        if kind is fmpz_mat:
            entries = [int(entry) for entry in value.entries()]
            return fmpz_mat, (value.nrows(), value.ncols(), entries)
        if kind is fmpz_mpoly:
            context = value.context()
            terms = {tuple(map(int, key)): int(entry) for key, entry in value.to_dict().items()}
            return _polynomial, (context.names(), context.ordering().name, terms)
        if kind is fmpz_mpoly_ctx:
            return _context, (value.names(), value.ordering().name)
        if kind is SparseBacked:
            names = ("shape", "parameters", "denominator", "_make", "_sparse")
            state = {name: getattr(value, name) for name in names}
            empty = {"_dense": None, "_cells": None}
            return object.__new__, (SparseBacked,), {**state, **empty}, None, None, _set_all
        return NotImplemented


def _set_all(value: Any, state: dict[str, Any]) -> None:
    for name, part in state.items():
        setattr(value, name, part)


def _read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(values)


def _context(names: tuple[str, ...], ordering: str) -> fmpz_mpoly_ctx:
    return fmpz_mpoly_ctx.get(names, Ordering[ordering])


def _polynomial(
    names: tuple[str, ...], ordering: str, terms: dict[tuple[int, ...], int]
) -> fmpz_mpoly:
    return _context(names, ordering).from_dict(terms)
