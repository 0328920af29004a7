"""Recorded confrontations of theory with trained networks, and the command that records them."""
