"""A user's own trained ReLU network: recorded weights, and what the theory says of them."""
