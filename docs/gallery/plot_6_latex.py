"""
A formula for a paper
=====================

Closed forms as LaTeX, and the whole derivation as a document or as a fragment.
"""

from pathlib import Path
from tempfile import mkdtemp

import sympy as sp

import symreln as sr

derivation = sr.derive(sr.load("xor"))
print(sp.latex(derivation.formula("pi_1_1").expr))

# %%
# The format ``fragment`` is a body for ``\input``, without a preamble.
# ``tex`` is a document of its own.
folder = Path(mkdtemp())
derivation.save(folder, formats=["fragment"])
(written,) = folder.glob("*.tex")
print(written.read_text()[:1500])
