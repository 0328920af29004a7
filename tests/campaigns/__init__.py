"""Random specs: drawn by a seed, derived, and looked at."""
