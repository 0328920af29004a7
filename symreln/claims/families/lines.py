"""The lines of a derivation that differ for every size: its modes, with the sizes as symbols."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symreln.claims.families.claim import every_size
from symreln.claims.families.domain import number_of
from symreln.claims.families.forms import part_of, stage_loss, title_of
from symreln.claims.lines import DerivationLines
from symreln.document.mathtext import to_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.exact.truth import Truth
from symreln.laws.line import Line, checked

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.claims.families.derivation import (
        FamilyDerivation,
        FamilyMode,
        FamilyPathway,
        FamilyStage,
    )

#: s² and d_eff of a mode at numbers for all parameters and sizes.
_Numbers = tuple[Fraction, Fraction]


def family_lines(derivation: Derivation) -> DerivationLines | None:
    """Return what the lines of a derivation are for every size; None where no stage closes.

    Raises:
        ArithmeticError: A line's check failed: a bug of symreln, and nothing is printed.
    """
    found = derivation.ask(every_size)
    if found is None or found.family.template is None or not derivation.spec.has_values:
        return None
    lines = checked(_lines(found.family, derivation), "line by line, for every size")
    return DerivationLines(
        derived=lines,
        title="The derivation, line by line, for every size",
        label="sec:family-lines",
        about="derivation for every size",
    )


def _lines(family: FamilyDerivation, derivation: Derivation) -> Iterator[Line]:
    sizes = ", ".join(to_latex(size.symbol) for size in family.sizes)
    contexts = next((to_latex(s.symbol) for s in family.sizes if s.option == "contexts"), "C")
    left = [stage for stage in family.stages if stage.level is None]
    closes = len(left) < len(family.stages)
    yield Line(
        says="Loss, effective datasets, flow, change of basis "
        + "and the mode equation with its solution " * closes
        + f"hold as they stand for every ${sizes}$. "
        + r"What depends on it are $s$, $d$ and $d_{\mathrm{eff}}$. " * closes
        + "".join(
            f"In stage {stage.stage} modes are not proven to close for every size: "
            f"{_without_braces(stage.obstacle)}. "
            for stage in left
        )
        + "Permuting the contexts changes nothing, so that every correlation has between two "
        "contexts the block",
        equation=(r"\Sigma_{kl} = \Gamma\, \delta_{kl} + \Lambda",),
        because="a matrix that commutes with all permutations; it acts on vectors equal for all "
        rf"contexts by $\Gamma + {contexts} \Lambda$, with ${contexts}$ contexts, and on those "
        r"that sum to zero by $\Gamma$",
        check="the dataset for every size is this one at its sizes, and the certificate for every "
        "size is verified: projectors, modes and couplings as rational functions of the sizes",
        holds=all(step.outcome is Truth.PROVEN for step in family.steps),
        main=True,
    )
    for stage, plain in zip(family.stages, derivation.stages, strict=False):
        if stage.level is None:
            return
        known = {
            numbers
            for pathway in plain.pathways
            for mode in pathway.modes
            if (numbers := _at(mode.s, mode.d_eff, family.values)) is not None
        }
        for pathway in family.pathways:
            if pathway.stage == stage.stage:
                yield from _modes(family, pathway, known)
        yield _loss(family, stage, derivation)


def _modes(
    family: FamilyDerivation, pathway: FamilyPathway, known: set[_Numbers]
) -> Iterator[Line]:
    """Yield the modes of a pathway, or of all that one template stands for."""
    title = title_of(pathway.template)
    for mode in pathway.modes:
        rows = [] if mode.is_null else _rows(family, mode)
        if rows:
            yield Line(
                says=f"{title[:1].upper()}{title[1:]}, {part_of(family, mode)}:",
                equation=tuple(rows),
                because="the eigenvalues on this part"
                + (
                    ""
                    if mode.d == mode.d_eff
                    else "; the sum over pathways that couple closes by symmetry: "
                    r"$d_{\mathrm{eff}} \neq d$"
                ),
                check="at this spec's sizes $s^2$ and $d_{\\mathrm{eff}}$ are those of a mode of "
                "the ordinary derivation, for every number of copies of the part, exact",
                holds=all(n is None or n in known for n in _all_copies(family, mode)),
                main=True,
            )


def _without_braces(text: str) -> str:
    """Return a text with the names of templates as words."""
    return text.replace("{", "").replace("}", "")


def _rows(family: FamilyDerivation, mode: FamilyMode) -> list[str]:
    """Return s, d, d_eff and the plateau, those that are radicals."""
    names, numbers = ("s", "d", "s/d"), (mode.s, mode.d, mode.height)
    if mode.d != mode.d_eff:
        names = ("s", "d", r"d_{\mathrm{eff}}", r"s/d_{\mathrm{eff}}")
        numbers = (mode.s, mode.d, mode.d_eff, mode.height)
    assert family.template is not None
    domain = family.template.domain
    forms = [None if n is None else number_of(n, domain, family.symbols) for n in numbers]
    return [
        f"{name} &= {to_latex(form)}"
        for name, form in zip(names, forms, strict=True)
        if form is not None
    ]


def _all_copies(family: FamilyDerivation, mode: FamilyMode) -> Iterator[_Numbers | None]:
    """Yield s² and d_eff at the declared sizes, of every kind of copies of the part."""
    assert family.template is not None
    domain, values = family.template.domain, family.values
    if not mode.sector.copies:
        yield _at(mode.s, mode.d_eff, values)
        return
    items = domain.items if isinstance(domain.items, int) else int(values[domain.items])
    for copies in domain.copy_numbers(items):
        yield _at(mode.s, mode.d_eff, {**values, domain.copies: Fraction(copies)})


def _at(
    s: AlgebraicNumber, d: AlgebraicNumber | None, values: dict[str, Fraction]
) -> _Numbers | None:
    """Return s² and d_eff at numbers, None where they are no rational ones."""
    if s.scalar is None or d is None or d.scalar is None or d.is_sqrt:
        return None
    root = s.scalar.substitute(values).to_fraction()
    return root if s.is_sqrt else root**2, d.scalar.substitute(values).to_fraction()


def _loss(family: FamilyDerivation, stage: FamilyStage, derivation: Derivation) -> Line:
    """Return the loss before and after a stage."""
    before, after = (stage_loss(family, stage, final=final) for final in (False, True))
    assert before is not None
    assert after is not None
    plain = next(each for each in derivation.stages if each.stage == stage.stage)
    symbols = family.symbols
    values: Any = {symbols[name]: value for name, value in family.values.items() if name in symbols}
    same = [
        (form.subs(values).doit() - exact.substitute(family.spec.values).to_sympy({})).equals(0)
        for form, exact in ((before, plain.initial_loss), (after, plain.final_loss))
    ]
    return Line(
        says=f"The loss before and after stage {stage.stage}:",
        equation=(rf"{to_latex(before)} \to {to_latex(after)}",),
        because=r"$\sum_\alpha m_\alpha s_\alpha^2/(2 d_\alpha)$ is what the plateaus take off it, "
        "all parts and copies together",
        check="at this spec's sizes both are the losses of the ordinary derivation, exact",
        holds=all(same),
        main=True,
    )
