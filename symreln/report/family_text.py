"""The derivation for every size in words: ranges, and rows for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symreln.claims.families.forms import root_of

if TYPE_CHECKING:
    from symreln.claims.families.derivation import FamilyDerivation, FamilyStage
    from symreln.exact.algebraic import AlgebraicNumber

HEADER = ["pathway", "s", "d", "d_eff", "multiplicity", "part"]


def ranges(family: FamilyDerivation) -> str:
    """Return the sizes with their ranges, as "C >= 2, n = 2, 4, 8, …"."""
    assert family.template is not None
    domain, parts = family.template.domain, []
    for name, least in domain.minimum.items():
        is_tree = name == domain.items
        parts.append(f"{name} a power of 2, at least {least}" if is_tree else f"{name} >= {least}")
    return ", ".join(parts)


def copies_text(family: FamilyDerivation) -> str:
    """Return what the number of copies runs over, or ""."""
    assert family.template is not None
    domain = family.template.domain
    if not domain.copies:
        return ""
    if isinstance(domain.items, int):
        return f"{domain.copies} = {', '.join(map(str, domain.copy_numbers(domain.items)))}"
    return f"{domain.copies} = 1, 2, 4, ..., {domain.items}/2"


def title(family: FamilyDerivation) -> str:
    """Return what the table of modes says, in one line."""
    if family.template is None:
        return f"not for every size: {family.reason}"
    copies = copies_text(family)
    return f"for every size: {ranges(family)}" + (f"; {copies}" if copies else "")


def mode_rows(family: FamilyDerivation) -> list[list[str]]:
    """Return the modes that learn, one row each."""
    rows = []
    for pathway in family.pathways:
        for mode in pathway.modes:
            if mode.is_null:
                continue
            values = (mode.s, mode.d, mode.d_eff)
            rows.append(
                [
                    pathway.template.name,
                    *(_text(family, value) for value in values),
                    str(mode.multiplicity.to_sympy(family.symbols)),
                    mode.sector.name,
                ]
            )
    return rows


def levels(family: FamilyDerivation) -> list[str]:
    """Return what was proven of every stage, one line each."""
    lines = []
    for stage in family.stages:
        if stage.level is None:
            lines.append(
                f"stage {stage.stage}: not proven to close for every size: {stage.obstacle}"
            )
        else:
            line = f"stage {stage.stage}: {stage.level.value}, proven for every size"
            lines.append(line + stronger(family, stage))
    lines += [f"excepted: {text}" for text in exceptions(family)]
    return lines


def stronger(family: FamilyDerivation, stage: FamilyStage) -> str:
    """Return at which sizes a stage that is closed by symmetry is closed, or ""."""
    found = family.closed_at(stage).items()
    values = " or ".join(f"{name} = {', '.join(map(str, numbers))}" for name, numbers in found)
    return f"; at {values} closed, because no two pathways couple there" if values else ""


def exceptions(family: FamilyDerivation) -> list[str]:
    """Return where the formulas are not proven, in words."""
    if family.template is None:
        return []
    lines = []
    for condition in family.conditions:
        if condition.symbol:
            lines.append(f"{condition.symbol} = {', '.join(map(str, condition.values))}")
        else:
            lines.append(f"{condition.polynomial.to_sympy(family.symbols)} = 0")
    return lines


def _text(family: FamilyDerivation, number: AlgebraicNumber | None) -> str:
    if number is None:
        return "-"
    assert family.template is not None
    value = number.scalar
    if value is not None and number.is_sqrt:
        return str(root_of(value, family.template.domain, family.symbols).expr)
    if number.is_radical:
        return str(number.to_sympy(family.symbols))
    return f"root of degree {number.degree}"
