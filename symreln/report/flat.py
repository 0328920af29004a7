"""Imported before matplotlib where nothing but flat figures is drawn and no help is shown.

A quarter of its imports is for axes in three dimensions, and for lists of settings in docstrings.
"""

import sys
from functools import cache
from types import ModuleType

from matplotlib import artist, mathtext

artist.kwdoc = lambda _: ""
# As matplotlib itself has it where the package is not there, but without its warning.
_space: ModuleType = ModuleType("mpl_toolkits.mplot3d")
vars(_space)["Axes3D"] = None
sys.modules.setdefault(_space.__name__, _space)
# Every file has a parser of its own, which remembers what it has read: one for all reads it once.
mathtext.__dict__["MathTextParser"] = cache(mathtext.MathTextParser)
