<<<<<<< HEAD
"""A user's own network explained: from recorded weights to gates, dynamics and what is left."""
=======
"""A user's own trained ReLU network: recorded weights, and what the theory says of them."""
>>>>>>> origin/explain
