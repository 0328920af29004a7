"""Solution families of the mode equations, reductions that are integrated, initial strengths."""
