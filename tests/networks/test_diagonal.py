"""The decision whether bases of all nodes of a graph make its data diagonal."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from hypothesis import given, settings

from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.exact.spectrum import joint_spectrum
from symreln.exact.truth import Truth
from symreln.networks.gdln import Network
from symreln.networks.parts import Edge, Node
from symreln.networks.shared_edges import EdgeData
from symreln.specs.spec import Dataset
from symreln.verdict.diagonal import Diagonality
from tests.networks.examples import dataset
from tests.strategies import diagonal, exact, examples, orthogonal, rectangle, seeds


def two_parts(x: ExactMatrix, y: ExactMatrix, gate: tuple[int, ...]) -> EdgeData:
    """A pathway that is always open, and one with a gate; two hidden layers in the first."""
    nodes = (
        Node(name="x", size=x.shape[0], inputs=tuple(range(x.shape[0]))),
        Node(name="h", size=4),
        Node(name="k", size=5),
        Node(name="g", size=4, gate=gate),
        Node(name="y", size=y.shape[0], outputs=tuple(range(y.shape[0]))),
    )
    ends = (("x", "h"), ("h", "k"), ("k", "y"), ("x", "g"), ("g", "y"))
    edges = tuple(Edge(name=a + b, source=a, target=b) for a, b in ends)
    return EdgeData(graph=Network(nodes=nodes, edges=edges), dataset=Dataset(inputs=x, targets=y))


def diagonal_data(seed: int) -> EdgeData:
    """Y = U S Vᵀ on orthonormal inputs scaled part by part: diagonal by construction."""
    random = Random(seed)
    v, u = orthogonal(random, 3), orthogonal(random, 4)
    parts_x, parts_y = [], []
    for _ in range(2):
        d = [Fraction(random.choice([0, 1, 1, 2])) for _ in range(3)]
        s = [Fraction(random.choice([0, 1, 1, 3])) for _ in range(3)]
        parts_x.append(exact(v * diagonal(d)))
        parts_y.append(exact(u * rectangle(s, 4, 3)))
    x, y = ExactMatrix.beside(parts_x), ExactMatrix.beside(parts_y)
    return two_parts(x, y, (1, 1, 1, 0, 0, 0))


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_what_is_diagonal_by_construction_is_proven(seed: int):
    assert Diagonality.of(diagonal_data(seed)).outcome is Truth.PROVEN


@examples(120)
@given(seeds)
def test_for_one_pathway_it_is_the_commutator(seed: int):
    """Second route: Sigma^x commutes with (Sigma^yx)ᵀ Sigma^yx, symreln.exact.spectrum."""
    random = Random(seed)
    data = dataset(random, n_x=3, n_y=2, rank=random.randint(1, 3), samples=random.randint(2, 4))
    nodes = (Node(name="x", size=3, inputs=(0, 1, 2)), Node(name="y", size=2, outputs=(0, 1)))
    graph = Network(nodes=nodes, edges=(Edge(name="e", source="x", target="y"),))
    whole = EdgeData(graph=graph, dataset=data)
    if not whole.sigma_x:  # inputs that vanish
        return
    commutes = joint_spectrum(whole.sigma_yx[0], whole.sigma_x[0, 0]).commutator is None
    expected = Truth.PROVEN if commutes else Truth.REFUTED
    assert Diagonality.of(whole).outcome is expected


def test_data_that_do_not_are_refuted_with_a_witness():
    x = ExactMatrix.from_rows([[1, 0, 0], [0, 1, 1]])
    y = ExactMatrix.from_rows([[1, 1, 0], [0, 1, 2]])
    data = two_parts(x, y, (1, 1, 0))
    found = Diagonality.of(data)
    assert found.outcome is Truth.REFUTED
    assert "at node 'y' the product Sigma^yx(2) Sigma^yx(1)^T is not symmetric" in found.reason
    product = data.sigma_yx[1] @ data.sigma_yx[0].T
    assert "entries (1, 2) and (2, 1)" in found.reason
    assert product.entry(0, 1) != product.entry(1, 0)


def test_a_rotation_between_pathways_is_refuted_although_all_products_commute():
    """Loops that turn commute with each other; they are not symmetric."""
    data = dataset(Random(0), n_x=2, n_y=2, samples=4)
    eye = [[1, 0, 1, 0], [0, 1, 0, 1]]
    turned = [[1, 0, 0, -1], [0, 1, 1, 0]]
    data = Dataset(inputs=ExactMatrix.from_rows(eye), targets=ExactMatrix.from_rows(turned))
    nodes = (
        Node(name="x", size=2, inputs=(0, 1)),
        Node(name="a", size=2, gate=(1, 1, 0, 0)),
        Node(name="b", size=2, gate=(0, 0, 1, 1)),
        Node(name="y", size=2, outputs=(0, 1)),
    )
    ends = (("x", "a"), ("x", "b"), ("a", "y"), ("b", "y"))
    edges = tuple(Edge(name=a + b, source=a, target=b) for a, b in ends)
    found = Diagonality.of(EdgeData(graph=Network(nodes=nodes, edges=edges), dataset=data))
    assert found.outcome is Truth.REFUTED


def scaled(c: Scalar, targets: ExactMatrix) -> EdgeData:
    x = ExactMatrix.identity(2, ("c",)).scale(c)
    nodes = (Node(name="x", size=2, inputs=(0, 1)), Node(name="y", size=2, outputs=(0, 1)))
    graph = Network(nodes=nodes, edges=(Edge(name="e", source="x", target="y"),))
    return EdgeData(graph=graph, dataset=Dataset(inputs=x, targets=targets))


def test_with_parameters_it_is_proven_for_all_values_or_left_open():
    c = Scalar.symbol("c", ("c",))
    plain = ExactMatrix.from_rows([[1, 2], [3, 4]]).promoted(("c",))
    assert Diagonality.of(scaled(c, plain)).outcome is Truth.PROVEN
    shear = ExactMatrix.from_rows([[0, 1], [0, 0]]).promoted(("c",)).scale(c)
    assert Diagonality.of(scaled(c, plain + shear)).outcome is Truth.UNDECIDED
