"""Samples on which gates have little to tell apart, or cannot tell what must be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.errors import InputError
from symreln.specs.model import Dataset

if TYPE_CHECKING:
    from symreln.exact.matrix import ExactMatrix


def check_samples(dataset: Dataset) -> None:
    """Refuse data on which gates have nothing to tell apart, or cannot tell what must be.

    Raises:
        InputError: All samples have the same inputs, or two with the same inputs have different
            targets: every gate is open on both or on none, so no network fits both.
    """
    if len(set(_exact_columns(dataset.inputs))) == 1:
        msg = (
            f"dataset: all {dataset.samples} samples have the same inputs, so a gate is open on "
            "all of them or on none and there is nothing to find. Give samples that differ"
        )
        raise InputError(msg)
    pair = _unseparable(dataset)
    if pair is not None:
        msg = (
            f"dataset: samples {pair[0]} and {pair[1]} (counted from 0) have the same inputs and "
            "different targets: no gate separates them and no network fits both. Remove one "
            "of them, give both the mean of their targets, or add an input that tells them "
            "apart"
        )
        raise InputError(msg)


def _unseparable(dataset: Dataset) -> tuple[int, int] | None:
    """Return the first two samples with the same inputs and different targets, or None.

    Every gate is open on both or on none, so no network fits both.

    Args:
        dataset: X of shape (n_x, P) and Y of shape (n_y, P); compared exactly.
    """
    inputs, targets = _exact_columns(dataset.inputs), _exact_columns(dataset.targets)
    first: dict[tuple, int] = {}
    for place, sample in enumerate(inputs):
        other = first.setdefault(sample, place)
        if targets[other] != targets[place]:
            return other, place
    return None


def remarks(dataset: Dataset) -> tuple[str, ...]:
    """Return sentences on data whose gates have little to tell apart, or cannot tell what must be.

    Args:
        dataset: X of shape (n_x, P) and Y of shape (n_y, P), without parameters.
    """
    inputs = _exact_columns(dataset.inputs)
    found = []
    same = len(inputs) - len(set(inputs))
    if dataset.inputs.is_zero:
        found.append("all inputs are 0: no unit is open anywhere, and nothing can be learned")
    elif same:
        found.append(
            f"samples with the inputs of an earlier one: {same} of {len(inputs)}; every gate is "
            "open on both or on none"
        )
    pair = None if dataset.inputs.is_zero else _unseparable(dataset)
    if pair is not None:
        found.append(
            f"samples {pair[0]} and {pair[1]} (counted from 0) have the same inputs and different "
            "targets: no gate separates them and no network fits both; squared "
            "loss asks for their mean"
        )
    if dataset.targets.is_zero:
        found.append("all targets are 0: there is nothing to learn, and no gate grows")
    return tuple(found)


def _exact_columns(matrix: ExactMatrix) -> list[tuple[str, ...]]:
    """Return the columns in a form that equals only what is exactly equal."""
    return [tuple(map(str, column)) for column in zip(*matrix.rows(), strict=True)]
