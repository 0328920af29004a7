"""Orders for figures and for the page's font, as JSON values, carried out in whatever process.

As a program (``python -m symreln.report.drawer_process PARENT``, started by
:mod:`symreln.report.drawer`) it answers every line of its stdin by one of its stdout, and ends
with its stdin. It sees no derivation: only what a figure shows and which characters a page draws.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

Order = dict[str, Any]
Answer = dict[str, Any]


def carry_out(order: Order) -> Answer:
    """Return the answer to an order; both are JSON values.

    Args:
        order: Either ``sketches`` (:mod:`symreln.report.sketches`) with ``pdf``, or the
            ``characters`` of a font.

    Returns:
        ``drawings``, whose ``pdf`` is in base64; or the ``font``, in base64.
    """
    if "characters" in order:
        from symreln.report.font import math_font

        return {"font": _text(math_font(order["characters"]))}
    from symreln.report.sketches import draw

    drawn = [draw(sketch, pdf=order["pdf"]) for sketch in order["sketches"]]
    return {"drawings": [{"name": d.name, "svg": d.svg, "pdf": _text(d.pdf)} for d in drawn]}


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _prepare() -> None:
    """Import what orders need, before one is there."""
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_svg
    import matplotlib.figure  # noqa: F401

    from symreln.report import font, sketches  # noqa: F401


def main() -> None:
    """Carry out orders until there are no more."""
    from symreln.base.processes import end_with_parent

    end_with_parent(int(sys.argv[1]))
    _prepare()
    for line in sys.stdin.buffer:
        answer = json.dumps(carry_out(json.loads(line)))
        sys.stdout.buffer.write(answer.encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
