"""The independent witness: gradient descent on ReLU networks and gated deep linear networks.

Floats in, floats out. Nothing here imports a symbolic module or knows a solution, so that agreement
with a formula means something. Import what is needed from the modules: ``relu`` and ``gdln`` (one
hidden layer), ``deep`` (any number of them, and replayed gates), ``graph`` with ``topology`` (gated
networks as graphs), ``network``, ``record``, ``memory``.
"""
