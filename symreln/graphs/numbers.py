"""Closed forms of a chain of three edges in float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from symreln.graphs.three_edges import ThreeEdges

if TYPE_CHECKING:
    from collections.abc import Sequence


def equal_start(counts: Sequence[int], s: float, d: float, start: float) -> ThreeEdges:
    """Return the closed form of three edges that all start at one strength.

    The first and the last must be used equally often, so that they stay alike.
    """
    outer, inner = sp.Integer(counts[0]), sp.Integer(counts[1])
    whole = sp.Float(start, 30)
    delta = whole**2 * (1 / inner - 1 / outer)
    return ThreeEdges(
        total=outer**2 * inner,
        s=sp.Float(s, 30),
        d=sp.Float(d, 30),
        sign=0 if inner == outer else (-1 if inner > outer else 1),
        delta=delta,
        x0=whole / sp.sqrt(inner),
    )


def half_time(counts: Sequence[int], s: float, d: float, start: float) -> float:
    """Return when half the plateau s/d is reached from equal strengths, in units of tau.

    By the closed form; counts as in :func:`equal_start`.
    """
    form = equal_start(counts, s, d, start)
    scale, shift = float(sp.sqrt(form.total)), float(form.shift)
    # √N x(x² - delta) = s/(2d) has one root above the start, where its left side grows.
    roots = np.roots([scale, 0.0, -scale * shift, -s / (2 * d)])
    x = max(float(root.real) for root in roots if abs(root.imag) < 1e-9 * abs(root))
    return float(form.times(np.array([x]), {})[0])
