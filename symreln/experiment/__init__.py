"""Theory against training."""
