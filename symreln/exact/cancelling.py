"""Expressions in lowest terms."""

from __future__ import annotations

from typing import Any

import sympy as sp


def cancelled(expr: Any) -> Any:
    """Return an expression as one quotient in lowest terms; one that is 0 in letters is 0."""
    return sp.cancel(sp.together(sp.powsimp(sp.sympify(expr, strict=True))))
