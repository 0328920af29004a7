"""
Loss and modes
==============

The strengths of all modes and the loss that they leave, from the closed forms of the three-context
task.
"""

import symreln as sr

derivation = sr.derive(sr.load("contextual-3"))
ax = derivation.plot()

# %%
# Every row is a mode with its exact singular values:
print(derivation.modes)
