"""Exact algebra over Q, Q(theta) and Q(parameters); knows matrices, nothing of networks."""
