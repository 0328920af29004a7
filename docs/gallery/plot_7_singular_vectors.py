"""
Singular vectors
================

Which distinctions modes are: the exact columns of V over the items of a hierarchy, and of U over
its features. Of a mode of several dimensions the basis is a choice: wavelets of the hierarchy.
"""

import matplotlib.pyplot as plt

import symreln as sr

pathway = sr.derive("linear-hierarchy").pathways[0]
u, s, v, d = pathway.to_numpy()

_, axes = plt.subplots(1, 2, layout="constrained")
for ax, matrix, name, rows in zip(axes, (v, u), "VU", ("item", "feature"), strict=True):
    ax.imshow(matrix, cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
    ax.set(title=name, xlabel="mode", ylabel=rows)

# %%
# They are exact:
print(pathway.s)
print(pathway.v[:, :3])
