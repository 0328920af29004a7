"""
Width
=====

A pathway with fewer hidden units than modes learns the ones with the largest s first.
"""

import symreln as sr

for hidden in (2, 100):
    derivation = sr.derive(sr.load("linear-hierarchy", [f"network.hidden={hidden}"]))
    for each in derivation.narrow:
        print(f"{each.units} hidden units for {each.rank} modes")
    derivation.plot().set_title(f"{hidden} hidden units")
