"""How figures look: every colour of theirs, and one look for the part that a curve has.

A page in the dark exchanges these colours for others by their text, so figures have no more.
"""

from __future__ import annotations

from typing import Any, Literal

# Okabe and Ito's palette (2008), told apart with any common colour vision; yellow is left out
# because it is too light for lines on white. Dashes repeat the difference for greyscale print.
INK, FAINT, GROUND = "#222222", "#8a8a8a", "#ffffff"
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", INK)
DASHES = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (5, 1.4, 1.2, 1.4)))
#: Fills of a gate that is closed, a gain, or open.
CLOSED, GAIN, OPEN = "#f4f8fc", "#88b5d9", "#0b4f94"

#: In the dark: how much of the page's ink greys have, and colours light enough for words.
INK_SHARES = {"#000000": 100, INK: 97, FAINT: 51, CLOSED: 1, GROUND: 0}
LIT = {PALETTE[0]: "#2d8cc1", OPEN: "#5c89b9"}

#: What a curve is: the prediction that is judged (closed forms where they are printed), the
#: integrated reduction or aligned modes beside it, the effective network, or what was trained.
Role = Literal["theory", "reduction", "modes", "effective", "gdln", "relu"]

_OPEN = {"markerfacecolor": "none", "markersize": 4.6, "markeredgewidth": 1.0}
# A wide light line below, a dark broken one above it, and between them open markers at few places:
# each shows where all three lie on each other, in grey too. Markers of different curves are
# apart by the first number of markevery, a share of the diagonal, as the distance is.
_LOOKS: dict[Role, dict[str, Any]] = {
    "relu": {"color": PALETTE[4], "linewidth": 3.4, "zorder": 2.1},
    "reduction": {
        "color": PALETTE[0], "linewidth": 0.7, "marker": "d", "markevery": (0.06, 0.12),
        "zorder": 2.5, **_OPEN,
    },
    "modes": {"color": PALETTE[0], "linewidth": 1.3, "linestyle": DASHES[2], "zorder": 2.3},
    "theory": {"color": INK, "linewidth": 1.3, "linestyle": (0, (4, 2)), "zorder": 2.4},
    "gdln": {
        "color": PALETTE[1], "linewidth": 0.7, "marker": "o", "markevery": (0.0, 0.12),
        "zorder": 2.5, **_OPEN,
    },
    "effective": {
        "color": PALETTE[2], "linewidth": 0.7, "marker": "x", "markevery": (0.09, 0.12),
        "markersize": 4.6, "markeredgewidth": 1.1, "zorder": 2.5,
    },
}  # fmt: skip


def look(role: Role) -> dict[str, Any]:
    """Return how a curve of this part is drawn, the same in every figure."""
    return dict(_LOOKS[role])


def points(role: Role) -> dict[str, Any]:
    """Return how values of a network at single steps are drawn."""
    own = _LOOKS[role]
    dark = {"marker": "o", "markersize": 3, "markeredgecolor": INK, "markeredgewidth": 0.5}
    return (own if "marker" in own else {"color": own["color"], **dark}) | {
        "linewidth": 0, "markevery": None, "zorder": 2.6,
    }  # fmt: skip


def measured_look(role: Role) -> dict[str, Any]:
    """Return how a network's curve that is known at some steps is drawn."""
    if "marker" in _LOOKS[role]:
        return points(role)
    # Dots without a line, since nothing is known between the steps; below lines of the theory.
    return look(role) | {
        "linestyle": "", "marker": "o", "markersize": 2.6, "zorder": 1.9,
    }  # fmt: skip


def line_style(index: int) -> dict[str, Any]:
    """Return the colour and dashes of the line number ``index`` of several of one kind."""
    dashes = DASHES[(index // len(PALETTE) + index) % len(DASHES)]
    return {"color": PALETTE[index % len(PALETTE)], "linestyle": dashes}
