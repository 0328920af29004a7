"""Why there is no derivation for every size."""

from __future__ import annotations


class NoFamilyError(Exception):
    """The spec is not the same for every size; a reason, not a mistake of the user."""
