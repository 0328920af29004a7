"""Theory against training: the only room that sees both."""
