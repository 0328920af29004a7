"""The derivation for every number of contexts, and of items where that is a symbol."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sympy as sp

from symreln.claims.families.forms import root_of, stage_loss, total_multiplicity
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Code, Items, Math, Section, Table, equation, prose
from symreln.document.words import NONE
from symreln.report.family_text import exceptions, stronger

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.claims.families.derivation import FamilyDerivation, FamilyPathway, FamilyStage
    from symreln.document.inlines import Content, Inline
    from symreln.exact.algebraic import AlgebraicNumber

TITLES: dict[tuple[str, ...], str] = {
    ("contexts",): "For every number of contexts",
    ("items",): "For every number of items",
}


def chapter(derivation: Derivation) -> Section:
    """Return the chapter on the sizes that are symbols."""
    family = derivation.family
    assert family is not None
    options = tuple(sorted(size.option for size in family.sizes))
    title = TITLES.get(options, "For every number of contexts and items")
    if family.template is None:
        blocks: list[Block] = [prose(f"There is no derivation for every size: {family.reason}.")]
    else:
        blocks = [*_range(family), *_method(family), *_results(family), *_proof(family)]
    return Section(title=title, blocks=tuple(blocks), label="sec:family")


def _range(family: FamilyDerivation) -> list[Block]:
    assert family.template is not None
    domain = family.template.domain
    sizes: list[str | Inline] = ["All of this chapter holds for "]
    for place, size in enumerate(family.sizes):
        symbol = to_latex(size.symbol)
        sizes.append(" and " if place else "all ")
        if size.name == domain.items:
            least = domain.minimum[size.name]
            sizes += [Math(symbol), f" that are powers of 2, from {least} on"]
        else:
            sizes.append(Math(rf"{symbol} \geq {size.minimum}"))
    values = ", ".join(f"{size.name} = {size.value}" for size in family.sizes)
    sizes.append(f"; the other chapters are at {values}.")
    excepted = exceptions(family)
    if excepted:
        sizes.append(f" Not covered: {'; '.join(excepted)}.")
    return [prose(*sizes)]


def _method(family: FamilyDerivation) -> list[Block]:
    assert family.template is not None
    blocks: list[Block] = [
        prose(
            "Permuting the contexts changes nothing, so every matrix here commutes with all "
            "permutations: between two groups of inputs, samples or outputs it is ",
            Math(r"D \delta_{kl} + E"),
            " with ",
            Math("k"),
            " and ",
            Math("l"),
            " the contexts. By Schur's lemma ",
            Math("M"),
            " and ",
            Math(r"\Sigma^{x}"),
            " act on vectors equal for all contexts and on vectors that sum to zero over the "
            "contexts separately, as small matrices whose entries are rational functions of the "
            "sizes. A pathway that treats one context apart leaves one exchangeable context less.",
        )
    ]
    copies = family.template.domain.copies
    if copies:
        items = _items(family)
        u = to_latex(family.symbols[copies])
        blocks += [
            prose(
                "The features ",
                Math("H(n)"),
                " of the binary tree are a row of ones on top of two copies of ",
                Math("H(n/2)"),
                ", so that",
            ),
            equation(
                r"H(n)^{\top} H(n) = \mathbf{1} \mathbf{1}^{\top} + "
                r"\begin{pmatrix} H(n/2)^{\top} H(n/2) & 0 \\ 0 & H(n/2)^{\top} H(n/2) "
                r"\end{pmatrix}"
            ),
            prose(
                "By induction the constant vector (the root) has the eigenvalue ",
                Math("2n - 1"),
                ", and the ",
                Math(u),
                " wavelets that are ",
                Math("1"),
                " on the first and ",
                Math("-1"),
                " on the second half of one of ",
                Math(u),
                " equal runs of items have ",
                Math(rf"n/{u} - 1"),
                "; ",
                Math(rf"{u} = 1, 2, 4, \ldots, {items}/2"),
                ". The dynamics act on the root and on every wavelet separately.",
            ),
        ]
    return blocks


def _items(family: FamilyDerivation) -> str:
    assert family.template is not None
    items = family.template.domain.items
    return str(items) if isinstance(items, int) else to_latex(family.symbols[items])


def _results(family: FamilyDerivation) -> list[Block]:
    blocks: list[Block] = []
    for stage in family.stages:
        blocks += [_table(family, p) for p in family.pathways if p.stage == stage.stage]
        blocks.append(_stage(family, stage))
    if family.complete:
        blocks += [
            prose(
                "Every strength that is not null starts at ",
                Math(r"\pi_0"),
                " and follows, with its half-time,",
            ),
            equation(
                r"\tau \dot{\pi} = 2 \pi (s - d_{\mathrm{eff}} \pi), \qquad "
                r"\pi(t) = \frac{s / d_{\mathrm{eff}}}"
                r"{1 + \left(\frac{s}{d_{\mathrm{eff}} \pi_0} - 1\right) e^{-2 s t / \tau}},"
                r" \qquad "
                r"t_{1/2} = \frac{\tau}{2 s} \ln \left(\frac{s}{d_{\mathrm{eff}} \pi_0} - 1\right)"
            ),
        ]
    return blocks


def _one_of(name: str) -> str:
    """Return a name whose label stands in braces as that of one pathway among many."""
    head, _, rest = name.partition("{")
    label, _, tail = rest.partition("}")
    return f"‘{head}…{tail}’, one for each {label}"


def _table(family: FamilyDerivation, pathway: FamilyPathway) -> Table:
    rows: list[tuple[Content, ...]] = []
    nulls: sp.Expr = sp.S.Zero
    for mode in pathway.modes:
        count = mode.multiplicity.to_sympy(family.symbols)
        if mode.is_null:
            nulls = nulls + total_multiplicity(family, mode)
            continue
        numbers = (mode.s, mode.d, mode.d_eff, mode.height)
        cells = (_cell(family, number) for number in numbers)
        rows.append((mode.sector.name, *cells, Math(to_latex(count))))
    name = pathway.template.name
    caption: list[str | Inline] = [
        f"Modes of pathways {_one_of(name)}" if pathway.template.each else f"Modes of {name}"
    ]
    if not nulls.is_zero:
        caption += [". Null modes (nothing to learn): ", Math(to_latex(nulls))]
    caption.append(".")
    return Table(
        header=(
            "part",
            Math("s"),
            Math("d"),
            Math(r"d_{\mathrm{eff}}"),
            Math(r"s/d_{\mathrm{eff}}"),
            "multiplicity",
        ),
        rows=tuple(rows),
        caption=tuple(caption),
        alignment="lccccc",
    )


def _cell(family: FamilyDerivation, number: AlgebraicNumber | None) -> Content:
    if number is None:
        return NONE
    assert family.template is not None
    value = number.scalar
    if value is not None and number.is_sqrt:
        root = root_of(value, family.template.domain, family.symbols)
        if root.inside == 1:
            return Math(to_latex(root.outside))
        radical = rf"\sqrt{{{to_latex(root.inside)}}}"
        return Math(radical if root.outside == 1 else f"{to_latex(root.outside)} {radical}")
    if number.is_radical:
        return Math(to_latex(number.to_sympy(family.symbols)))
    return f"root of degree {number.degree}"


def _stage(family: FamilyDerivation, stage: FamilyStage) -> Block:
    if stage.level is None:
        return prose(
            f"Stage {stage.stage} is not proven to close for every size: {stage.obstacle}. "
            "Nothing more is said about it, or about later stages, for every size."
        )
    losses = [stage_loss(family, stage, final=final) for final in (False, True)]
    before, after = (to_latex(loss) if loss is not None else "" for loss in losses)
    content: list[str | Inline] = [
        f"Stage {stage.stage}: {stage.level.value}, for every size{stronger(family, stage)}. "
        "The loss falls from "
    ]
    content += [Math(before), " to ", Math(after), "."]
    return prose(*content)


def _proof(family: FamilyDerivation) -> list[Block]:
    return [
        prose(
            "The proof is in ",
            Code("certificate-family.json"),
            ": projectors on all modes, couplings and residuals as identities of rational "
            "functions of the sizes, which ",
            Code("symreln verify certificate-family.json"),
            " checks with the standard library alone. Besides:",
        ),
        Items(tuple(f"{step.statement} ({step.check})" for step in family.steps[1:])),
    ]
