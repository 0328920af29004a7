"""What a graph may be, and what is said where it is none."""

from __future__ import annotations

import pytest

from symreln.errors import LimitReachedError, SpecError
from symreln.networks.gdln import MAX_PATHS, Network
from symreln.networks.parts import Edge, Node

IN = Node(name="x", size=2, inputs=(0, 1))
OUT = Node(name="y", size=1, outputs=(0,))


def hidden(*names: str) -> tuple[Node, ...]:
    return tuple(Node(name=name, size=3) for name in names)


def edges(*ends: str) -> tuple[Edge, ...]:
    return tuple(Edge(name=end, source=end[0], target=end[1]) for end in ends)


@pytest.mark.parametrize(
    ("nodes", "arrows", "message"),
    [
        ((IN, OUT, *hidden("h", "k")), edges("xh", "hk", "kh", "ky"), "the cycle"),
        ((IN, OUT, Node(name="z", size=2, outputs=(1,))), edges("xy", "xz"), "node[2].size"),
        ((IN, OUT, Node(name="h", size=0)), edges("xh", "hy"), "at least one unit"),
        (
            (IN, OUT, Node(name="h", size=1, gate=(1, 0)), Node(name="k", size=1, gate=(1,))),
            edges("xh", "hk", "ky"),
            "gates for 1 and for 2 samples",
        ),
    ],
)
def test_what_is_wrong_is_said(nodes: tuple[Node, ...], arrows: tuple[Edge, ...], message: str):
    with pytest.raises(SpecError) as caught:
        Network(nodes=nodes, edges=arrows)
    assert message in str(caught.value)


def test_parallel_edges_are_two_pathways_by_their_names():
    graph = Network(
        nodes=(IN, OUT),
        edges=(Edge(name="one", source="x", target="y"), Edge(name="two", source="x", target="y")),
    )
    assert [graph.name(path) for path in graph.paths(1)] == ["one", "two"]


def test_too_many_pathways_are_refused():
    layers = 12
    names = [f"{k}" for k in range(2 * layers)]
    nodes = (IN, OUT, *hidden(*names))
    arrows = [("x", "0"), ("x", "1"), (names[-1], "y"), (names[-2], "y")]
    for layer in range(layers - 1):
        a, b, c, d = names[2 * layer : 2 * layer + 4]
        arrows += [(a, c), (a, d), (b, c), (b, d)]
    graph = Network(
        nodes=nodes, edges=tuple(Edge(name=f"{a}{b}>", source=a, target=b) for a, b in arrows)
    )
    with pytest.raises(LimitReachedError, match=f"more than {MAX_PATHS} pathways"):
        graph.paths(1)
