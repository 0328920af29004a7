"""Known answers, one table for all stages of tests, and specs built from plain matrices.

A row names where its numbers come from. Singular values are kept squared: they are rational.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp

import symreln as sr
from symreln.claims.derivation import PathwayDerivation
from symreln.exact.matrix import ExactMatrix
from symreln.specs.spec import Dataset, NetworkSpec, Parameter, PathwaySpec, Spec
from symreln.verdict.judge import Level
from tests.own_specs import OFF, path, task

c = sp.Symbol("c", positive=True)
Delta = sp.Symbol("Delta", nonnegative=True)


@dataclass(frozen=True)
class KnownMode:
    """s², d, d_eff and multiplicity of a mode that learns something."""

    s_squared: sp.Expr
    d: sp.Expr
    multiplicity: int = 1
    d_eff: sp.Expr | None = None

    @property
    def key(self) -> tuple[sp.Expr, sp.Expr, sp.Expr, int]:
        """What is compared, in one form."""
        d_eff = self.d if self.d_eff is None else self.d_eff
        return (
            *(sp.factor(sp.sympify(x)) for x in (self.s_squared, self.d, d_eff)),
            self.multiplicity,
        )


@dataclass(frozen=True)
class Case:
    """A spec with its known answer.

    Attributes:
        name: Shown by pytest.
        source: Where the numbers come from.
        spec: What ``sr.load`` takes.
        level: Verdict of the whole.
        modes: Modes of every pathway by name.
        overlaps: (k, g) of every ordered pair of pathways that couple, or None.
    """

    name: str
    source: str
    spec: Any
    level: Level
    modes: dict[str, tuple[KnownMode, ...]]
    overlaps: tuple[Fraction, Fraction] | None = None


def tree_spectrum(items: int) -> dict[int, int]:
    """Eigenvalues of MᵀM of the binary tree's features: 2n−1, n−1, …, 1 for n = 2^k.

    The node of height h adds 1 to every pair of its 2^h items, so a vector that is constant on
    halves of size 2^h and sums to 0 has eigenvalue 1 + 2 + … + 2^h = 2^{h+1} − 1. There is one
    such vector a node: n/2^{h+1} of them, and the constant one at the root. For n = 8 the source
    gives 15, 7, 3 (twice) and 1 (four times).
    """
    found, run = {}, 1
    while run < items:
        found[2 * run - 1] = items // (2 * run)
        run *= 2
    return {2 * items - 1: 1} | dict(sorted(found.items(), reverse=True))


def hierarchy_case(items: int) -> Case:
    """One-hot items: M/P and 1/P, so s² = λ/n² and d = 1/n."""
    modes = tuple(
        KnownMode(sp.Rational(value, items**2), sp.Rational(1, items), count)
        for value, count in tree_spectrum(items).items()
    )
    spec = {
        "dataset": {"task": "linear-hierarchy", "items": items},
        "pathway": [{"name": "shared", "gate": "all"}],
    }
    return Case(
        name=f"hierarchy of {items}",
        source="[Saxe2019], hierarchical features of one-hot items",
        spec="linear-hierarchy" if items == 8 else spec,
        level=Level.CLOSED,
        modes={"shared": modes},
    )


def contextual_case(items: int, contexts: int, spec: Any) -> Case:
    """Equal hierarchies in C contexts.

    Common: with λ of the tree, items have s² = λ(C+1)/(n²C), d = 1/n; contexts
    s² = c²(2n−1)/(nC²), d = c²/C, C−1 of them; the constant d = 1/n + c²/C,
    s² = dλ(C+1)/(nC). Off-context pathways: Σ^{yx} = e_k ⊗ M'/(nC²), e_k = 1 − C at its own
    block, 1 elsewhere, M' the tree without its mean; so |e_k|² = C(C−1), e_k·e_l = −C, hence
    s² = λ(C−1)/(n²C³), d = (C−1)/(nC), k = −1/(C−1), g = (C−2)/(nC) and
    d_eff = d + (C−1)·k·g = 1/(nC).
    """
    n, contexts_ = sp.Integer(items), sp.Integer(contexts)
    tree = tree_spectrum(items)
    root, *rest = tree
    mean = 1 / n + c**2 / contexts_
    common = [
        KnownMode(mean * root * (contexts_ + 1) / (n * contexts_), mean),
        KnownMode(c**2 * root / (n * contexts_**2), c**2 / contexts_, contexts - 1),
    ]
    common += [KnownMode(v * (contexts_ + 1) / (n**2 * contexts_), 1 / n, tree[v]) for v in rest]
    off = tuple(
        KnownMode(
            v * (contexts_ - 1) / (n**2 * contexts_**3),
            (contexts_ - 1) / (n * contexts_),
            tree[v],
            1 / (n * contexts_),
        )
        for v in rest
    )
    names = [f"off_{k}" for k in range(1, contexts + 1)]
    return Case(
        name=f"contextual n={items} C={contexts}",
        source="worked out above for the task of [Jarvis2025], section 5",
        spec=spec,
        level=Level.CLOSED_BY_SYMMETRY,
        modes={"common": tuple(common)} | dict.fromkeys(names, off),
        overlaps=(Fraction(-1, contexts - 1), Fraction(contexts - 2, items * contexts)),
    )


def contextual_tables(items: int, contexts: int) -> dict[str, Any]:
    """A user's own contextual spec."""
    data = {"task": "contextual", "items": items, "contexts": contexts, "context_scale": "c"}
    network = {"hidden": 100, "init_std": "1/1000", "learning_rate": "1/100", "training": "staged"}
    parameters = {"c": {"positive": True, "value": "2"}}
    return task(data, path("common"), OFF, parameters=parameters, network=network)


_XOR = (KnownMode((Delta**2 + 2) / 16, (Delta**2 + 2) / 4),)
_XOR_LINEAR = (KnownMode(Delta**2 / 4, Delta**2 / 2),)

CASES: tuple[Case, ...] = (
    hierarchy_case(8),
    hierarchy_case(4),
    Case(
        name="xor",
        source="one sample a pathway: s = |x||y|/P, d = |x|²/P of [Jarvis2025], section 3",
        spec="xor",
        level=Level.CLOSED,
        modes={f"sample_{k}": _XOR for k in (1, 2, 3, 4)},
    ),
    Case(
        name="xor-linear",
        source="two opposite samples a pathway cancel in the signs; [Jarvis2025], section 3",
        spec="xor-linear",
        level=Level.CLOSED,
        modes={"same": _XOR_LINEAR, "different": _XOR_LINEAR},
    ),
    *(contextual_case(8, C, f"contextual-{C}") for C in (3, 4, 5)),
    *(contextual_case(4, C, contextual_tables(4, C)) for C in (3, 4, 6)),
    *map(hierarchy_case, (2, 16, 32)),
)


@lru_cache(maxsize=64)
def derived(name: str, *overrides: str) -> sr.Derivation:
    """Derive a row of the table, or a ready-made spec, once for all tests of a process."""
    rows = {case.name: case.spec for case in CASES}
    return sr.derive(sr.load(rows.get(name, name), overrides))


def found_modes(pathway: PathwayDerivation, symbols: dict[str, sp.Symbol]) -> list[tuple]:
    """What was derived, in the form of :attr:`KnownMode.key`."""
    return [
        KnownMode(
            mode.s.to_sympy(symbols) ** 2,
            mode.d.to_sympy(symbols),
            mode.multiplicity,
            mode.d_eff.to_sympy(symbols),
        ).key
        for mode in pathway.modes
        if not mode.is_null and mode.d is not None and mode.d_eff is not None
    ]


# -- specs from plain matrices --------------------------------------------------------------------


def pathway(
    gate: Sequence[int],
    n_x: int,
    n_y: int,
    *,
    name: str = "",
    inputs: Sequence[int] | None = None,
    outputs: Sequence[int] | None = None,
    stage: int = 1,
) -> PathwaySpec:
    """Return a pathway that sees and writes everything unless told otherwise."""
    return PathwaySpec(
        name=name or "p" + "".join(str(int(g)) for g in gate),
        gate=tuple(int(g) for g in gate),
        inputs=tuple(range(n_x)) if inputs is None else tuple(inputs),
        outputs=tuple(range(n_y)) if outputs is None else tuple(outputs),
        stage=stage,
    )


def matrix_spec(
    x: Any,
    y: Any,
    gates: Sequence[Any],
    *,
    parameters: tuple[Parameter, ...] = (),
    network: dict[str, Any] | None = None,
) -> Spec:
    """Return a spec of matrices and gates; a gate is 0/1 a sample, or what ``pathway`` takes."""
    names = tuple(p.name for p in parameters)
    inputs = ExactMatrix.from_rows([list(row) for row in x], names)
    targets = ExactMatrix.from_rows([list(row) for row in y], names)
    n_x, n_y = inputs.shape[0], targets.shape[0]
    made = []
    for number, gate in enumerate(gates, start=1):
        options = dict(gate) if isinstance(gate, dict) else {"gate": gate}
        made.append(pathway(n_x=n_x, n_y=n_y, **({"name": f"p{number}"} | options)))
    return Spec(
        title="plain matrices",
        dataset=Dataset(inputs=inputs, targets=targets),
        parameters=parameters,
        pathways=tuple(made),
        network=None if network is None else NetworkSpec(**(PLAIN_NETWORK | network)),
    )


#: H σ²/2 = 1/1000 for every mode of a linear network; tau = 100 steps.
PLAIN_NETWORK: dict[str, Any] = {
    "hidden": 20,
    "init_std": Fraction(1, 100),
    "learning_rate": Fraction(1, 100),
    "loss": "mean",
    "steps": 1001,
    "activation": "linear",
}


def contexts_spec(structure: Sequence[Sequence[int]], contexts: int, **options: Any) -> Spec:
    """One-hot items in C contexts, targets (δ_bc − 1/C) M in block b, one pathway off a context.

    The same algebra as in :func:`contextual_case`, for any structure M: d = (C−1)/(nC),
    d_eff = 1/(nC), and s² = (C−1)/(n²C³) times the eigenvalues of MᵀM.
    """
    items, height = len(structure[0]), len(structure)
    samples = [(context, item) for context in range(contexts) for item in range(items)]
    x = [[int(item == i) for _, item in samples] for i in range(items)]
    y = [
        [
            (int(block == context) - Fraction(1, contexts)) * structure[row][item]
            for context, item in samples
        ]
        for block in range(contexts)
        for row in range(height)
    ]
    gates = [[int(context != k) for context, _ in samples] for k in range(contexts)]
    return matrix_spec(x, y, gates, **options)
