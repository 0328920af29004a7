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
# ``save`` writes a document for LaTeX; ``latexmk -pdf derivation.tex`` compiles it.
folder = Path(mkdtemp())
print([path.name for path in derivation.save(folder, formats=["tex"])])
print((folder / "derivation.tex").read_text()[:600])
