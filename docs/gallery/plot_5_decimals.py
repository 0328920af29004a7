"""
Decimals of data
================

A float is read as its decimals, so that 0.1 is 1/10. With ``exact=False`` it is the simplest
fraction that is as near as a float can tell: one third again.
"""

import numpy as np

import symreln as sr

X = np.array([[1.0, 0], [0, 1]])
Y = np.array([[1 / 3], [0.1]])
for exact in (True, False):
    spec = sr.spec(X, Y, pathways=[sr.pathway("all")], exact=exact)
    print(spec.dataset.targets.to_fractions())
    print(sr.derive(spec).modes[0].s)
