"""The document model and printed mathematics: they know nothing of derivations."""
