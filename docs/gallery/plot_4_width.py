"""
Width
=====

A pathway with fewer hidden units than modes learns the ones with the largest s first.
"""

import symreln as sr

for hidden in (2, 100):
    derivation = sr.derive(sr.load("linear-hierarchy", [f"network.hidden={hidden}"]))
    print(f"{hidden} units: {derivation.narrow or 'all modes are learned'}")
    derivation.plot()
