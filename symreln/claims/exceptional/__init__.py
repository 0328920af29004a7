"""Exceptional sets of a derivation: where in parameter space its generic answer ends."""

from symreln.claims.exceptional.sets import exceptional_sets

__all__ = ["exceptional_sets"]
