"""Exact values as JSON, one spelling each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from flint import arb

from symreln.base.records import record
from symreln.claims.claim import DIGITS, Claim, decimals
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.scalar import Scalar
from symreln.specs.spec import Spec


@record(kw_only=False)
class Encoder:
    """How values become JSON.

    Attributes:
        spec: Says what its parameters are where a decimal is asked for, and their symbols.
    """

    spec: Spec

    def __call__(self, value: Any) -> Any:
        """Return a value as JSON values.

        Exact numbers become number objects, balls a decimal and its radius, formulas and fractions
        text, floats that are not finite null, claims and dataclasses objects of their values.
        """
        match value:
            case float() if not isfinite(value):
                return None
            case None | bool() | int() | float() | str():
                return value
            case Claim():
                return self(value.values())
            case AlgebraicNumber():
                return value.to_json(self.spec.values, self.spec.symbols, DIGITS)
            case Scalar():
                return self(AlgebraicNumber.rational(value))
            case arb():
                return decimals(value)
            case Fraction() | sp.Basic() | Path():
                return str(value)
            case Enum():
                return value.value
            case Mapping():
                return {str(key): self(entry) for key, entry in value.items()}
            case np.ndarray() | np.generic():
                return self(value.tolist())
            case _ if is_dataclass(value):
                return {f.name: self(getattr(value, f.name)) for f in fields(value)}
            case _:
                return [self(entry) for entry in value]

    def fields(self, value: Any, *names: str) -> dict[str, Any]:
        """Return some attributes of a value as JSON values."""
        return {name: self(getattr(value, name)) for name in names}
