"""What a confrontation is asked for beyond itself: each an experiment of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from symreln.base.progress import phase
from symreln.claims.derivation import Derivation
from symreln.experiment.outcome import Validation
from symreln.experiment.representation import check_representations, compare_representations
from symreln.experiment.rules import check_rules, compare_rules
from symreln.experiment.training import ProgressCallback


def _rules(validation: Validation, derivation: Derivation, report: ProgressCallback) -> Any:
    return compare_rules(derivation, validation.seeds, validation.rng, report)


def _representations(validation: Validation, _: Derivation, report: ProgressCallback) -> Any:
    found = validation
    return compare_representations(found.numbers, found, found.seeds, found.rng, report)


@dataclass(frozen=True, kw_only=True)
class _Extra:
    """One more experiment.

    Attributes:
        name: Of the field of a validation that holds its result.
        doing: What is said while it runs.
        check: Refuses derivations that it cannot be done for.
        work: Does it.
    """

    name: str
    doing: str
    check: Callable[[Derivation], None]
    work: Callable[[Validation, Derivation, ProgressCallback], Any]


_EXTRAS = (
    _Extra(name="rules", doing="training by other rules", check=check_rules, work=_rules),
    _Extra(
        name="representations",
        doing="recording representations",
        check=check_representations,
        work=_representations,
    ),
)


def check_extras(derivation: Derivation, names: Collection[str]) -> None:
    """Refuse, before anything is trained, what is asked for and cannot be done.

    Args:
        derivation: What is confronted.
        names: "rules", "representations", or both.

    Raises:
        NotSupportedError: One of them cannot be done for the derivation.
    """
    for extra in _EXTRAS:
        if extra.name in names:
            extra.check(derivation)


def with_extras(
    validation: Validation, derivation: Derivation, names: Collection[str]
) -> Validation:
    """Return a confrontation with more experiments, on the same networks as far as they can be."""
    for extra in _EXTRAS:
        if extra.name in names:
            with phase(extra.doing) as report:
                found = extra.work(validation, derivation, report)
            validation = replace(validation, **{extra.name: found})
    return validation
