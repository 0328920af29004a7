"""The rules of gates from the data, light: who has given gates imports nothing more for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.base.lazy import lazy
from symreln.claims.solve import at_values

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.effective.found import FromData

(found,) = lazy("effective", "found")


def found_of(derivation: Derivation) -> FromData | None:
    """Return the effective network where gates come from the data; None where they are given.

    Raises:
        InputError: No unit grows in the steps of the network.
    """
    if not derivation.spec.find:
        return None
    numbers = derivation.ask(at_values)
    return found.from_data(derivation) if numbers is derivation else numbers.ask(found_of)


def timeline_of(derivation: Derivation) -> tuple[Any, ...] | None:
    """Return the timeline, an entry of derivation.json; None where gates are given."""
    known = derivation.ask(found_of)
    return None if known is None else known.timeline
