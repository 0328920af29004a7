"""The solution families of a decoupled mode, one file each.

Every family has ``matches`` (whether it solves a mode, and why or why not), a trajectory with
``residual() == 0``, limits, direction and series, and its evaluation in float64 and in certified
balls. The two-layer balanced family is :mod:`symreln.dynamics.two_layer`; which family is taken
for a mode is decided in :mod:`symreln.dynamics.switchboard`.
"""
