"""Limits of time and memory: exact work in a child process that can be ended at any moment.

A long FLINT call cannot be interrupted by a signal that Python handles. So the command that the
user started only watches (:mod:`.supervise`): one child does the work (:mod:`.worker`) and writes
down every finished step (:mod:`symreln.report.steps`). At a limit it is killed with all its
children, and this process writes what the finished steps prove
(:mod:`symreln.report.partial_json`).
"""
