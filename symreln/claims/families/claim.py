"""The derivation for every size, as it is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.base.records import record
from symreln.base.tables import plain_table
from symreln.claims.claim import Claim
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Math, Section, Table, equation
from symreln.document.roots import plain_formula
from symreln.document.typeset import phrase, say, typeset
from symreln.exact.algebraic import AlgebraicNumber

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.claims.families.derivation import FamilyDerivation, FamilyMode, FamilyStage
    from symreln.claims.families.task import Task
    from symreln.exact.scalar import Scalar


def every_size(derivation: Derivation) -> EverySize | None:
    """Return the answer for every size, None where no size is a symbol."""
    return None if derivation.family is None else EverySize(family=derivation.family)


@record(eq=False)
class EverySize(Claim):
    """The modes, verdicts and losses for every size."""

    family: FamilyDerivation

    @property
    def _task(self) -> Task:
        assert self.family.task is not None
        return self.family.task

    @property
    def _nothing(self) -> str:
        return f"nothing is said of every size: {self.family.reason}"

    def _expr(self, value: Scalar) -> sp.Expr:
        return value.to_sympy(self.family.symbols)

    def _latex(self, value: Scalar) -> str:
        return to_latex(self._expr(value))

    def _forms(self, mode: FamilyMode) -> list[sp.Expr]:
        """Return s, d, d_eff and the plateau."""
        s, d, d_eff = mode.found.s_squared, mode.found.d, mode.found.d_eff
        root = self._task.root
        return [root(s), self._expr(d), self._expr(d_eff), root(s / (d_eff * d_eff))]

    def _loss(self, losses: Sequence[Scalar]) -> sp.Expr:
        """Return the loss of all parts: of wavelets a number times u (n/u - 1), for every u."""
        n, root = self._expr(self._task.items.number), self._expr(losses[0])
        share = self._expr(losses[1] / (self._task.items.number - self._task.copies))
        if isinstance(n, sp.Integer):
            return sp.factor_terms(root + share * (n * sp.log(n, 2) - n + 1))
        rest: Any = sp.factor(root + share * (1 - n))
        return sp.factor(share * n / sp.log(2)) * sp.log(n) + rest

    def _level(self, stage: FamilyStage, proven: str = "") -> str:
        at = f"; at {stage.closed_at} closed, because no two pathways couple there"
        return f"{stage.level.value}{proven}{at if stage.closed_at else ''}"

    def values(self) -> dict[str, Any]:
        """Return the pathways, one a stage or one for each context, with their stages' verdicts.

        Decimals are at the declared parameters and sizes, with one wavelet of a size (u = 1).
        "proven" says whether there is an answer for every size; where it is false, "reason" says
        why. A stage that is closed by symmetry is closed at the size "closed_at". A mode with a
        head start begins at the symbol of its "strength", whose value is "strength0": driven
        "faster" times as fast until the half-time of the mode that it is driven by.
        """
        family, task = self.family, self.family.task
        return {
            "proven": family.complete,
            "reason": family.reason or None,
            "copies": task and {"symbol": str(task.copies), "values": self._copies("...")},
            "pathways": [
                {
                    "name": stage.template.name,
                    "each": stage.template.each,
                    "stage": stage.template.stage,
                    "level": stage.level,
                    "closed_at": stage.closed_at or None,
                    "initial_loss": self._loss(stage.before),
                    "final_loss": self._loss(stage.after),
                    "modes": [self._mode(mode) for mode in stage.modes],
                }
                for stage in family.stages
            ],
        }

    def _mode(self, mode: FamilyMode) -> dict[str, Any]:
        found, ahead = mode.found, mode.ahead
        exact = {x: getattr(found, x) for x in ("d", "d_eff", "multiplicity")}
        by = ahead and {
            "pathway": ahead.by.template.name,
            "s": self._root(ahead.by.found.s_squared),
        }
        return {
            "sector": mode.part,
            "s": self._root(found.s_squared),
            **{name: self._number(AlgebraicNumber.rational(x)) for name, x in exact.items()},
            "height": self._root(found.s_squared / (found.d_eff * found.d_eff)),
            "strength": mode.law.expr,
            "half_time": mode.half_time,
            "strength0": mode.strength0,
            "head_start": ahead
            and {"driven_by": by, "faster": ahead.faster, "overlap": 1 / ahead.faster},
        }

    def _number(self, number: AlgebraicNumber) -> dict[str, str]:
        return number.to_json(self.family.values, self.family.symbols)

    def _root(self, value: Scalar) -> dict[str, str]:
        found = self._number(AlgebraicNumber.rational(value, is_sqrt=True))
        return found | {"expr": str(self._task.root(value))}

    def lines(self) -> Iterator[str]:
        """Say on the terminal the modes that learn, and what was proven of every stage."""
        if not self.family.complete:
            yield self._nothing
            return
        rows = [
            [m.template.name, *map(plain_formula, self._forms(m)[:3]), str(m.multiplicity), m.part]
            for m in self.family.modes
        ]
        ranges = ", ".join(
            f"{size.symbol} {'a power of 2, at least' if size is self._task.items else '>='} "
            f"{size.least}"
            for size in self._task.sizes
        )
        header = ["pathway", "s", "d", "d_eff", "multiplicity", "part"]
        title = f"for every size: {ranges}; {self._task.copies} = {self._copies('...')}"
        yield from plain_table(title, header, rows).splitlines()
        for stage in self.family.stages:
            level = self._level(stage, ", proven for every size")
            yield f"  - stage {stage.template.stage}: {level}"
        for mode, ahead in self._started:
            by = f"{ahead.by.template.name}, {ahead.by.part}"
            whose = f"head start of {mode.template.name}, {mode.part}"
            yield f"  - {whose}: driven {ahead.faster} times as fast until the half-time of {by}"

    @property
    def _started(self) -> list[tuple[FamilyMode, Any]]:
        return [(mode, mode.ahead) for mode in self.family.modes if mode.ahead is not None]

    def _copies(self, dots: str) -> str:
        """Return which values u takes."""
        items = self._task.items
        if items.symbol:
            return f"1, 2, 4, {dots}, {items.symbol}/2"
        return ", ".join(str(2**k) for k in range(items.at.bit_length() - 1))

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own."""
        if self.family.complete:
            blocks = tuple(self._proof())
            yield Section(title="For every size", label="sec:family", blocks=blocks)

    def first_page(self) -> Iterator[Block]:
        """Yield what holds for all sizes: verdicts, modes, closed forms and losses.

        The chapter of all sizes proves it; where there is no answer it says why.
        """
        if not self.family.complete:
            yield say("{nothing}.", nothing=self._nothing[:1].upper() + self._nothing[1:])
            return
        task, u, copies = self._task, self._latex(self._task.copies), self._copies(r"\ldots")
        sizes = " and all ".join(
            f"${self._latex(size.number)}$ that are powers of 2, from {size.least} on"
            if size is task.items
            else rf"${self._latex(size.number)} \geq {size.least}$"
            for size in task.sizes
        )
        yield say(f"**For all** {sizes}:")
        for stage in self.family.stages:
            yield from self._stage(stage)
        yield say(
            f"The root is the mean over items. The ${u}$ wavelets of one size are differences "
            f"between the two halves of ${u}$ equal runs of items, with ${u} = {copies}$."
        )
        yield equation(
            *(
                rf"{self._symbol(mode)}(t) &= {to_latex(mode.law.expr)}"
                for mode in self.family.modes
                if mode.law.expr is not None
            )
        )
        values = ", ".join(f"${self._latex(size.number)} = {size.at}$" for size in task.sizes)
        yield say(
            f"The proof is in [#sec:family]. All other sections, and what follows, are at {values}."
        )

    def _symbol(self, mode: FamilyMode) -> str:
        """Return the LaTeX of a mode's strength, with a letter: numbers are those at one size."""
        return rf"\pi_{{\mathrm{{{ascii_lowercase[self.family.modes.index(mode)]}}}}}"

    def _stage(self, stage: FamilyStage) -> Iterator[Block]:
        """Yield the verdict of a stage, its loss and its modes."""
        before, after = (to_latex(self._loss(losses)) for losses in (stage.before, stage.after))
        yield say(
            f"Stage {stage.template.stage} is {{level}}. "
            f"Its loss falls from ${before}$ to ${after}$.",
            level=typeset(self._level(stage)),
        )
        header = ("s", "d", r"d_{\mathrm{eff}}", r"s/d_{\mathrm{eff}}")
        yield Table(
            header=("mode", "part", *map(Math, header), "multiplicity"),
            rows=tuple(
                (
                    Math(self._symbol(mode)),
                    mode.part,
                    *(Math(to_latex(form)) for form in self._forms(mode)),
                    Math(self._latex(mode.multiplicity)),
                )
                for mode in stage.modes
            ),
            caption=phrase("Modes of {name}.", name=stage.template.title),
            alignment="llccccc",
        )

    def _proof(self) -> Iterator[Block]:
        """Yield the proof: common eigenspaces, then stages on them, and where modes start."""
        task = self._task
        exact = (task.scale * task.scale, 2 * task.items.number - 1, task.contexts.number)
        square, root, count = map(self._latex, exact)
        n, u = self._latex(task.items.number), self._latex(task.copies)
        yield say(
            "Samples are items times contexts. With the features $H$ of the binary tree and "
            r"$\mathbf{1}$ the vector of ones,"
        )
        yield equation(
            r"X^{\top} X = I \otimes \mathbf{1} \mathbf{1}^{\top} + "
            rf"{square}\, \mathbf{{1}} \mathbf{{1}}^{{\top}} \otimes I, \qquad "
            r"Y^{\top} Y = H^{\top} H \otimes (I + \mathbf{1} \mathbf{1}^{\top})."
        )
        yield say(
            r"By induction on the tree, of which $H$ is a row of ones on top of both halves, "
            rf"$H^{{\top}} H$ is ${root}$ on the root and ${n}/{u} - 1$ on the ${u}$ wavelets of a "
            r"size. $\mathbf{1} \mathbf{1}^{\top}$ of the contexts is "
            f"${count}$ on vectors that are constant over them, and $0$ where they sum to zero. So "
            "both are numbers, $x$ of the inputs that a pathway sees and $y$, on (root or wavelet) "
            "times (constant or sum-zero). **One pathway for all contexts** has a mode wherever $x "
            "y > 0$, of $s^2 = x y/P^2$ and $d = x/P$, and leaves nothing of the targets there."
        )
        if any(stage.template.each for stage in self.family.stages):
            yield say(
                "**One pathway for each context** sees one input of the root or of a wavelet. Its "
                r"gate is a column of $A = I$, or $A = \mathbf{1} \mathbf{1}^{\top} - I$ where "
                r"pathway $k$ is off in context $k$. The entries of $A^2$ are $P \Sigma^{x}(j,k)$, "
                r"the columns of $Y A$ are $P \Sigma^{yx}(k) = P s\, u_k$, $Y$ being what is left "
                r"of the targets. With all strengths $\phi$ pathways take $\phi \sum_j u_j "
                r"\Sigma^{x}(j,k)$ off $\Sigma^{yx}(k)$, column $k$ of $\phi\, Y A A^2/(P^2 s)$. "
                r"Where $A^2$ is one number $P d_{\mathrm{eff}}$ on all vectors with targets left, "
                r"that is $\phi\, d_{\mathrm{eff}} u_k$: strengths stay equal, every mode evolves "
                "on its own, and all targets are learned."
            )
        if started := self._started:
            faster = ", ".join(f"${to_latex(ahead.faster)}$" for _, ahead in started)
            yield say(
                "**Head start.** Until the half-time of the earlier mode on the same root or "
                "wavelet, a mode of a later stage is driven as well by the targets that are not "
                rf"learned yet, orthogonal to what is left: $r/s = 1/\gamma = $ {faster} times as "
                r"fast. With these letters [#sec:lines] has $\tilde{\pi}_0$, from which it starts."
            )
