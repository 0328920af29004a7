"""The document model, its renderers (LaTeX, HTML, JSON), printed mathematics and figures."""
