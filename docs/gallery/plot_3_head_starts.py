"""
Head starts
===========

A pathway that learns later grows before its turn: while earlier modes are not learned yet, it sees more
than its own residual. Its closed form starts from a larger strength, the head start.
"""

import matplotlib.pyplot as plt
import numpy as np

import symreln as sr

derivation = sr.derive(sr.load("contextual-3"))
later = next(row.label for row in derivation.modes if row.stage == 2 and row.half_time is not None)
steps = np.arange(0, 6000, 10)
formula = derivation.to_numpy(later)

_, ax = plt.subplots()
ax.plot(steps, formula(steps), label="from its head start")
ax.plot(
    steps,
    formula(steps, **{"pi_0_later": 1e-9}) if "pi_0_later" in formula.letters else formula(steps),
    "--",
    label="without",
)
ax.set(xlabel="step", ylabel="strength")
ax.legend()
