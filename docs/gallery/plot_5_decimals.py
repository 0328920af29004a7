"""
Decimals of data
================

A float is read as its decimals, so that 0.1 is 1/10. With ``exact=False`` it is the simplest
fraction that is as near as a float can tell: one third again.
"""

import matplotlib.pyplot as plt
import numpy as np

import symreln as sr

X = np.array([[1.0, 0], [0, 1]])
Y = np.array([[1 / 3], [0.1]])


def derived(targets, exact=True):
    """Derive a linear network."""
    return sr.derive(sr.spec(X, targets, pathways=[sr.pathway("all")], exact=exact))


for exact in (True, False):
    derivation = derived(Y, exact)
    print(derivation.spec.dataset.targets.to_fractions())
    print(derivation.modes[0].s)

# %%
# What rounding the targets to some digits does to the singular value s:
digits = range(1, 9)
error = [abs(derived(np.round(Y, k)).modes[0].s - derivation.modes[0].s) for k in digits]

_, ax = plt.subplots()
ax.semilogy(digits, [float(each) for each in error], "o-")
ax.set(xlabel="digits of the targets", ylabel="error of s")
