"""Measurements that take minutes, each a command: ``python -m tests.campaigns.NAME``."""
