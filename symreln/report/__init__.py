"""Findings as documents, JSON, terminal text, programs and figures."""
