"""Checks over many random cases, each a command that prints its figures."""
