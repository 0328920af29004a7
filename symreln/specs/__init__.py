"""The door: everything that a user hands in, checked once."""
