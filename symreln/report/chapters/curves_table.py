"""What tables of compared loss curves say at their heads: one for pathways and graphs."""

from __future__ import annotations

from symreln.document.model import Math

LARGEST = Math(r"\max |\Delta L| / L(0)")
MEAN = Math(r"\overline{|\Delta L|} / L(0)")
DROP = "drop time error"
#: The first column and the cells of :func:`symreln.experiment.words.metric_cells`.
HEADER = ("curves", LARGEST, MEAN, DROP, "tail")
ALIGNMENT = "lrrrr"
