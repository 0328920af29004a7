"""Derivations for every structure size at once: the number of contexts, the number of items."""
