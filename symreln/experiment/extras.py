"""What a confrontation is asked for beyond itself: each an experiment of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
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


#: (What is said while it runs, what refuses derivations that it cannot be done for, the experiment)
#: by the name of the field of a validation that holds its result.
_EXTRAS: dict[str, tuple[str, Callable[[Derivation], None], Callable[..., Any]]] = {
    "rules": ("training by other rules", check_rules, _rules),
    "representations": ("recording representations", check_representations, _representations),
}


def check_extras(derivation: Derivation, names: Collection[str]) -> None:
    """Refuse, before anything is trained, what is asked for and cannot be done.

    Args:
        derivation: What is confronted.
        names: "rules", "representations", or both.

    Raises:
        NotSupportedError: One of them cannot be done for the derivation.
    """
    for name in names:
        _EXTRAS[name][1](derivation)


def with_extras(
    validation: Validation, derivation: Derivation, names: Collection[str]
) -> Validation:
    """Return a confrontation with more experiments, on the same networks as far as they can be."""
    for name in names:
        doing, _, work = _EXTRAS[name]
        with phase(doing) as report:
            found = work(validation, derivation, report)
        validation = replace(validation, **{name: found})
    return validation
