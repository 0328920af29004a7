r"""The contextual task and the linear hierarchy for every number of contexts and of items.

Contexts are exchangeable: everything is a matrix of :mod:`symreln.claims.families.algebra` with the
context as index. The items of a binary tree are cut into invariant parts. Let H(n) be the tree's
features, (2n-1) × n: a row of ones on top of two copies of H(n/2). Then

.. math:: H(n)^\top H(n) = 1 1^\top + \mathrm{diag}(H(n/2)^\top H(n/2),\, H(n/2)^\top H(n/2)),

so the constant vector is an eigenvector with root(n) = n + root(n/2), root(1) = 1, which is
2n - 1; the vector that is 1 on one half and -1 on the other has root(n/2) = n - 1; and vectors in
one half that sum to zero keep their eigenvalue. So the wavelets of level l, of which there are
u = 2^l, have n/u - 1. On one part, with the item vector w, the features' vector is H w, of squared
length tau |w|²: one type of item and one of feature, H being 1 and its adjoint tau.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from symreln.claims.families.algebra import OTHERS, PLAIN, FamilyMatrix, Kind, Space
from symreln.claims.families.domain import Domain
from symreln.claims.families.stage import (
    Basis,
    FamilyTemplate,
    NoFamilyError,
    PathwayTemplate,
    Sector,
)
from symreln.exact.matrix import ExactMatrix
from symreln.exact.scalar import Scalar
from symreln.specs.expression import Declared
from symreln.specs.finding import Finding
from symreln.specs.gates import gate_values
from symreln.task_library.structures import STRUCTURES, hierarchy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symreln.specs.model import Spec

#: Entries (place, whole number) of a vector, zeros left out.
Vector = list[tuple[int, int]]

CONTEXT = "context"
_INPUT_GROUPS = {"all": frozenset({"items", "contexts"})} | {
    name: frozenset({name}) for name in ("items", "contexts")
}
_OUTPUT_GROUPS = {
    "all": frozenset({"common", "own"}),
    "common": frozenset({"common"}),
    "context_{context}": frozenset({"own:own"}),
}
_MOST_LISTED_ITEMS = 16
"""Items that are treated one by one where there is no tree; the tree has no such limit."""


def contextual_template(spec: Spec) -> FamilyTemplate:
    """Return the contextual task with its pathways, the sizes being symbols.

    Raises:
        NoFamilyError: The spec is not the same for every size, with the reason.
    """
    tree = _all_trees(spec) and not any(_mentions(p.gate_text, "item") for p in spec.pathways)
    domain = _domain(spec, tree=tree)
    data = _Data(spec, domain)
    sectors = data.tree() if tree else data.listed()
    kinds = sectors[0].inputs.columns.kinds
    return FamilyTemplate(
        domain=domain,
        samples=data.items * data.contexts,
        index="contexts",
        count=data.contexts,
        sectors=sectors,
        pathways=_pathways(spec, items=len(kinds) if not tree else 0),
        joint=len(spec.stages) == 1 and spec.stages == (1,),
        lemma=_LEMMA if tree else {},
        basis=_tree_basis if tree else _listed_basis,
    )


def _all_trees(spec: Spec) -> bool:
    return set(re.findall(r"\w+", spec.written["structures"])) == {"hierarchy"}


def _mentions(text: str, label: str) -> bool:
    return re.search(rf"\b{label}\b", text) is not None


def _domain(spec: Spec, *, tree: bool) -> Domain:
    sizes = {size.option: size for size in spec.sizes}
    names = (*(p.name for p in spec.parameters), *(size.name for size in spec.sizes))
    copies = ""
    if tree:
        copies = next(name for name in ("u", "u_", "u__", "u___") if name not in names)
        names = (*names, copies)
    items = sizes["items"].name if "items" in sizes else int(spec.written["items"])
    if not tree and isinstance(items, str):
        msg = "only binary trees are cut into parts for every number of items"
        raise NoFamilyError(msg)
    minimum = {size.name: size.minimum for size in spec.sizes}
    if isinstance(items, str):  # a binary tree has a power of two of them, at least 2
        minimum[items] = 1 << max(1, (minimum[items] - 1).bit_length())
    return Domain(
        names=names,
        minimum=minimum,
        copies=copies,
        items=items,
    )


class _Data:
    """X and Y of the task, sector by sector."""

    def __init__(self, spec: Spec, domain: Domain) -> None:
        self.domain = domain
        self.spec = spec
        self.items = self._size(spec.written["items"])
        self.contexts = self._size(spec.written["contexts"])
        nonnegative = {p.name for p in spec.parameters if p.positive or p.nonnegative}
        names = tuple(n for n in domain.names if n != domain.copies)
        declared = Declared(names=names, nonnegative={*nonnegative, *domain.minimum})
        self.scale = Scalar.of(declared.value(spec.written["context_scale"]), domain.names)

    def _size(self, text: str) -> Scalar:
        return self.domain.number(int(text)) if text.isdigit() else self.domain.symbol(text)

    def tree(self) -> tuple[Sector, ...]:
        """Return the constant part and the wavelets."""
        one = self.domain.number(1)
        copies = self.domain.symbol(self.domain.copies)
        root = self._sector("root", one, length=self.items, ratio=2 * self.items - 1)
        wavelets = self._sector("wavelets", copies, length=one, ratio=self.items / copies - 1)
        return root, wavelets

    def _sector(self, name: str, multiplicity: Scalar, *, length: Scalar, ratio: Scalar) -> Sector:
        """Return one part: item vectors of squared length ``length``, features ratio times it."""
        zero, one = self.domain.number(0), self.domain.number(1)
        is_root = name == "root"
        samples = self._space([("samples", OTHERS, length)])
        inputs = [("items", PLAIN, length)] + [("contexts", OTHERS, one)] * is_root
        outputs = [("common", PLAIN, ratio * length), ("own", OTHERS, ratio * length)]
        # A context's input is the scale on all n items: 1ᵀ 1 = n times it on the constant vector.
        x_d = [[zero]] + [[self.scale * self.items]] * is_root
        x_e = [[one]] + [[zero]] * is_root
        return Sector(
            name=name,
            multiplicity=multiplicity,
            copies="" if is_root else self.domain.copies,
            inputs=self._matrix(self._space(inputs), samples, x_d, x_e),
            targets=self._matrix(self._space(outputs), samples, [[zero], [one]], [[one], [zero]]),
        )

    def listed(self) -> tuple[Sector, ...]:
        """Return the whole dataset, one type an item."""
        count = int(self.spec.written["items"])
        if count > _MOST_LISTED_ITEMS:
            msg = (
                f"items are treated one by one here, and {count} are more than {_MOST_LISTED_ITEMS}"
            )
            raise NoFamilyError(msg)
        names = set(re.findall(r"\w+", self.spec.written["structures"]))
        if len(names) != 1:
            msg = "the contexts have different structures, so they are not exchangeable"
            raise NoFamilyError(msg)
        one, zero = self.domain.number(1), self.domain.number(0)
        samples = self._space([("samples", OTHERS, one)] * count)
        inputs = self._space([("items", PLAIN, one)] * count + [("contexts", OTHERS, one)])
        common = STRUCTURES["hierarchy"](count).to_fractions(count)
        own = STRUCTURES[names.pop()](count).to_fractions(count)
        outputs = self._space(
            [("common", PLAIN, one)] * len(common) + [("own", OTHERS, one)] * len(own)
        )
        empty = [[zero] * count]
        unit = [[one if i == j else zero for j in range(count)] for i in range(count)]
        exact = [[self._rational(v) for v in row] for row in (*common, *own)]
        inactive = empty * len(common)
        x = self._matrix(inputs, samples, empty * count + [[self.scale] * count], unit + empty)
        y = self._matrix(
            outputs,
            samples,
            inactive + exact[len(common) :],
            exact[: len(common)] + empty * len(own),
        )
        return (Sector(name="all", multiplicity=one, inputs=x, targets=y),)

    def _rational(self, value) -> Scalar:
        return Scalar.of(value, self.domain.names)

    def _space(self, kinds: Sequence[tuple[str, str, Scalar]]) -> Space:
        return Space(
            tuple(
                Kind(base=base, tag=tag, weight=weight, group=group)
                for base, (group, tag, weight) in enumerate(kinds)
            ),
            self.contexts,
        )

    def _matrix(
        self, rows: Space, columns: Space, d: list[list[Scalar]], e: list[list[Scalar]]
    ) -> FamilyMatrix:
        names = self.domain.names
        return FamilyMatrix(
            rows, columns, ExactMatrix.from_rows(d, names), ExactMatrix.from_rows(e, names)
        )


_LEMMA = {"root": "2*n^1 + -1", "wavelets_times_u": "1*n^1 + -1*u^1"}
"""Eigenvalues of HᵀH, those of the wavelets times u; the certificate proves them by induction."""


def _tree_basis(sector: Sector, items: int, contexts: int, copies: int) -> list[Basis]:
    """Return the constant vector, or the wavelets of the level with ``copies`` of them."""
    run, rows = items // copies, hierarchy(items).rows
    found = []
    for start in range(0, items, run):
        halves = [(start + i, 1 if not sector.copies or 2 * i < run else -1) for i in range(run)]
        sums = [sum(row.get(i, 0) * x for i, x in halves) for row in rows]
        feature = [(place, total) for place, total in enumerate(sums) if total]
        scale = run if sector.copies else 1
        found.append(_basis(sector, [halves], [feature], (items, contexts), scale))
    return found


def _listed_basis(sector: Sector, items: int, contexts: int, copies: int) -> list[Basis]:
    """Return the unit vectors."""
    units, features = ([[(i, 1)] for i in range(count)] for count in (items, 2 * items - 1))
    return [_basis(sector, units, features, (items, contexts), copies)]


def _basis(
    sector: Sector,
    vectors: list[Vector],
    features: list[Vector],
    sizes: tuple[int, int],
    scale: int,
) -> Basis:
    """Return the basis of item vectors and of feature vectors, common ones and every context's."""
    items, contexts = sizes
    height = 2 * items - 1
    inputs = vectors
    if sector.inputs.rows.indexed:
        inputs = [*vectors, *([(items + k, 1)] for k in range(contexts))]
    own = _in_every_context(features, contexts, height)
    return Basis(
        samples=_columns(_in_every_context(vectors, contexts, items), items * contexts),
        inputs=_columns(inputs, items + contexts),
        outputs=_columns(
            [*features, *([(height + i, x) for i, x in vector] for vector in own)],
            height * (contexts + 1),
        ),
        scale=scale,
    )


def _in_every_context(vectors: list[Vector], contexts: int, size: int) -> list[Vector]:
    return [[(k * size + i, x) for i, x in vector] for vector in vectors for k in range(contexts)]


def _columns(vectors: list[Vector], size: int) -> ExactMatrix:
    entries = [entry for vector in vectors for entry in vector]
    places = [j for j, vector in enumerate(vectors) for _ in vector]
    rows, values = [i for i, _ in entries], [x for _, x in entries]
    return ExactMatrix.from_entries((size, len(vectors)), rows, places, values)


# -- pathways -------------------------------------------------------------------------------------


def _pathways(spec: Spec, items: int) -> tuple[PathwayTemplate, ...]:
    """Return the pathways as templates; ``items`` is 0 where gates do not depend on the item."""
    member_of = {member: family for family in spec.families for member in family.members}
    found: list[PathwayTemplate] = []
    for place, pathway in enumerate(spec.pathways):
        family = member_of.get(place)
        if family is not None and family.label != CONTEXT:
            msg = f"pathways '{family.name}' are one a value of {family.label}, not of {CONTEXT}"
            raise NoFamilyError(msg)
        if family is not None and place != family.members[0]:
            continue
        texts = (
            (family.name, family.gate, family.inputs, family.outputs)
            if family is not None
            else (pathway.name, pathway.gate_text, pathway.inputs_text, pathway.outputs_text)
        )
        name, gate, inputs, outputs = texts
        found.append(
            PathwayTemplate(
                name=name,
                each=family is not None,
                gate=_gate(name, gate, items, each=family is not None),
                inputs=_group(name, "inputs", inputs, _INPUT_GROUPS),
                outputs=_group(name, "outputs", outputs, _OUTPUT_GROUPS),
                stage=pathway.stage,
            )
        )
    return tuple(found)


def _group(name: str, what: str, text: str, known: dict[str, frozenset[str]]) -> frozenset[str]:
    if text not in known:
        msg = (
            f"the {what} of pathway '{name}' are {text}, which is not said for every size; "
            f"needed is one of {', '.join(known)}"
        )
        raise NoFamilyError(msg)
    return known[text]


def _gate(name: str, text: str, items: int, *, each: bool) -> tuple[tuple[int, int], ...]:
    """Return (gate on the own context, gate on the others) for every sample type.

    A formula compares labels with constants and with the pathway's own context. Values beyond
    every constant in it are compared alike, so contexts up to three beyond the largest constant
    show what it does for any number of them.
    """
    top = max([int(number) for number in re.findall(r"\d+", text)], default=0) + 3
    if top > 200 or text.startswith("["):
        msg = f"the gate of pathway '{name}' is not said for every size: {text[:80]}"
        raise NoFamilyError(msg)
    found: dict[tuple[int, bool], set[int]] = {}
    for own in range(1, top + 1):
        for (context, item), value in _values(
            name, text.replace("{context}", str(own)), top, items
        ):
            found.setdefault((item, context == own), set()).add(value)
        if not each:
            break
    if not each:
        merged = {item: set[int]() for item, _ in found}
        for (item, _), values in found.items():
            merged[item] |= values
        found = {(item, flag): values for item, values in merged.items() for flag in (True, False)}
    if any(len(values) > 1 for values in found.values()):
        msg = f"the gate of pathway '{name}' tells contexts apart by more than its own: {text}"
        raise NoFamilyError(msg)
    types = range(1, items + 1) if items else (1,)
    return tuple((found[i, True].copy().pop(), found[i, False].copy().pop()) for i in types)


def _values(name: str, text: str, top: int, items: int) -> list[tuple[tuple[int, int], int]]:
    numbers = range(1, items + 1) if items else (1,)
    samples = [(context, item) for context in range(1, top + 1) for item in numbers]
    labels = {CONTEXT: tuple(c for c, _ in samples)}
    if items:
        labels["item"] = tuple(i for _, i in samples)
    try:
        values = gate_values(text, labels, len(samples))
    except Finding as finding:
        msg = f"the gate of pathway '{name}' is not said for every size: {finding.found}"
        raise NoFamilyError(msg) from None
    # A formula over labels has no gains.
    return [(at, int(value != 0)) for at, value in zip(samples, values, strict=True)]
