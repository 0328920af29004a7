"""Deep ReLU networks beside gated networks of the same depth, as distributions over seeds."""
