"""Every rule that is asked of a derivation of nodes and edges; see :mod:`symreln.claims.rules`."""

from __future__ import annotations

from symreln.claims.claim import Shown
from symreln.claims.network.described import described
from symreln.claims.network.in_numbers import in_numbers
from symreln.claims.network.lines import network_lines
from symreln.claims.network.parts import parts_of
from symreln.claims.network.routing import routing_of

EDGES = (
    Shown(rule=network_lines, place="lines", key="lines", printed=True, checked="all"),
    Shown(rule=described, place="chapter", key="*"),
    Shown(rule=parts_of, place="chapter", key="*", printed=True, checked="all"),
    Shown(rule=routing_of, place="chapter", key="routing", printed=True, checked="all"),
    Shown(rule=in_numbers, place="chapter", key="curves", printed=True),
)
