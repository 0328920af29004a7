"""Sweeps: the same confrontation for many values of a spec's keys and many seeds.

Every combination leaves one file that is whole or not there, named by all that it depends on.
"""
