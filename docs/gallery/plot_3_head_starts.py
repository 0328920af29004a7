"""
Head starts
===========

A pathway that learns later grows before its turn: while earlier modes are not learned yet, it
sees more than its own residual. Its closed form starts from a larger strength, the head start.
"""

import matplotlib.pyplot as plt
import numpy as np

import symreln as sr

derivation = sr.derive(sr.load("contextual-3"))
strength = derivation.to_numpy("pi_2_1")  # of the first pathway of the second stage
start = float(derivation.strength0)  # of half of the units
steps = np.arange(0, 8000, 10)

_, ax = plt.subplots()
ax.plot(steps, strength(steps), label="from its head start")
ax.plot(steps, strength(steps, pitilde_2_1=start), "--", label="from the initial strength")
ax.set(xlabel="time, full-batch steps", ylabel="strength of the mode")
ax.legend()
