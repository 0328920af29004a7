"""Mode equations and reductions, one file each, and what follows from each."""
