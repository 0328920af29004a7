"""Derivations as symreln wrote them, one folder each, and the command that rebuilds them."""
