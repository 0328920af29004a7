"""A user's own network explained: from recorded weights to gates, dynamics and what is left."""
