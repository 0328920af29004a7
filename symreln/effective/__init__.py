"""Effective networks: what a ReLU network does, from the data alone."""
