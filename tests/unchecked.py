"""A derivation without its checks, which take longest, as a user has it."""

from __future__ import annotations

from symreln.calls.derive import Derivation
from symreln.claims import solve
from symreln.specs.spec import Spec


def derive_unchecked(spec: Spec) -> Derivation:
    return Derivation.of(solve.derive_unchecked(spec))
