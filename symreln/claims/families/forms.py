"""Shortest forms of a family's numbers: factored roots, sums over the copies of a sector."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import sympy as sp

from symreln.document.mathtext import to_latex
from symreln.exact.scalar import Scalar, polynomial_ring

if TYPE_CHECKING:
    from symreln.claims.families.derivation import FamilyDerivation, FamilyMode, FamilyStage
    from symreln.claims.families.domain import Domain, Symbols
    from symreln.claims.families.stage import PathwayTemplate


def sum_over_copies(value: Scalar, domain: Domain, symbols: Symbols) -> sp.Expr:
    """Return Σ value over u = 1, 2, 4, …, n/2, in closed form where it is known.

    For a symbol n the terms c·u^a add up to c (n^a - 1)/(2^a - 1), and c log2(n) for a = 0;
    where u occurs otherwise the sum is left as it is.
    """
    u, items = domain.copies, domain.items
    if isinstance(items, int):
        parts = [value.substitute({u: Fraction(n)}) for n in domain.copy_numbers(items)]
        whole = sum(parts[1:], start=parts[0])
        return whole.to_sympy(symbols)
    n, place = symbols[items], domain.names.index(u)
    low = min(int(key[place]) for key in value.denominator.to_dict())
    if value.denominator.degrees()[place] != low:
        level = sp.Symbol("l", integer=True, nonnegative=True)
        term = value.to_sympy(symbols).subs(symbols[u], 2**level)
        # SymPy's types say that a Sum may be a relation, which it is for relations only.
        return sp.Sum(term, (level, 0, sp.log(n, 2) - 1))  # pyright: ignore[reportReturnType]
    total: sp.Expr = sp.S.Zero
    ring = polynomial_ring(domain.names)
    bottom = value.denominator // (ring.gen(place) ** low)
    others = (name for name in domain.names if name != u)
    for powers, part in domain.split(value.numerator, *others).items():
        a = powers[place] - low
        series = sp.log(n) / sp.log(2) if not a else (n**a - 1) / sp.Integer(2 ** abs(a) - 1)
        if a < 0:  # (n^a - 1)/(2^a - 1) with 2^a = 1/2^|a|
            series = (1 - n**a) * sp.Integer(2) ** -a / sp.Integer(2**-a - 1)
        total += Scalar(domain.names, part, bottom).to_sympy(symbols) * series
    return total


def stage_loss(family: FamilyDerivation, stage: FamilyStage, *, final: bool) -> sp.Basic | None:
    """Return the loss before or after a stage, all sectors and copies together.

    None where the stage does not close, so that what it leaves is not known.
    """
    assert family.template is not None
    domain, symbols = family.template.domain, family.symbols
    total: sp.Expr = sp.S.Zero
    for part in stage.sectors:
        value = part.final_loss if final else part.initial_loss
        if value is None:
            return None
        whole = value * part.sector.multiplicity
        total += (
            sum_over_copies(whole, domain, symbols)
            if part.sector.copies
            else whole.to_sympy(symbols)
        )
    if not isinstance(domain.items, str) or total.has(sp.Sum):
        return sp.factor_terms(total)
    logarithm = sp.log(symbols[domain.items])
    depth = sp.Dummy()
    known = sp.expand(total.subs(logarithm, depth))
    slope = known.coeff(depth)
    return sp.factor(slope) * logarithm + sp.factor(known - slope * depth)


def total_multiplicity(family: FamilyDerivation, mode: FamilyMode) -> sp.Expr:
    """Return how many equal modes there are, all kinds of copies of the sector together."""
    assert family.template is not None
    if not mode.sector.copies:
        return mode.multiplicity.to_sympy(family.symbols)
    total = sum_over_copies(mode.multiplicity, family.template.domain, family.symbols)
    factored: sp.Expr = sp.factor(total)  # pyright: ignore[reportAssignmentType]
    return factored


def title_of(template: PathwayTemplate) -> str:
    """Return the name of a pathway, or of all that a template stands for."""
    if not template.each:
        return f"pathway ‘{template.name}’"
    # The label stands in braces.
    head, _, rest = template.name.partition("{")
    label, _, tail = rest.partition("}")
    return f"pathways ‘{head}…{tail}’ (one for each {label})"


def copies_latex(family: FamilyDerivation) -> str:
    r"""Return which values the number of copies of a sector takes: ``u = 1, 2, 4, \ldots, n/2``."""
    assert family.template is not None
    domain, symbols = family.template.domain, family.symbols
    values = (
        ", ".join(map(str, domain.copy_numbers(domain.items)))
        if isinstance(domain.items, int)
        else rf"1, 2, 4, \ldots, {to_latex(symbols[domain.items])}/2"
    )
    return f"{to_latex(symbols[domain.copies])} = {values}"


def part_of(family: FamilyDerivation, mode: FamilyMode) -> str:
    """Return the part of the dataset that a mode is on, and how many equal modes it stands for."""
    number = to_latex(mode.multiplicity.to_sympy(family.symbols))
    every = f" for every ${copies_latex(family)}$" if mode.sector.copies else ""
    return f"{mode.sector.name}, multiplicity ${number}${every}"
