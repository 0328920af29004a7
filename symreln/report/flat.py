"""Imported before matplotlib where nothing but flat figures is drawn and no help is shown.

A quarter of its imports is for axes in three dimensions, and for lists of settings in docstrings.
"""

import sys

from matplotlib import artist

artist.kwdoc = lambda _: ""
sys.modules.setdefault("mpl_toolkits.mplot3d", None)  # pyright: ignore[reportArgumentType]
