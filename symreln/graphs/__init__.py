"""General gated deep linear networks: directed acyclic graphs of nodes and edges, any depth."""
