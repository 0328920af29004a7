"""Imported before matplotlib where nothing but flat figures is drawn and no help is shown.

A quarter of its imports is for axes in three dimensions, and for lists of settings in docstrings. A
third of the drawing is for reading the same mathematics again for each file, and for cutting those
tables of fonts that set lines, which are set already.
"""

import sys
from functools import cache, partial
from types import ModuleType

from fontTools import subset
from matplotlib import artist, mathtext

artist.kwdoc = lambda _: ""
# As matplotlib itself has it where the package is not there, but without its warning.
_space: ModuleType = ModuleType("mpl_toolkits.mplot3d")
vars(_space)["Axes3D"] = None
sys.modules.setdefault(_space.__name__, _space)
# Each renderer has a parser of its own, and each parser its own memory of what it has read.
mathtext.__dict__["MathTextParser"] = cache(mathtext.MathTextParser)
_DROPPED = [*subset.Options().drop_tables, "GDEF", "GPOS", "GSUB", "MATH", "kern"]
subset.__dict__["Options"] = partial(subset.Options, drop_tables=_DROPPED)
