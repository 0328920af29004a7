"""
A phase diagram of XoR
======================

Speeds of the self-consistent gates over Δ, and where the fastest one changes. Both are exact.
"""

import matplotlib.pyplot as plt
import numpy as np
import sympy as sp

import symreln as sr

answer = sr.race(sr.load("xor"), over="Delta")
edges = [boundary.value.to_sympy() for boundary in answer.found.race.boundaries]
print(edges)

# %%
# Single samples grow with √(Δ² + 2)/4, whole classes with Δ/2.
delta = sp.Symbol("Delta")
values = np.linspace(0, 2, 200)
_, ax = plt.subplots()
for name, speed, style in (
    ("single samples", sp.sqrt(delta**2 + 2) / 4, "-"),
    ("whole classes", delta / 2, "--"),
):
    ax.plot(values, sp.lambdify(delta, speed)(values), style, label=name)
for edge in edges[1:]:
    ax.axvline(float(edge), color="0.6", linewidth=1)
    ax.text(float(edge), 0.02, f" ${sp.latex(edge)}$")
ax.set(xlabel="Δ", ylabel="speed, in 1/τ")
ax.legend()
