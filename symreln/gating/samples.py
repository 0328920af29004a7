"""Samples on which gates have little to tell apart, or cannot tell what must be told."""

from __future__ import annotations

from symreln.errors import InputError
from symreln.exact.matrix import ExactMatrix
from symreln.specs.spec import Dataset


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
    if said := _unseparable(dataset):
        msg = (
            f"dataset: {said}. Remove one of them, give both the mean of their targets, or add an "
            "input that tells them apart"
        )
        raise InputError(msg)


def remarks(dataset: Dataset) -> tuple[str, ...]:
    """Return sentences on data whose gates have little to tell apart, or cannot tell what must be.

    Args:
        dataset: X of shape (n_x, P) and Y of shape (n_y, P), without parameters.
    """
    inputs = _exact_columns(dataset.inputs)
    found, same = [], len(inputs) - len(set(inputs))
    if dataset.inputs.is_zero:
        found.append("all inputs are 0: no unit is open anywhere, and nothing can be learned")
    elif same:
        found.append(
            f"samples with the inputs of an earlier one: {same} of {len(inputs)}; every gate is "
            "open on both or on none"
        )
        found += filter(None, [_unseparable(dataset)])
    if dataset.targets.is_zero:
        found.append("all targets are 0: there is nothing to learn, and no gate grows")
    return tuple(found)


def _unseparable(dataset: Dataset) -> str:
    """Say which are the first two samples with the same inputs and different targets, if any."""
    first: dict[tuple[str, ...], tuple[int, tuple[str, ...]]] = {}
    both = zip(_exact_columns(dataset.inputs), _exact_columns(dataset.targets), strict=True)
    for place, (sample, target) in enumerate(both):
        other, wanted = first.setdefault(sample, (place, target))
        if wanted != target:
            return (
                f"samples {other} and {place} (counted from 0) have the same inputs and different "
                "targets: no gate separates them and no network fits both"
            )
    return ""


def _exact_columns(matrix: ExactMatrix) -> list[tuple[str, ...]]:
    """Return the columns in a form that equals only what is exactly equal."""
    return [tuple(map(str, column)) for column in zip(*matrix.rows(), strict=True)]
