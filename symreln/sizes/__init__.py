"""What holds for every size: of the contextual task, and of the routing network."""
