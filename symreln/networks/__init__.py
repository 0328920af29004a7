"""Nodes, edges, gates, paths and what a path sees: its effective dataset."""
