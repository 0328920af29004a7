"""Exceptional sets of a derivation: where in parameter space its generic answer ends."""

from symreln.exceptional.sets import exceptional_sets

__all__ = ["exceptional_sets"]
