"""Constructions whose couplings are known by hand.

One-hot items in contexts: Sigma^x of any gate is a multiple of 1, so every pathway commutes and
only the couplings decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np

from symreln.exact.scalar import Scalar
from symreln.specs.spec import Parameter, Spec
from tests.cases import contexts_spec, matrix_spec

Rows = Sequence[Sequence[int]]

# Spectra of MᵀM: rational; degenerate; irreducible of degree 2; of degree 3.
RATIONAL: Rows = [[1, 0], [0, 2]]
EQUAL: Rows = [[1, 1], [1, -1]]
GOLDEN: Rows = [[1, 1], [0, 1]]
CUBIC: Rows = [[2, 1, 0], [0, 1, 1], [1, 0, 3]]
CUBIC_CORNER: Rows = [[2, 1], [0, 1]]


def one_hot_contexts(targets: Sequence[Rows], gates: Sequence[Sequence[int]], **options) -> Spec:
    """Items one-hot; targets[k] (n_y × items) in context k; gates over contexts."""
    items = len(targets[0][0])
    samples = [(k, i) for k in range(len(targets)) for i in range(items)]
    x = [[int(item == i) for _, item in samples] for i in range(items)]
    y = [[targets[k][row][i] for k, i in samples] for row in range(len(targets[0]))]
    return matrix_spec(x, y, [[g[k] for k, _ in samples] for g in gates], **options)


def scaled_structure(
    structure: Rows, factors: Sequence[int], gates: Sequence[Sequence[int]], **options
) -> Spec:
    """One structure, a factor a context: U and V are shared, s and the overlaps are not equal."""
    targets = [[[f * value for value in row] for row in structure] for f in factors]
    return one_hot_contexts(targets, gates, **options)


def equal_race(structure: Rows) -> Spec:
    """Two pathways that explain the same thing at the same speed: closed by symmetry, k = +1."""
    return scaled_structure(structure, [1, 1, 1], [(1, 1, 0), (0, 1, 1)])


def race(structure: Rows, **options) -> Spec:
    """Two pathways that explain the same thing at different speeds: coupled modes."""
    return scaled_structure(structure, [3, 2, 4], [(1, 1, 0), (0, 1, 1)], **options)


def race_of_three(structure: Rows) -> Spec:
    """Three pathways, unequal open shares, so unequal d as well."""
    return scaled_structure(structure, [1, 2, 4, 3], [(1, 1, 0, 0), (0, 1, 1, 0), (1, 0, 1, 1)])


def leaves_the_span() -> Spec:
    """K and G are diagonal, but U_2 has a part outside the span of U_1 that nothing cancels.

    One item. Context 1 wants (1, 0), context 2 (1, 0), context 3 (0, 2): U_1 = (1, 0) from
    contexts 1 and 2, U_2 ∝ (1, 2) from contexts 2 and 3. K and G are 1 × 1.
    """
    return one_hot_contexts([[[1], [0]], [[1], [0]], [[0], [2]]], [(1, 1, 0), (0, 1, 1)])


def drives_a_null_mode() -> Spec:
    """Pathway 2 explains item 2, which pathway 1 sees in context 2 but finds uncorrelated.

    Item 2 is wanted with +1 and −1 in contexts 1 and 2: null for pathway 1, not for pathway 2.
    """
    return one_hot_contexts([[[1, 1]], [[1, -1]], [[1, -1]]], [(1, 1, 0), (0, 1, 1)])


def drives_only_a_null_mode() -> Spec:
    """As above, but each pathway has one mode and acts on nothing but the other's null mode."""
    return one_hot_contexts([[[1, 1]], [[1, -1]], [[-1, -1]]], [(1, 1, 0), (0, 1, 1)])


def equal_speeds_other_outputs() -> Spec:
    """s = √5/3 and d equal, U_1 = (2, 1)/√5 and U_2 = (1, 2)/√5: no sum of them cancels."""
    return one_hot_contexts([[[1], [0]], [[1], [1]], [[0], [1]]], [(1, 1, 0), (0, 1, 1)])


def masked_race() -> Spec:
    """Pathway 1 does not write the output of pathway 2's second mode, so that one is no leak."""
    x = [[1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1]]
    y = [[3, 1, 2, -1, 4, 1], [0, 0, 0, 2, 0, 1]]
    return matrix_spec(
        x, y, [{"gate": [1, 1, 1, 1, 0, 0], "outputs": [0]}, {"gate": [0, 0, 1, 1, 1, 1]}]
    )


def same_inputs_other_outputs() -> Spec:
    """Overlapping gates, but outputs do not meet: closed."""
    x = [[1, 0, 1, 0], [0, 1, 0, 1]]
    y = [[1, 2, 0, 1], [1, 0, 3, 1]]
    both = [1, 1, 1, 1]
    return matrix_spec(x, y, [{"gate": both, "outputs": [0]}, {"gate": both, "outputs": [1]}])


def orthogonal_outputs() -> Spec:
    """U_1 ⊥ U_2, so K = 0, but the gates overlap: what one writes the other has to undo."""
    first, second = [[1, 0], [0, 2], [0, 0], [0, 0]], [[0, 0], [0, 0], [3, 0], [0, 1]]
    return one_hot_contexts([first, [[0, 0]] * 4, second], [(1, 1, 0), (0, 1, 1)])


def common_and(n: int, *gates: Sequence[int]) -> Spec:
    """X = Y = 1: one class of n equal modes of a common pathway, and gates over the samples."""
    one = np.eye(n, dtype=int).tolist()
    return matrix_spec(one, one, [[1] * n, *(gates or one)], network={})


def golden_blocks(*gates: Sequence[int]) -> Spec:
    """Two groups of items, each of the structure with conjugate modes; gates over the groups.

    The common pathway has every mode twice.
    """
    x = np.eye(4, dtype=int).tolist()
    y = np.kron(np.eye(2, dtype=int), GOLDEN).tolist()
    return matrix_spec(x, y, [[1, 1, 1, 1], *(np.repeat(g, 2).tolist() for g in gates)], network={})


def irrational_basis() -> Spec:
    """Targets A in context 1 and 16 − A in context 2: the common pathway has one s twice.

    Pathway 2 sees context 1 alone, so that the eigenvectors of A, which are irrational, are the
    basis that both share. All modes stay: where one dies out rounding errors grow.
    """
    return one_hot_contexts([[[13, 2], [2, 11]], [[3, -2], [-2, 5]]], [(1, 1), (1, 0)])


def oblique_samples() -> Spec:
    """Y = X, a tight frame of four vectors: the samples of two pathways are at an angle."""
    x = [[2, -1, 1, -2], [1, 2, 2, 1]]
    return matrix_spec(x, x, [[1] * 4, [1, 0, 0, 0], [0, 0, 1, 0]], network={})


def cancelling_speeds() -> Spec:
    """Two pathways with s = 1 and two with s = 1/2; what a pair does to another one cancels."""
    gates = [(1, 1, 0, 0), (0, 0, 1, 1), (1, 0, 1, 0), (0, 1, 0, 1)]
    return one_hot_contexts([[[3]], [[1]], [[-1]], [[-3]]], gates, network={})


def all_examples() -> dict[str, Spec]:
    """Everything above with the verdict as prefix of the name."""
    return {
        "closed: outputs do not meet": same_inputs_other_outputs(),
        "closed: gates do not meet": one_hot_contexts([GOLDEN, CUBIC_CORNER], [(1, 0), (0, 1)]),
        "closed: equal modes": one_hot_contexts([EQUAL], [(1,)]),
        "closed by symmetry: contexts, equal modes": contexts_spec(EQUAL, 3),
        "closed by symmetry: contexts, rational": contexts_spec(RATIONAL, 3),
        "closed by symmetry: contexts, degree 2": contexts_spec(GOLDEN, 3),
        "closed by symmetry: contexts, degree 3": contexts_spec(CUBIC, 4),
        "closed by symmetry: equal race, rational": equal_race(RATIONAL),
        "closed by symmetry: equal race, degree 3": equal_race(CUBIC),
        "closed by symmetry: common and one a sample": common_and(2),
        "closed by symmetry: common and two labels": common_and(
            4, (1, 1, 0, 0), (0, 0, 1, 1), (1, 0, 1, 0), (0, 1, 0, 1)
        ),
        "closed by symmetry: common and one sample": common_and(2, (1, 0)),
        "closed by symmetry: unlike speeds cancel": cancelling_speeds(),
        "closed by symmetry: nested gates": common_and(3, (1, 1, 0), (1, 0, 0)),
        "closed by symmetry: overlapping gates": common_and(3, (1, 1, 0), (0, 1, 1)),
        "closed by symmetry: common and each group, degree 2": golden_blocks((1, 0), (0, 1)),
        "closed by symmetry: common and one group, degree 2": golden_blocks((1, 0)),
        "coupled modes: race, rational": race(RATIONAL),
        "coupled modes: race, degree 2": race(GOLDEN),
        "coupled modes: race, degree 3": race(CUBIC),
        "coupled modes: three, rational": race_of_three(RATIONAL),
        "coupled modes: three, degree 3": race_of_three(CUBIC),
        "coupled modes: an output mask": masked_race(),
        "coupled modes: a basis of degree 2": irrational_basis(),
        "coupled matrices: leaves the span": leaves_the_span(),
        "coupled matrices: orthogonal outputs": orthogonal_outputs(),
        "coupled matrices: drives a null mode": drives_a_null_mode(),
        "coupled matrices: drives only a null mode": drives_only_a_null_mode(),
        "coupled matrices: equal speeds, other outputs": equal_speeds_other_outputs(),
        "coupled matrices: other structure a context": one_hot_contexts(
            [[[1, 0], [0, 2]], [[1, 1], [0, 1]], [[2, 0], [1, 1]]], [(1, 1, 0), (0, 1, 1)]
        ),
        "coupled matrices: does not commute": matrix_spec(
            [[1, 1, 0], [0, 1, 2]], [[1, 0, 1], [0, 2, 1]], [[1, 1, 1]]
        ),
    }


def random_races(seed: int) -> Spec:
    """Random contexts of one structure: which verdict is open."""
    rng = np.random.default_rng(seed)
    structure = [RATIONAL, GOLDEN, CUBIC][seed % 3]
    while True:
        gates = rng.integers(0, 2, (2, 4))
        factors = rng.integers(-2, 4, 4)
        if gates.any(axis=1).all() and (gates @ factors).all():
            break
    kind = seed % 4
    if kind < 2:
        return scaled_structure(structure, factors.tolist(), gates.tolist())
    targets = [(f * np.array(structure)).tolist() for f in factors]
    # A second structure in one context: what only some of the pathways see of it decides.
    place = int(rng.integers(0, 4))
    targets[place] = (np.array(targets[place]) + rng.integers(-1, 2, np.shape(structure))).tolist()
    return one_hot_contexts(targets, gates.tolist())


def random_gated(seed: int) -> Spec:
    """Random data, often rank-deficient, with gates and masks, and in every third spec gains."""
    random = Random(seed)
    n_x, n_y, samples = random.randint(1, 3), random.randint(1, 3), random.randint(1, 6)
    g = Scalar.symbol("g", ("g",))
    levels: list = [0, 1, 1] if seed % 3 else [0, 1, g, 2 * g + 1]

    def some(count: int) -> list[int]:
        return sorted(random.sample(range(count), random.randint(1, count)))

    paths = []
    for _ in range(3):
        gate = [random.choice(levels) for _ in range(samples)]
        gate[random.randrange(samples)] = 1
        paths.append({"gate": gate, "inputs": some(n_x), "outputs": some(n_y)})
    x = [[random.choice([0, 1, 1, -1, 2]) for _ in range(samples)] for _ in range(n_x)]
    y = [[random.choice([0, 0, 1, -1, Fraction(2, 3)]) for _ in range(samples)] for _ in range(n_y)]
    parameters = () if seed % 3 else (Parameter(name="g", value=Fraction(2)),)
    plain = [{**path, "gate": [int(value != 0) for value in path["gate"]]} for path in paths]
    spec = matrix_spec(x, y, plain, parameters=parameters)
    gains = zip(spec.pathways, paths, strict=True)
    return replace(spec, pathways=tuple(replace(p, gate=tuple(q["gate"])) for p, q in gains))
