"""Limits of time and memory: exact work in a child process that can be ended at any moment.

A long FLINT call cannot be interrupted by a signal that Python handles. So the command that the
user started only watches (:mod:`.supervise`): one child does the work and tells every finished
step (:mod:`.worker`, :mod:`.steps`), a second one, the witness, encloses the spectra numerically
in case the first does not finish (:mod:`.witness`). At a limit the worker is killed with all its
children and what was proven is written together with the enclosures (:mod:`.partial`).
"""
