"""The parts of a network of nodes and edges that learn apart: levels, modes, closed forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symreln.claims.claim import Claim, Step
from symreln.document.mathtext import to_latex
from symreln.document.model import (
    Block,
    Code,
    Math,
    Section,
    Strong,
    Table,
    equation,
    prose,
)
from symreln.document.typeset import say, typeset
from symreln.document.words import decimal_cell, number_cell
from symreln.exact.truth import Truth
from symreln.laws.depth import Depth
from symreln.laws.shared_chain import SharedChain, place_proofs

if TYPE_CHECKING:
    from symreln.claims.network.components import Component
    from symreln.claims.network.derivation import NetworkDerivation
    from symreln.document.inlines import Content
    from symreln.exact.spectrum import JointSpectrum
    from symreln.laws.law import Law
    from symreln.spec.model import Spec
    from symreln.verdict.diagonal import Diagonality

#: Parts that are shown, and rows of a table and lines on a terminal; derivation.json has all.
MOST_PARTS = 12
MOST_ROWS = 24


@dataclass(frozen=True, kw_only=True, eq=False)
class Part(Claim):
    """One part.

    Attributes:
        component: What is proven of it.
        name: Which one it is, in words.
        number: Its place, from 1.
        spec: The spec of the whole.
    """

    component: Component
    name: str
    number: int
    spec: Spec

    def values(self) -> dict[str, Any]:
        """Return what derivation.json says of a component."""
        component = self.component
        return {
            "pathways": component.paths,
            "level": component.level,
            "reason": component.why,
            "uses": component.counts or None,
            "not_regular": component.reason or None,
            "diagonal": diagonal_values(component.decision),
            "closed_form": None if component.form is None else _form_values(component.form),
            "modes": [
                {
                    "bundle": place,
                    "same_as": first if first < place else None,
                    "modes": None if first < place else mode_values(spectrum),
                }
                for place, (first, spectrum) in enumerate(
                    zip(component.equal_data, component.spectra, strict=True)
                )
            ],
        }

    def lines(self) -> Iterator[str]:
        """Yield its level, and the equation of its modes where they close by themselves."""
        component, form = self.component, self.component.form
        yield f"{self.name}: {component.level.value}: {component.why}"
        if form is not None and form.layers > 1:
            used = ", ".join(map(str, component.counts))
            yield f"  edges used {used} times; tau dpi/dt = {form.rate}: {form.family}"
        elif form is not None:
            yield "  single edges: tau dpi/dt = s - d pi"

    @property
    def row(self) -> tuple[Content, ...]:
        """What the table of all parts says of it."""
        counts = ", ".join(map(str, self.component.counts)) or "–"
        level = Strong(self.component.level.value)
        return str(self.number), typeset(self.name), counts, level

    def says(self) -> Iterator[Block]:
        """Say it in a section of the chapter."""
        component, why = self.component, self.component.why
        blocks: list[Block] = [prose(*typeset(f"{why[:1].upper()}{why[1:]}."))]
        if component.form is not None:
            blocks += _closed(component.form, component)
        elif component.is_regular:
            blocks.append(
                prose(
                    "Every pathway is used alike at each place, so that one matrix a place follows "
                    "the reduced flow, its term multiplied by the uses; the matrices are kept "
                    "whole."
                )
            )
        elif component.ordinary is not None:
            blocks.append(
                say(
                    "These are parallel pathways with one hidden layer each. What is proven of "
                    "them is what `symreln derive` says of the same pathways written as "
                    "`[[pathway]]`."
                )
            )
        else:
            blocks.append(prose("It is not regular: ", *typeset(component.reason), "."))
        blocks += self._modes()
        title, label = f"Part {self.number}", f"sec:part-{self.number}"
        yield Section(title=title, label=label, blocks=tuple(blocks))

    def _modes(self) -> list[Block]:
        found: list[Block] = []
        component = self.component
        for place, (first, spectrum) in enumerate(
            zip(component.equal_data, component.spectra, strict=True)
        ):
            if first == place and len(found) < MOST_PARTS:
                name = component.data.bundles[place].effective.pathway.name
                alike = component.equal_data.count(place) - 1
                more = f" and {alike} with equal data" if alike else ""
                found.append(_mode_table(self.spec, spectrum, f"{name}{more}"))
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts(Claim):
    """All parts.

    Attributes:
        parts: In the order of their first pathways.
        decision: Whether the correlations of every part are diagonal in bases of its own.
    """

    parts: tuple[Part, ...]
    decision: Diagonality

    def values(self) -> dict[str, Any]:
        """Return "diagonal" and "components"."""
        return {"diagonal": diagonal_values(self.decision), "components": self.parts}

    def lines(self) -> Iterator[str]:
        """Yield the lines of every part."""
        for part in self.parts[:MOST_ROWS]:
            yield from part.lines()
        left = len(self.parts) - MOST_ROWS
        if left > 0:
            yield f"… and {left} more parts"

    def steps(self) -> Iterator[Step]:
        """Say how the levels were decided and the closed forms proven."""
        for part in self.parts:
            decision = part.component.decision
            yield Step(
                name="diagonal",
                statement=f"bases make every correlation of {part.name} diagonal",
                check=decision.reason,
                outcome=decision.outcome,
            )
        for part in self.parts:
            if part.component.form is not None:
                yield from chain_steps(part.component.form)

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own."""
        blocks: list[Block] = [
            prose(
                "Pathways that share an edge, see the same data or couple are in one part. Edges "
                "and errors of different parts never meet: each part follows a flow of its own, "
                f"and the loss is a sum over them. This graph has {len(self.parts)}."
            ),
            Table(
                header=("part", "pathways", "uses of an edge at each place", "verdict"),
                rows=tuple(part.row for part in self.parts[:MOST_ROWS]),
                alignment="rpll",
                caption="Parts of the graph.",
            ),
        ]
        blocks += [block for part in self.parts[:MOST_PARTS] for block in part.says()]
        left = len(self.parts) - MOST_PARTS
        if left > 0:
            blocks.append(prose(f"{left} more parts are in derivation.json."))
        yield Section(title="Parts that learn apart", label="sec:parts", blocks=tuple(blocks))


def parts_of(derivation: NetworkDerivation) -> Parts:
    """Return the parts that learn apart."""
    decisions = [component.decision for component in derivation.components]
    open_ones = (d for d in decisions if d.outcome is not Truth.PROVEN)
    return Parts(
        parts=tuple(
            Part(
                component=component,
                name=_name(derivation, component),
                number=number,
                spec=derivation.spec,
            )
            for number, component in enumerate(derivation.components, start=1)
        ),
        decision=next(open_ones, decisions[0]),
    )


def _name(derivation: NetworkDerivation, component: Component) -> str:
    if len(derivation.components) == 1:
        return "all pathways"
    graph, paths = derivation.graph, derivation.data.paths
    names = [graph.name(paths[place]) for place in component.paths[:3]]
    more = len(component.paths) - len(names)
    return ", ".join(f"'{name}'" for name in names) + (f" and {more} more" if more else "")


def diagonal_values(decision: Diagonality) -> dict[str, Any]:
    """Return the outcome of a decision and its reason."""
    return {"outcome": decision.outcome, "reason": decision.reason}


def mode_values(spectrum: JointSpectrum) -> list[dict[str, Any]]:
    """Return the numbers of every mode."""
    return [{"s": m.s, "d": m.d, "multiplicity": m.multiplicity} for m in spectrum.modes]


def _form_values(form: SharedChain) -> dict[str, Any]:
    return {
        "family": form.family,
        "rate": form.rate,
        "strength": form.mode.expr,
        "latex": form.mode.to_latex(),
        "conserved": form.conserved,
        "speed": form.gain,
    }


def _solution(mode: Law) -> list[str]:
    """Return the lines of a solution: an implicit one has its function T in a line of its own."""
    if not isinstance(mode, Depth):
        return [mode.to_latex()]
    name = to_latex(mode.root)
    share = rf"\left({to_latex(mode.d / mode.s)}\, \pi\right)^{{{to_latex(mode.root_power)}}}"
    return [
        rf"t &= {to_latex(mode.scale)} \left[T({name}) - T({name}_0)\right], \quad "
        rf"{name} = {share},",
        rf"T({name}) &= {to_latex(mode.stage)}",
    ]


def chain_steps(chain: SharedChain) -> Iterator[Step]:
    """Say how a chain of shared edges was reduced and solved."""
    yield step(
        "reduction",
        "edges that start alike at their place stay alike",
        "one pathway's term stands in the bases of its edge alone",
        holds=all(place_proofs(chain.layers)),
    )
    if chain.layers > 1:
        yield step(
            "conserved differences",
            "w_l² - (n_l/n_1) w_1² does not move",
            "its derivative along the flow cancels",
            holds=all(chain.along(expr) == 0 for expr in chain.conserved),
        )
        yield step(
            "balanced equation",
            "a balanced start stays balanced, and its strength closes",
            "all edges move alike, and the product rule",
            holds=all(part == 0 for part in chain.balanced_residuals()),
        )
    yield step(
        "closed form",
        "it solves the equation of a balanced start",
        "put into its family's equation, which with its time constant is this one",
        holds=chain.is_solved,
    )


def step(name: str, statement: str, check: str, *, holds: bool) -> Step:
    """Return a step that is proven where its check holds."""
    outcome = Truth.PROVEN if holds else Truth.UNDECIDED
    return Step(name=name, statement=statement, check=check, outcome=outcome)


def chain_blocks(chain: SharedChain) -> list[Block]:
    """Say what a chain of shared edges conserves, and how its strength closes."""
    return [
        prose("Differences that are conserved; their derivatives cancel:"),
        *(equation(rf"{to_latex(expr)} = \mathrm{{const}}") for expr in chain.conserved),
        prose("From a balanced start, where these are 0, the strength ", Math(r"\pi"), " closes:"),
        equation(rf"\tau \dot{{\pi}} = {to_latex(chain.rate)}"),
        prose(f"It is solved by the family “{chain.family}”:"),
        equation(*_solution(chain.mode)),
    ]


def _closed(form: SharedChain, component: Component) -> list[Block]:
    used = ", ".join(map(str, component.counts))
    if form.layers == 1:
        return [equation(form.mode.equation), equation(*_solution(form.mode))]
    blocks: list[Block] = [
        prose(
            f"Edges at the {form.layers} places are used by {used} pathways each. Started alike "
            "at each place, edges stay alike, and a mode of strengths ",
            Math("w_l"),
            " follows one pathway's flow with every term multiplied by the uses.",
        ),
        *chain_blocks(form),
    ]
    if form.gain != 1:
        blocks.append(
            prose(
                "Against pathways with edges of their own, from the same strength, it is faster "
                "by exactly ",
                Math(to_latex(form.gain)),
                ".",
            )
        )
    return blocks


def _mode_table(spec: Spec, spectrum: JointSpectrum, name: str) -> Block:
    symbols, values = spec.symbols, spec.values
    learning = [mode for mode in spectrum.modes if not mode.is_null]
    null = sum(mode.multiplicity for mode in spectrum.modes if mode.is_null)
    joint = spectrum.commutes
    rows: list[tuple[Content, ...]] = []
    for k, mode in enumerate(learning[:MOST_ROWS], start=1):
        rows.append(
            (
                number_cell(mode.s, symbols, values, f"s_{{{k}}}"),
                *((number_cell(mode.d, symbols, values, f"d_{{{k}}}"),) if joint else ()),
                decimal_cell(mode.s, values),
                str(mode.multiplicity),
            )
        )
    if not rows:
        return prose("The pathway ", Code(name), " learns nothing: its modes all have s = 0.")
    left = len(learning) - len(rows)
    notes = [f"Null modes (s = 0): {null}."] if null else []
    notes += [f"{left} more are in derivation.json."] if left else []
    if not joint:
        notes.append("Sigma^x has no eigenvalues on them: it does not commute with M.")
    return Table(
        header=(Math("s"), *((Math("d"),) if joint else ()), "s at values", "multiplicity"),
        rows=tuple(rows),
        alignment="c" * (3 if joint else 2) + "r",
        caption=typeset(" ".join([f"Exact modes of {name}.", *notes])),
    )
