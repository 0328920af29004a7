"""False certificates, each consistent in many fields at once: the verifier must find them out."""

from __future__ import annotations

import copy
from itertools import permutations, product
from typing import Any

import pytest

from symreln.exact.matrix import ExactMatrix
from symreln.verifier import digest, verify
from tests.certificates import (
    Json,
    certificate_of,
    certificates,
    copied,
    pathway,
    rejected,
    renewed,
)


def matrix(rows: list[list[int]], denominator: int = 1) -> Json:
    entries = [
        [i, j, str(value)] for i, row in enumerate(rows) for j, value in enumerate(row) if value
    ]
    return {
        "rows": len(rows), "columns": len(rows[0]), "denominator": str(denominator),
        "entries": entries,
    }  # fmt: skip


def certified(x: list[list[int]], y: list[list[int]], *stages: list[Any]) -> Json:
    found = certificate_of(ExactMatrix.from_rows(x), ExactMatrix.from_rows(y), list(stages))
    assert verify(found)
    return found


# -- symmetries: what an image is must not depend on the way to it --------------------------------


def twice(*, square: bool) -> Json:
    """Inputs 0 and 1 change places in p and q, equal pathways; q is shown as an image of p."""
    side = 3 if square else 1
    x = [[int(i == j) for j in range(3)] for i in range(3)]
    both = [pathway(name, [1, 1, 1], range(3), range(side)) for name in "pq"]
    y = [[1, 0, 0], [0, 1, 0], [0, 0, 2]] if square else [[1, 1, 2]]
    certificate = certified(x, y, both)
    certificate["parts"][0]["symmetries"] = [
        {
            "inputs": [1, 0, 2], "outputs": [1, 0, 2] if square else [0], "samples": [1, 0, 2]
        }
    ]  # fmt: skip
    certificate["parts"][0]["stages"][0]["pathways"][1]["like"] = [0, 0]
    certificate["digest"] = digest(certificate)
    assert verify(certificate) == ("stages[0]: p, q: closed by symmetry",)
    return certificate


def test_classes_that_a_symmetry_exchanges_are_one_class() -> None:
    certificate = twice(square=True)
    classes = certificate["parts"][0]["stages"][0]["pathways"][0]["classes"]
    place, double = next((n, c) for n, c in enumerate(classes) if c["generators"]["columns"] == 2)
    halves = [
        {**double, "generators": matrix(column), "gram_inverse": matrix([[1]])}
        for column in ([[1], [0], [0]], [[0], [1], [0]])
    ]
    classes[place : place + 1] = halves
    rejected(certificate, "of other eigenvalues")


def mixed(certificate: Json, halves: list[Json]) -> None:
    """Show the classes of the first pathway (1/9 twice and 4/9 once) as these two."""
    first = certificate["parts"][0]["stages"][0]["pathways"][0]
    assert [c["eigenvalue"] for c in first["classes"]] in (
        [["4 / 9"], ["1 / 9"]], [["1 / 9"], ["4 / 9"]]
    )  # fmt: skip
    first["classes"] = halves
    stage = certificate["parts"][0]["stages"][0]
    stage["components"] = [
        {"members": [[0, a], [1, a]], "d_eff": ["2 / 3", "0"][: len(half["d"])]}
        for a, half in enumerate(halves)
    ]


def pair(vector: list[int], gram_inverse: Json) -> Json:
    """A class with eigenvalues 1/9 and 4/9 on the span of a vector and its image under M."""
    return {
        "operator": ["1", "0"], "minpoly": ["4", "-45", "81"], "eigenvalue": ["0", "1"],
        "d": ["1 / 3", "0"], "generators": matrix([[v] for v in vector]),
        "gram_inverse": gram_inverse, "inverse_d_eff": ["3 / 2", "0"],
    }  # fmt: skip


def single(vector: list[int], square: int) -> Json:
    return {
        "operator": ["1", "0"], "minpoly": ["-1", "9"], "eigenvalue": ["1 / 9"], "d": ["1 / 3"],
        "generators": matrix([[v] for v in vector]), "gram_inverse": matrix([[1]], square),
        "inverse_d_eff": ["3 / 2"],
    }  # fmt: skip


#: Of [[2, 5/9], [5/9, 17/81]], the products of w = (1, 0, 1) and M w = (1/9, 0, 4/9).
GRAM_INVERSE = matrix([[17, -45], [-45, 162]], 9)


def test_a_space_that_a_symmetry_moves_is_no_class_of_its_images() -> None:
    """e1 and e2 have one eigenvalue; e1 is shown with e3, as the roots of one polynomial."""
    certificate = twice(square=True)
    mixed(certificate, [pair([1, 0, 1], GRAM_INVERSE), single([0, 1, 0], 1)])
    rejected(certificate, "symmetric images")
    certificate["parts"][0]["symmetries"][0] = {
        key: [0, 1, 2] for key in ("inputs", "outputs", "samples")
    }
    assert verify(renewed(certificate))  # without the exchange it is a valid choice


def test_classes_that_act_are_orthogonal_to_the_others() -> None:
    certificate = twice(square=True)
    certificate["parts"][0]["symmetries"][0] = {
        key: [0, 1, 2] for key in ("inputs", "outputs", "samples")
    }
    mixed(certificate, [pair([1, 0, 1], GRAM_INVERSE), single([1, 1, 0], 2)])
    rejected(certificate, "orthogonal to the other classes")


def test_one_vector_of_a_class_does_not_show_that_matrices_commute() -> None:
    """M and Sigma^x act on w as polynomials in their sum T, and on T w otherwise."""
    certificate = certified([[1, 1], [0, 1]], [[1, 0]], [pathway("p", [1, 1], range(2), range(1))])
    shown = certificate["parts"][0]["stages"][0]["pathways"][0]
    assert shown["commutator"] is not None
    first = shown["classes"][0]
    first |= {
        "operator": ["1", "1"],
        "minpoly": ["3", "-14", "8"],
        "eigenvalue": ["1 / 4", "0"],
        "d": ["-1 / 4", "1"],
    }
    shown |= {"commutator": None, "classes": [first]}
    rejected(certificate, r"classes\[0\]\.eigenvalue: .*M w = g\(T\) w")


# -- levels forged downward, or upward ------------------------------------------------------------


def test_an_action_that_has_cancelled_leaves_no_modes() -> None:
    """The action of p on j has a row v - v, which is no output that j's modes do not write."""
    certificate = certified(
        [[1, 1]],
        [[1, 1], [0, 1]],
        [pathway("z", [0, 1], range(1), [1])],
        [pathway("p", [1, 0], range(1), range(2)), pathway("j", [1, 1], range(1), range(2))],
    )
    stage = certificate["parts"][0]["stages"][1]
    assert stage["level"] == "coupled modes"
    stage["level"] = certificate["parts"][0]["level"] = certificate["level"] = "coupled matrices"
    for target, source in (([0, 0], [1, 0]), ([1, 0], [0, 0])):
        stage["couplings"] = [{"target": target, "source": source, "factors": None}]
        rejected(certificate, "proven to leave")


@pytest.mark.parametrize("also_of_the_operator", [False, True])
def test_the_scale_of_a_polynomial_tells_no_classes_apart(also_of_the_operator: bool) -> None:
    """Two equal pathways, closed by symmetry, shown as coupled modes."""
    unit = [[int(i == j) for j in range(3)] for i in range(3)]
    both = [pathway(name, [1, 1, 0], range(3), range(3)) for name in "ab"]
    certificate = certified(unit, unit, both)
    certificate["parts"][0]["symmetries"] = []
    stage = certificate["parts"][0]["stages"][0]
    first, second = stage["pathways"]
    for c in first["classes"]:
        c["inverse_d_eff"] = None
    second |= {"like": None, "classes": copy.deepcopy(first["classes"])}
    for c in second["classes"]:
        low, high = map(int, c["minpoly"])
        if also_of_the_operator:
            c |= {"operator": ["2", "0"], "minpoly": [str(2 * low), str(high)]}
        else:
            c["minpoly"] = [str(2 * low), str(2 * high)]
    learned = [a for a, c in enumerate(first["classes"]) if c["eigenvalue"] != ["0"]]
    stage["components"] = []
    stage["couplings"] = sorted(
        (
            {"target": [t, a], "source": [s, a], "factors": [["1 / 3"]]}
            for a in learned
            for t, s in ((0, 1), (1, 0))
        ),
        key=lambda item: item["target"],
    )
    stage["map"] = [matrix([[1, 0, 0], [0, 1, 0], [0, 0, 0]], 2)] * 2
    stage["level"] = certificate["parts"][0]["level"] = certificate["level"] = "coupled modes"
    rejected(certificate, r"level: .*closed by symmetry")


# -- every level that could be claimed too weak ---------------------------------------------------


@pytest.mark.parametrize("name", sorted(certificates()))
def test_no_action_leaves_its_modes_where_the_level_says_so(name: str) -> None:
    """No pair of classes, null ones and images included, can be called a leak."""
    tried = 0
    for n, stage in enumerate(certificates()[name]["parts"][0]["stages"]):
        if stage["level"] not in ("closed", "coupled modes"):
            continue
        for (t, target), (s, source) in permutations(enumerate(stage["pathways"]), 2):
            while source["like"]:
                source = stage["pathways"][source["like"][0]]
            if target["like"]:
                continue
            for a, b in product(range(len(target["classes"])), range(len(source["classes"]))):
                forged = copied(name)
                claimed = forged["parts"][0]["stages"][n]
                claimed["couplings"] = [{"target": [t, a], "source": [s, b], "factors": None}]
                claimed["components"] = []
                claimed["level"] = "coupled matrices"
                rejected(forged, "proven to leave")
                tried += 1
    several = any(len(s["pathways"]) > 1 for s in certificates()[name]["parts"][0]["stages"])
    levels = {
        s["level"] for s in certificates()[name]["parts"][0]["stages"] if len(s["pathways"]) > 1
    }
    assert bool(tried) is bool(several and levels & {"closed", "coupled modes"})


# -- the rest: what is orthogonal to the modes that are shown --------------------------------------


def _classes(found: Json) -> list[Json]:
    return found["parts"][0]["stages"][0]["pathways"][0]["classes"]


def test_null_modes_of_unlike_d_do_not_pass_as_one_rest() -> None:
    """The mean of their d is right, and the mean of the squares is not."""
    found = certified(
        [[1, 0, 0], [0, 1, 0], [0, 0, 2]],
        [[1, 0, 0]],
        [pathway("all", [1] * 3, range(3), range(1))],
    )
    classes = _classes(found)
    assert len(classes) == 3
    null = [c for c in classes if c["eigenvalue"] == ["0"]]
    null[0] |= {"generators": None, "d": ["5 / 6"]}
    classes.remove(null[1])
    rejected(found, "one eigenvalue")
