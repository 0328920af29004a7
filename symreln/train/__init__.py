"""The independent witness: one trainer for any network; it sees no formula.

Floats in, floats out. Nothing here imports a symbolic module or knows a solution, so that agreement
with a formula means something. A ``network`` is nodes, edges and gates; a ``model`` is a network
with its data; ``steps`` writes what a step of it computes as a ``program``, a list of array
operations, which ``run`` binds to chunks of seeds, here or in other processes. ``trainers`` is the
door: ReLU networks of any depth, pathways, graphs, replayed gates.
"""
