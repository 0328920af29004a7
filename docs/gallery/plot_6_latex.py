"""
A formula for a paper
=====================

Closed forms as LaTeX, and the whole derivation as a document or as a fragment.
"""

from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt
import sympy as sp

import symreln as sr

derivation = sr.derive(sr.load("xor"))
formula = sp.latex(derivation.formula("pi_1_1").expr)
print(formula)

# %%
# The same for a slide:
figure = plt.figure(figsize=(4.4, 3))
figure.text(0.5, 0.5, rf"$\pi(t) = {formula}$", ha="center", va="center", fontsize=16)

# %%
# The format ``fragment`` is a body for ``\input``, without a preamble.
# ``tex`` is a document of its own.
folder = Path(mkdtemp())
derivation.save(folder, formats=["fragment"])
(written,) = folder.glob("*.tex")
print(written.read_text()[:1500])
