"""What the program checks of its own derivation."""

from __future__ import annotations


def derivation_steps(derivation):
    return ()
