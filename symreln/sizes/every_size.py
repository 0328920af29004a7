"""The contextual task for every number C of contexts and n of items at once.

What is proven, and why, stands in :mod:`symreln.verifier.sizes`, whose rational functions of the
sizes become closed forms here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.base.tables import plain_table
from symreln.claims.claim import Claim
from symreln.document.document_model import Block, Math, Section, Table, equation
from symreln.document.mathtext import to_latex
from symreln.document.roots import plain_formula
from symreln.document.typeset import phrase, say, typeset
from symreln.exact.scalar import Scalar
from symreln.laws.choice import printed
from symreln.laws.law import HEAD_START, STRENGTH0, Law, Regime
from symreln.pipeline.certificate.texts import Json, Texts
from symreln.verdict.judge import Level
from symreln.verifier.sizes import GROUPS, NUMBERS, PARTS, Mode, NotForEverySizeError, Targets

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.specs.spec import Spec

#: Which contexts a pathway sees, by whether there is one for each context and its gate as written.
_GATES = {
    (False, "all"): "all",
    (True, "context == {context}"): "own",
    (True, "context != {context}"): "others",
}
_INPUTS = {"all": ("items", "contexts"), "items": ("items",), "contexts": ("contexts",)}


@record
class _Template:
    """The one pathway of a stage, or its pathways, one for each context.

    Attributes:
        name: Name, with the label in braces where there is one pathway a context.
        stage: Training stage.
        gate: Which contexts it sees: "all", or of one a context "own" or "others".
        inputs: The groups of inputs that it sees.
    """

    name: str
    stage: int
    gate: str
    inputs: tuple[str, ...]

    @property
    def each(self) -> bool:
        """Whether there is one pathway a context."""
        return self.gate != "all"

    @property
    def title(self) -> str:
        """The name of the pathway, or of all that it stands for."""
        several = f"pathways ‘{self.name.replace('{context}', '…')}’ (one for each context)"
        return several if self.each else f"pathway ‘{self.name}’"


@record
class _Size:
    """The number of items or of contexts.

    Attributes:
        symbol: Its name; None where it is one number.
        least: Least value.
        at: Declared value.
        number: The symbol, or the number.
    """

    symbol: str | None
    least: int
    at: int
    number: Scalar


@record
class _Task:
    """The contextual task with its pathways, the sizes being symbols.

    Attributes:
        symbols: Parameters, sizes and u, the number of wavelets of one size, by name.
        items: n, a power of 2.
        contexts: C.
        copies: u, which runs over 1, 2, 4, … n/2.
        scale: The value of an active context input.
        templates: One a stage, in order.
    """

    symbols: dict[str, sp.Symbol]
    items: _Size
    contexts: _Size
    copies: Scalar
    scale: Scalar
    templates: tuple[_Template, ...]

    @property
    def sizes(self) -> tuple[_Size, ...]:
        """Those that are symbols."""
        return tuple(size for size in (self.items, self.contexts) if size.symbol)

    def root(self, value: Scalar) -> sp.Expr:
        """Return the square root of a rational function that is not negative, factored."""
        return sp.sqrt(sp.factor(value.to_sympy(self.symbols)))  # pyright: ignore


def _task_of(spec: Spec) -> _Task:
    """Return what a spec is for every size.

    Raises:
        NotForEverySizeError: With the reason.
    """
    written, symbols = (
        spec.dataset.options,
        {**spec.symbols, **{s.name: s.symbol for s in spec.sizes}},
    )
    _require(spec.dataset.task == "contextual", "formulas are known for the contextual task alone")
    structures = {*re.findall(r"\w+", written["structures"])}
    _require(structures == {"hierarchy"}, "formulas are known where all have the hierarchy")
    scaled = {size.name for size in spec.sizes} & {*re.findall(r"\w+", written["context_scale"])}
    _require(not scaled, "formulas are known where the scale of contexts depends on no size")
    copies = "u"  # no parameter's
    symbols[copies] = sp.Symbol(copies, integer=True, positive=True)
    items, contexts = (_size(spec, option, tuple(symbols)) for option in ("items", "contexts"))
    least = 1 << max(1, (items.least - 1).bit_length())  # of a binary tree
    templates = tuple(sorted(_templates(spec, contexts.least), key=lambda each: each.stage))
    good = tuple(template.stage for template in templates) == spec.stages and not spec.switches
    known = "every stage has one pathway, or one for each context, and no gate switches"
    _require(good, f"formulas are known where {known}")
    return _Task(
        symbols=symbols,
        items=replace(items, least=least),
        contexts=contexts,
        copies=Scalar.symbol(copies, tuple(symbols)),
        scale=Scalar.of(spec.dataset.inputs.entry(items.at, 0), tuple(symbols)),
        templates=templates,
    )


def _size(spec: Spec, option: str, names: tuple[str, ...]) -> _Size:
    for size in spec.sizes:
        if size.option == option:
            number = Scalar.symbol(size.name, names)
            least, at = int(size.minimum or 1), int(size.value or 0)
            return _Size(symbol=size.name, least=least, at=at, number=number)
    value = int(spec.dataset.options[option])
    return _Size(symbol=None, least=value, at=value, number=Scalar(names, value))


def _templates(spec: Spec, least: int) -> Iterator[_Template]:
    family_of = {member: family for family in spec.families for member in family.members}
    for place, pathway in enumerate(spec.pathways):
        family = family_of.get(place)
        if family is not None and place != family.members[0]:
            continue
        name, text, inputs, outputs = (
            (family.name, family.gate, family.inputs, family.outputs)
            if family is not None
            else (pathway.name, pathway.gate_text, pathway.inputs_text, pathway.outputs_text)
        )
        gate = _GATES.get((family is not None, text))
        known = _INPUTS if gate == "all" else ("items",)
        good = gate is not None and inputs in known and outputs == "all"
        said = f"gate {text[:80]}, inputs {inputs}, outputs {outputs}, from {least} contexts on"
        _require(good and (least > 1 or not family), f"no formulas are known for '{name}': {said}")
        yield _Template(
            name=name,
            stage=pathway.stage,
            gate=gate or "",
            inputs=_INPUTS[inputs],
        )


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise NotForEverySizeError(reason)


# -- what is derived -------------------------------------------------------------------------------


@record(eq=False)
class _Mode:
    """One mode for every size, of a pathway or of each pathway that a template stands for.

    Attributes:
        template: Its pathway.
        found: Its numbers.
        law: Its closed form in steps; with a head start it begins at that symbol.
        by: The earlier mode that gives it a head start, or None.
        faster: How many times as fast that one drives it, r/s = 1/γ; else None.
    """

    template: _Template
    found: Mode
    law: Law
    by: _Mode | None = None
    faster: sp.Expr | None = None

    @property
    def part(self) -> str:
        """Where on the tree of items: "root" or "wavelets"."""
        return PARTS[self.found.place]


@record(eq=False)
class _Stage:
    """One stage for every size: one pathway, or one for each context.

    Attributes:
        template: What it trains.
        level: Closed, or closed by symmetry.
        closed_at: "C = 2" where it is closed there and not only by symmetry; else "".
        modes: Those that learn.
        before: Loss before it, on root and wavelets.
        after: Loss after it.
    """

    template: _Template
    level: Level
    closed_at: str
    modes: tuple[_Mode, ...]
    before: list[Scalar]
    after: list[Scalar]


def _derive_every_size(spec: Spec) -> EverySize:
    """Return the derivation for every size of a spec with a size symbol, or why there is none."""
    try:
        task = _task_of(spec)
        return EverySize(spec=spec, task=task, stages=_stages(task, Regime.of(spec)))
    except NotForEverySizeError as found:
        return EverySize(spec=spec, reason=str(found))


def _stages(task: _Task, known: Regime) -> tuple[_Stage, ...]:
    """Derive stage by stage.

    Raises:
        NotForEverySizeError: One does not close.
    """
    targets = Targets(task.items.number, task.contexts.number, task.copies, task.scale)
    modes: dict[Mode, _Mode] = {}
    stages, size = [], task.contexts
    for template in task.templates:
        before = targets.losses()
        found = targets.stage(template.gate, list(template.inputs))
        modes |= {mode: _mode(template, mode, modes, task, known) for mode in found}
        couples = targets.couples(template.gate, found)
        stages.append(
            _Stage(
                template=template,
                level=Level.CLOSED_BY_SYMMETRY if couples else Level.CLOSED,
                closed_at=f"{size.symbol} = 2" if couples and size.least == 2 else "",
                modes=tuple(modes[mode] for mode in found),
                before=before,
                after=targets.losses(),
            )
        )
    return tuple(stages)


def _mode(
    template: _Template, found: Mode, earlier: dict[Mode, _Mode], task: _Task, known: Regime
) -> _Mode:
    """Return a mode with its law, and what gives it a head start."""
    s, height = map(task.root, (found.s_squared, found.s_squared / (found.d_eff * found.d_eff)))
    d, by = found.d_eff.to_sympy(task.symbols), found.by
    law = printed(known, s, d, asymptote=height, strength0=STRENGTH0 if by is None else HEAD_START)
    ahead = {} if by is None else {"by": earlier[by], "faster": task.root(found.faster_squared)}
    return _Mode(template=template, found=found, law=law, **ahead)


# -- what is said ----------------------------------------------------------------------------------


def every_size(derivation: Derivation) -> EverySize | None:
    """Return the answer for every size, None where no size is a symbol."""
    if not derivation.spec.sizes or not derivation.known.matrices.holds:
        return None
    with phase("every size"):
        return _derive_every_size(derivation.spec)


@record(eq=False)
class EverySize(Claim):
    """The modes, verdicts and losses for every size.

    Attributes:
        spec: The spec; ``spec.sizes`` are the symbols.
        task: What it is for every size, or None where nothing is said of every size.
        reason: Why not, or "".
        stages: All stages.
    """

    spec: Spec
    task: _Task | None = None
    reason: str = ""
    stages: tuple[_Stage, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every stage closes for every size."""
        return self.task is not None

    @property
    def modes(self) -> tuple[_Mode, ...]:
        """All modes that learn, stage by stage."""
        return tuple(mode for stage in self.stages for mode in stage.modes)

    @property
    def _task(self) -> _Task:
        assert self.task is not None
        return self.task

    @property
    def _nothing(self) -> str:
        return f"nothing is said of every size: {self.reason}"

    def _expr(self, value: Scalar) -> sp.Expr:
        return value.to_sympy(self._task.symbols)

    def _latex(self, value: Scalar) -> str:
        return to_latex(self._expr(value))

    def _forms(self, mode: _Mode) -> list[sp.Expr]:
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

    def _level(self, stage: _Stage, proven: str = "") -> str:
        at = f"; at {stage.closed_at} closed, because no two pathways couple there"
        return f"{stage.level.value}{proven}{at if stage.closed_at else ''}"

    def values(self) -> dict[str, Any]:
        """Return the pathways, one a stage or one for each context, with their stages' verdicts.

        "proven" says whether there is an answer for every size; where it is false, "reason" says
        why. A stage that is closed by symmetry is closed at the size "closed_at". A mode with a
        head start begins at a symbol of its "strength": it is driven "faster" times as fast until
        the half-time of the mode that it is driven by.
        """
        task = self.task
        return {
            "proven": self.complete,
            "reason": self.reason or None,
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
                for stage in self.stages
            ],
        }

    def _mode(self, mode: _Mode) -> dict[str, Any]:
        found, by = mode.found, mode.by
        exact = {x: getattr(found, x) for x in ("d", "d_eff", "multiplicity")}
        return {
            "sector": mode.part,
            "s": self._root(found.s_squared),
            **{name: {"expr": str(self._expr(x))} for name, x in exact.items()},
            "height": self._root(found.s_squared / (found.d_eff * found.d_eff)),
            "strength": mode.law.expr,
            "half_time": mode.law.half_time,
            "head_start": by
            and {
                "driven_by": {
                    "pathway": by.template.name,
                    "s": self._root(by.found.s_squared),
                },
                "faster": mode.faster,
            },
        }

    def _root(self, value: Scalar) -> dict[str, str]:
        return {"expr": str(self._task.root(value))}

    def certificate(self) -> Json:
        """Return the part on every size, as :mod:`symreln.verifier.sizes` reads it."""
        task = self._task
        texts = Texts(tuple(task.symbols))
        sizes = (
            {"symbol": x.symbol, "least": x.least, "at": x.at} for x in (task.items, task.contexts)
        )
        return {
            "kind": "sizes",
            "symbols": list(task.symbols),
            **dict(zip(GROUPS, sizes, strict=True)),
            "copies": str(task.copies),
            "scale": texts.ratio(task.scale),
            "stages": [
                {
                    "name": stage.template.name,
                    "gate": stage.template.gate,
                    "inputs": list(stage.template.inputs),
                    "level": stage.level.value,
                    "initial_loss": texts.ratios(stage.before),
                    "final_loss": texts.ratios(stage.after),
                    "modes": [
                        {"part": mode.part}
                        | {x: (y := getattr(mode.found, x)) and texts.ratio(y) for x in NUMBERS}
                        for mode in stage.modes
                    ],
                }
                for stage in self.stages
            ],
        }

    def _summary(self) -> Iterator[str]:
        return self.lines()

    def lines(self) -> Iterator[str]:
        """Say on the terminal the modes that learn, and what was proven of every stage."""
        if not self.complete:
            yield self._nothing
            return
        rows = [
            [
                m.template.name,
                *map(plain_formula, self._forms(m)[:3]),
                str(m.found.multiplicity),
                m.part,
            ]
            for m in self.modes
        ]
        ranges = ", ".join(
            f"{size.symbol} {'a power of 2, at least' if size is self._task.items else '>='} "
            f"{size.least}"
            for size in self._task.sizes
        )
        header = ["pathway", "s", "d", "d_eff", "multiplicity", "part"]
        title = f"for every size: {ranges}; {self._task.copies} = {self._copies('...')}"
        yield from plain_table(title, header, rows).splitlines()
        for stage in self.stages:
            level = self._level(stage, ", proven for every size")
            yield f"  - stage {stage.template.stage}: {level}"
        for mode in self.modes:
            if mode.by is not None:
                by = f"{mode.by.template.name}, {mode.by.part}"
                whose = f"head start of {mode.template.name}, {mode.part}"
                yield f"  - {whose}: driven {mode.faster} times as fast until the half-time of {by}"

    def _copies(self, dots: str) -> str:
        """Return which values u takes."""
        items = self._task.items
        if items.symbol:
            return f"1, 2, 4, {dots}, {items.symbol}/2"
        return ", ".join(str(2**k) for k in range(items.at.bit_length() - 1))

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own."""
        if self.complete:
            blocks = tuple(self._proof())
            yield Section(title="For every size", label="sec:family", blocks=blocks)

    def first_page(self) -> Iterator[Block]:
        """Yield what holds for all sizes: verdicts, modes, closed forms and losses.

        The chapter of all sizes proves it; where there is no answer it says why.
        """
        if not self.complete:
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
        for stage in self.stages:
            yield from self._stage(stage)
        yield say(
            f"The root is the mean over items. The ${u}$ wavelets of one size are differences "
            f"between the two halves of ${u}$ equal runs of items, with ${u} = {copies}$."
        )
        yield equation(
            *(
                rf"{self._symbol(mode)}(t) &= {to_latex(mode.law.expr)}"
                for mode in self.modes
                if mode.law.expr is not None
            )
        )
        values = ", ".join(f"${self._latex(size.number)} = {size.at}$" for size in task.sizes)
        yield say(
            f"The proof is in [#sec:family]. All other sections, and what follows, are at {values}."
        )

    def _symbol(self, mode: _Mode) -> str:
        """Return the LaTeX of a mode's strength, with a letter: numbers are those at one size."""
        return rf"\pi_{{\mathrm{{{ascii_lowercase[self.modes.index(mode)]}}}}}"

    def _stage(self, stage: _Stage) -> Iterator[Block]:
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
                    Math(self._latex(mode.found.multiplicity)),
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
        if any(stage.template.each for stage in self.stages):
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
        if started := [mode.faster for mode in self.modes if mode.faster is not None]:
            faster = ", ".join(f"${to_latex(each)}$" for each in started)
            yield say(
                "**Head start.** Until the half-time of the earlier mode on the same root or "
                "wavelet, a mode of a later stage is driven as well by the targets that are not "
                rf"learned yet, orthogonal to what is left: $r/s = 1/\gamma = $ {faster} times as "
                r"fast. With these letters [#sec:lines] has $\tilde{\pi}_0$, from which it starts."
            )
