"""The derivation for every size, as it is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.base.tables import plain_table
from symreln.claims.claim import Claim
from symreln.claims.families.certificate import conditions_of, sizes_closed_at
from symreln.claims.families.domain import number_of
from symreln.claims.families.forms import copies_latex, stage_loss, title_of, total_multiplicity
from symreln.claims.families.starts import start_blocks, start_lines
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Content, Items, Math, Section, Table, equation
from symreln.document.roots import plain_formula
from symreln.document.typeset import phrase, say, typeset
from symreln.document.words import NONE
from symreln.exact.algebraic import AlgebraicNumber
from symreln.laws.choice import printed

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.claims.families.derivation import (
        FamilyDerivation,
        FamilyMode,
        FamilyPathway,
        FamilyStage,
        HeadStart,
    )
    from symreln.claims.families.stage import FamilyTemplate

_TITLES: dict[tuple[str, ...], str] = {
    ("contexts",): "For every number of contexts",
    ("items",): "For every number of items",
}
HEADER = ["pathway", "s", "d", "d_eff", "multiplicity", "part"]


def every_size(derivation: Derivation) -> EverySize | None:
    """Return the answer for every size, None where no size is a symbol."""
    return None if derivation.family is None else EverySize(family=derivation.family)


@dataclass(frozen=True, kw_only=True, eq=False)
class EverySize(Claim):
    """The modes, verdicts and losses for every size, as far as stages close."""

    family: FamilyDerivation

    @property
    def _template(self) -> FamilyTemplate:
        assert self.family.template is not None
        return self.family.template

    @cached_property
    def _losses(self) -> dict[int, list[sp.Basic | None]]:
        """Loss before and after every stage."""
        return {
            stage.stage: [stage_loss(self.family, stage, final=final) for final in (False, True)]
            for stage in self.family.stages
        }

    @property
    def _exceptions(self) -> list[str]:
        """Where the formulas are not proven, in words."""
        return [
            f"{each.symbol} = {', '.join(map(str, each.values))}"
            if each.symbol
            else f"{each.polynomial.to_sympy(self.family.symbols)} = 0"
            for each in self.family.ask(conditions_of)
        ]

    def _stronger(self, stage: FamilyStage) -> str:
        """Say at which sizes a stage that is closed by symmetry is closed, or ""."""
        found = sizes_closed_at(self.family, stage).items()
        values = " or ".join(f"{name} = {', '.join(map(str, numbers))}" for name, numbers in found)
        return f"; at {values} closed, because no two pathways couple there" if values else ""

    def _expr(self, number: AlgebraicNumber) -> sp.Expr | None:
        """Return a number by radicals."""
        return number_of(number, self._template.domain, self.family.symbols)

    def values(self) -> dict[str, Any]:
        """Return sizes, stages and pathways.

        Decimals are at the declared parameters and sizes, with one copy of a sector (u = 1).
        "proven" says whether every stage closes for every size; where it is false, "reason" says
        why, and the stages that do close stand. A stage that is closed by symmetry is closed at the
        sizes in its "closed_at". A mode with a head start begins at the symbol of its "strength",
        whose value is "strength0": driven "faster" times as fast until the half-time of the mode
        that it is driven by.
        """
        family, shape = self.family, self.family.template
        copies = shape and shape.domain.copies
        return {
            "sizes": [
                {"name": s.name, "option": s.option, "minimum": s.minimum, "value": s.value}
                for s in family.sizes
            ],
            "proven": family.complete,
            "reason": family.reason
            or next((s.obstacle for s in family.stages if s.obstacle), None),
            "copies": {"symbol": copies, "values": f"1, 2, 4, ..., {shape.domain.items}/2"}
            if shape and copies
            else None,
            "certificate": shape and "certificate.json",
            "exceptions": [
                {
                    "polynomial": c.polynomial.to_sympy(family.symbols),
                    "symbol": c.symbol or None,
                    "values": c.values if c.symbol else None,
                }
                for c in (family.ask(conditions_of) if shape else ())
            ],
            "stages": [
                {
                    "stage": stage.stage,
                    "level": stage.level,
                    "closed_at": sizes_closed_at(family, stage),
                    "obstacle": stage.obstacle or None,
                    "initial_loss": self._losses[stage.stage][0],
                    "final_loss": self._losses[stage.stage][1],
                }
                for stage in family.stages
            ],
            "pathways": [
                {
                    "name": pathway.template.name,
                    "each": pathway.template.each,
                    "stage": pathway.stage,
                    "modes": [self._mode(mode) for mode in pathway.modes],
                }
                for pathway in family.pathways
            ],
            "steps": family.steps,
        }

    def _mode(self, mode: FamilyMode) -> dict[str, Any]:
        numbers = {
            "s": mode.s,
            "d": mode.d,
            "d_eff": mode.d if mode.is_null else mode.d_eff,
            "multiplicity": AlgebraicNumber.rational(mode.multiplicity),
            "height": mode.height,
        }
        return {
            "sector": mode.sector.name,
            **{k: self._number(v) for k, v in numbers.items()},
            "strength": mode.law and mode.law.expr,
            "half_time": mode.half_time,
            "strength0": mode.strength0,
            "head_start": self._ahead(mode.ahead),
            "start_not_derived": mode.obstacle or None,
        }

    def _ahead(self, ahead: HeadStart | None) -> dict[str, Any] | None:
        if ahead is None:
            return None
        by = {"pathway": ahead.pathway.name, "s": self._number(ahead.by.s)}
        return {"driven_by": by, "faster": ahead.faster, "overlap": ahead.overlap}

    def _number(self, number: AlgebraicNumber | None) -> dict[str, str] | None:
        if number is None:
            return None
        found, expr = number.to_json(self.family.values, self.family.symbols), self._expr(number)
        return found if expr is None else found | {"expr": str(expr)}

    def lines(self) -> Iterator[str]:
        """Say on the terminal the modes that learn, and what was proven of every stage."""
        if self.family.template is None:
            yield f"not for every size: {self.family.reason}"
            return
        rows = [
            [
                pathway.template.name,
                *map(self._text, (mode.s, mode.d, mode.d_eff)),
                str(mode.multiplicity.to_sympy(self.family.symbols)),
                mode.sector.name,
            ]
            for pathway in self.family.pathways
            for mode in pathway.modes
            if not mode.is_null
        ]
        domain = self._template.domain
        ranges = ", ".join(
            f"{name} a power of 2, at least {least}"
            if name == domain.items
            else f"{name} >= {least}"
            for name, least in domain.minimum.items()
        )
        if domain.copies:
            items = domain.items
            every = f"1, 2, 4, ..., {items}/2"
            if isinstance(items, int):
                every = ", ".join(map(str, domain.copy_numbers(items)))
            ranges += f"; {domain.copies} = {every}"
        yield from plain_table(f"for every size: {ranges}", HEADER, rows).splitlines()
        for stage in self.family.stages:
            found = (
                f"not proven to close for every size: {stage.obstacle}"
                if stage.level is None
                else f"{stage.level.value}, proven for every size{self._stronger(stage)}"
            )
            yield f"  - stage {stage.stage}: {found}"
        yield from (f"  - {text}" for text in start_lines(self.family))
        yield from (f"  - excepted: {text}" for text in self._exceptions)

    def _text(self, number: AlgebraicNumber | None) -> str:
        expr = None if number is None else self._expr(number)
        return _no_formula(number, "-") if expr is None else plain_formula(expr)

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own."""
        options = tuple(sorted(size.option for size in self.family.sizes))
        if self.family.template is None:
            reason = "There is no derivation for every size: {reason}."
            blocks = [say(reason, reason=self.family.reason)]
        else:
            blocks = [*self._method()]
            if self.family.complete:
                blocks += [*self._solution(), *start_blocks(self.family)]
            blocks += self._proof()
        yield Section(
            title=_TITLES.get(options, "For every number of contexts and items"),
            label="sec:family",
            blocks=tuple(blocks),
        )

    def first_page(self) -> Iterator[Block]:
        """Yield what holds for all sizes: verdicts, modes, closed forms and losses.

        The chapter of all sizes proves it; where there is no answer it says why.
        """
        if self.family.template is None:
            yield say("Not for every size: {why}.", why=self.family.reason)
            return
        yield say(f"**For all** {self._sizes}{{excepted}}:", excepted=self._excepted)
        for stage in self.family.stages:
            yield from self._stage(stage)
        if self._template.domain.copies:
            u = to_latex(self.family.symbols[self._template.domain.copies])
            yield say(
                f"The root is the mean over items. The ${u}$ wavelets of one size are differences "
                f"between the two halves of ${u}$ equal runs of items, with "
                f"${copies_latex(self.family)}$."
            )
        if self.family.complete:
            yield from self._formulas()
        values = ", ".join(f"${to_latex(s.symbol)} = {s.value}$" for s in self.family.sizes)
        yield say(
            f"The proof is in [#sec:family]. All other sections, and what follows, are at {values}."
        )

    def _formulas(self) -> Iterator[Block]:
        """Yield the closed form of every mode, in the sizes."""
        yield equation(
            *(
                rf"{self._symbol(mode)}(t) &= {to_latex(mode.law.expr)}"
                for mode in self._learning
                if mode.law is not None and mode.law.expr is not None
            )
        )

    @property
    def _learning(self) -> list[FamilyMode]:
        """The modes that learn, pathway by pathway."""
        return [m for pathway in self.family.pathways for m in pathway.modes if not m.is_null]

    def _symbol(self, mode: FamilyMode) -> str:
        """Return the LaTeX of a mode's strength, with a letter: numbers are those at one size."""
        return rf"\pi_{{\mathrm{{{ascii_lowercase[self._learning.index(mode)]}}}}}"

    @property
    def _sizes(self) -> str:
        """What the sizes run over."""
        domain = self._template.domain
        return " and all ".join(
            f"${to_latex(size.symbol)}$ that are powers of 2, from {domain.minimum[size.name]} on"
            if size.name == domain.items
            else rf"${to_latex(size.symbol)} \geq {size.minimum}$"
            for size in self.family.sizes
        )

    @property
    def _excepted(self) -> str:
        return f" (not covered: {'; '.join(self._exceptions)})" if self._exceptions else ""

    def _method(self) -> Iterator[Block]:
        yield say(
            "Permuting the contexts changes nothing, so every matrix here commutes with all "
            "permutations: between two groups of inputs, samples or outputs it is "
            r"$D \delta_{kl} + E$ with $k$ and $l$ the contexts. By Schur's lemma $M$ and "
            r"$\Sigma^{x}$ act on vectors equal for all contexts and on vectors that sum to zero "
            "over the contexts separately, as small matrices whose entries are rational functions "
            "of the sizes. A pathway that treats one context apart leaves one exchangeable context "
            "less."
        )
        domain, symbols = self._template.domain, self.family.symbols
        if not domain.copies:
            return
        u = to_latex(symbols[domain.copies])
        yield say(
            "The features $H(n)$ of the binary tree are a row of ones on top of two copies of "
            "$H(n/2)$, so that"
        )
        yield equation(
            r"H(n)^{\top} H(n) = \mathbf{1} \mathbf{1}^{\top} + "
            r"\begin{pmatrix} H(n/2)^{\top} H(n/2) & 0 \\ 0 & H(n/2)^{\top} H(n/2) "
            r"\end{pmatrix}"
        )
        yield say(
            "By induction the constant vector (the root) has the eigenvalue $2n - 1$, and the "
            f"${u}$ wavelets that are $1$ on the first and $-1$ on the second half of one of "
            f"${u}$ equal runs of items have $n/{u} - 1$; ${copies_latex(self.family)}$. The "
            "dynamics act on the root and on every wavelet separately."
        )

    def _stage(self, stage: FamilyStage) -> Iterator[Block]:
        """Yield the verdict of a stage, its loss and its modes."""
        if stage.level is None:
            yield say(
                f"Stage {stage.stage} is not proven to close for every size: {{why}}. Nothing "
                "more is said about it, or about later stages, for every size.",
                why=stage.obstacle,
            )
        else:
            before, after = ("" if x is None else to_latex(x) for x in self._losses[stage.stage])
            yield say(
                f"Stage {stage.stage} is {stage.level.value}{{stronger}}. "
                f"Its loss falls from ${before}$ to ${after}$.",
                stronger=typeset(self._stronger(stage)),
            )
        yield from (self._table(p) for p in self.family.pathways if p.stage == stage.stage)

    def _solution(self) -> Iterator[Block]:
        """Say the closed form of all modes, in steps."""
        s, d = sp.symbols("s d", positive=True)
        law = printed(self.family.known, s, d)
        yield say(
            r"The strength of a mode with $s > 0$ obeys, with $d_{\mathrm{eff}}$ for $d$ and from "
            r"$\pi_0$, or from $\tilde{\pi}_0$ where it has a head start,"
        )
        formulas = [law.equation]
        if law.expr is not None:
            formulas.append(rf"\pi(t) = {to_latex(law.expr)}")
        if law.half_time is not None:
            formulas.append(rf"t_{{1/2}} = {to_latex(law.half_time)}")
        yield from map(equation, formulas)
        yield say(
            r"Time $t$ counts steps of gradient descent, each of which multiplies a growing "
            r"amplitude by $1 + s/\tau$."
        )

    def _table(self, pathway: FamilyPathway) -> Table:
        learning = [mode for mode in pathway.modes if not mode.is_null]
        nulls = sp.Add(*(total_multiplicity(self.family, m) for m in pathway.modes if m.is_null))
        more = f". Null modes (nothing to learn): ${to_latex(nulls)}$" if not nulls.is_zero else ""
        d_eff = r"d_{\mathrm{eff}}"
        return Table(
            header=(
                *("mode", "part", Math("s"), Math("d"), Math(d_eff)),
                *(Math(f"s/{d_eff}"), "multiplicity"),
            ),
            rows=tuple(
                (
                    Math(self._symbol(mode)),
                    mode.sector.name,
                    *map(self._cell, (mode.s, mode.d, mode.d_eff, mode.height)),
                    Math(to_latex(mode.multiplicity.to_sympy(self.family.symbols))),
                )
                for mode in learning
            ),
            caption=phrase(f"Modes of {{name}}{more}.", name=title_of(pathway.template)),
            alignment="llccccc",
        )

    def _cell(self, number: AlgebraicNumber | None) -> Content:
        expr = None if number is None else self._expr(number)
        return _no_formula(number, NONE) if expr is None else Math(to_latex(expr))

    def _proof(self) -> Iterator[Block]:
        yield say(
            "The proof is in `certificate.json`: projectors on all modes, couplings and residuals "
            "as identities of rational functions of the sizes, which "
            "`symreln verify certificate.json` checks with the standard library alone. "
            "Besides:"
        )
        yield Items(
            tuple(
                typeset(f"{step.statement.rstrip('.')} ({step.check}).")
                for step in self.family.steps[1:]
            )
        )


def _no_formula(number: AlgebraicNumber | None, nothing: str) -> str:
    return nothing if number is None else f"root of degree {number.degree}"
