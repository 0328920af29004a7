r"""Parts of a graph that learn apart, and what is proven of each.

Pathways that share an edge, see the same data or couple are in one *component*; edges and errors of
different components never meet, so that each follows a flow of its own and the loss is a sum.

Started alike at each place, the edges of a regular component
(:attr:`symreln.networks.bundles.NetworkData.counts`) stay alike and follow the flow of one pathway,
the term of place l times :math:`n_l`
(:func:`symreln.laws.shared_chain.place_proofs`): a single chain of L edges where every n is 1, the
routing network for L = 3. Source: [Saxe2022].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from symreln.base.progress import phase
from symreln.base.records import record
from symreln.claims.claim import Claim
from symreln.claims.solve import derive_unchecked
from symreln.document.mathtext import slashed_latex, to_latex
from symreln.document.model import Block, Code, Math, Section, Strong, Table, prose
from symreln.document.roots import plain_formula
from symreln.document.typeset import say, typeset
from symreln.document.words import Notation, decimal_cell, number_cell
from symreln.exact.spectrum import joint_spectrum
from symreln.exact.truth import Truth
from symreln.laws.depth import Depth
from symreln.laws.law import Law
from symreln.laws.network_flow import NetworkFlow
from symreln.laws.shared_chain import SharedChain
from symreln.networks.bundles import NetworkData
from symreln.verdict.diagonal import Diagonality, decide_diagonal
from symreln.verdict.judge import Level

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation
    from symreln.document.inlines import Content
    from symreln.exact.spectrum import JointSpectrum
    from symreln.laws.scalar_modes import ScalarMode
    from symreln.specs.model import Spec

#: Bundles with a table of their own, and rows of a table; derivation.json has all.
MOST_PARTS = 12
MOST_ROWS = 24
_COMMUTES = "Sigma^x commutes with Sigma^yx^T Sigma^yx"


@record(eq=False)
class Component(Claim):
    """One part.

    Attributes:
        name: Which one it is, in words.
        number: Its place, from 1.
        paths: Its pathways, by their place among those of the whole graph; ascending.
        edges: Its edges, by their place in the whole graph; ascending.
        data: The part alone, on the same dataset; its pathways in the same order.
        spec: The spec of the whole.
    """

    name: str
    number: int
    paths: tuple[int, ...]
    edges: tuple[int, ...]
    data: NetworkData
    spec: Spec

    @property
    def counts(self) -> tuple[int, ...]:
        """n_l of a regular component, from the input on; empty for others."""
        return () if isinstance(self.data.counts, str) else self.data.counts

    @property
    def reason(self) -> str:
        """Why it is not regular, or ""."""
        return self.data.counts if isinstance(self.data.counts, str) else ""

    @property
    def is_regular(self) -> bool:
        """Whether all its pathways are alike."""
        return bool(self.counts)

    @cached_property
    def spectra(self) -> tuple[JointSpectrum, ...]:
        """Exact modes of every bundle; bundles of equal data have one object."""
        found: list[JointSpectrum] = []
        for place, first in enumerate(self.equal_data):
            if first < place:
                found.append(found[first])
            else:
                seen = self.data.bundles[place].effective
                with phase(f"joint spectrum of {self.name}"):
                    found.append(joint_spectrum(seen.sigma_yx, seen.sigma_x, self.spec.values))
        return tuple(found)

    @cached_property
    def equal_data(self) -> tuple[int, ...]:
        """For every bundle the first one that has its correlations."""
        seen = [(b.effective.sigma_x, s) for b, s in zip(
            self.data.bundles, self.data.sigma_yx, strict=True)]  # fmt: skip
        return tuple(
            next(n for n, (x, yx) in enumerate(seen) if x == mine[0] and yx == mine[1])
            for mine in seen
        )

    @cached_property
    def decision(self) -> Diagonality:
        """Whether bases of its nodes make all its correlations diagonal."""
        if not self.is_regular:
            return decide_diagonal(self.data)
        commutator = self.spectra[0].commutator
        if commutator is None:
            return Diagonality(outcome=Truth.PROVEN, reason=_COMMUTES)
        where = f"entry ({commutator.row + 1}, {commutator.column + 1}) of their commutator"
        return Diagonality(
            outcome=Truth.REFUTED,
            reason=f"Sigma^x does not commute with Sigma^yx^T Sigma^yx: {where} is not 0",
        )

    @cached_property
    def ordinary(self) -> Derivation | None:
        """The derivation of parallel pathways with a hidden layer each; None where it is not so.

        Then the graph says nothing that a list of pathways does not, and the exact decision on
        couplings is theirs.
        """
        edges = [edge for path in self.data.paths for edge in path.edges]
        shared = len(set(edges)) < len(edges)
        if self.is_regular or shared or any(len(p.edges) != 2 for p in self.data.paths):
            return None
        return self.unshared

    @cached_property
    def unshared(self) -> Derivation:
        """The derivation of its pathways as if each had two edges of its own."""
        pathways = tuple(self.spec.pathways[place] for place in self.paths)
        spec = replace(self.spec, pathways=pathways, graph=None, network=None)
        return derive_unchecked(spec)

    @cached_property
    def level(self) -> Level:
        """What is proven of its modes; the last two say what holds in any case."""
        if self.is_regular:
            if self.decision.outcome is not Truth.PROVEN:
                return Level.COUPLED_MATRICES
            return Level.CLOSED if max(self.counts) == 1 else Level.CLOSED_BY_SYMMETRY
        if self.ordinary is not None:
            return self.ordinary.verdict.level
        proven = self.decision.outcome is Truth.PROVEN
        return Level.COUPLED_MODES if proven else Level.COUPLED_MATRICES

    @cached_property
    def form(self) -> SharedChain | None:
        """The closed form of its modes where they close by themselves."""
        if not self.is_regular or self.level is Level.COUPLED_MATRICES:
            return None
        return SharedChain(counts=tuple(sp.Integer(n) for n in self.counts))

    def flow(self, modes: Sequence[ScalarMode]) -> tuple[NetworkFlow, int]:
        """Return the flow of modes side by side, and of how many pathways alike it is of one."""
        flow = NetworkFlow.beside([mode.flow for mode in modes])
        return (flow, 1) if self.form is None else (flow.alone(self.counts), len(self.paths))

    @property
    def why(self) -> str:
        """Why it has this level."""
        if self.is_regular and self.decision.outcome is Truth.PROVEN:
            if max(self.counts) == 1:
                return f"one chain of edges, and {_COMMUTES}"
            return f"the edges of a place are used by equally many pathways, and {_COMMUTES}"
        if self.ordinary is not None:
            return self.ordinary.stages[0].verdict.reasons[-1]
        proven = self.decision.outcome is Truth.PROVEN
        return self.decision.reason if not proven else f"{self.decision.reason}; {self.reason}"

    def values(self) -> dict[str, Any]:
        """Return what derivation.json says of it."""
        return {
            "pathways": self.paths,
            "level": self.level,
            "reason": self.why,
            "uses": self.counts or None,
            "not_regular": self.reason or None,
            "diagonal": diagonal_values(self.decision),
            "closed_form": None if self.form is None else _chain_values(self.form),
            "modes": [
                {
                    "bundle": place,
                    "same_as": first if first < place else None,
                    "modes": None if first < place else mode_values(spectrum),
                }
                for place, (first, spectrum) in enumerate(
                    zip(self.equal_data, self.spectra, strict=True)
                )
            ],
        }

    def lines(self) -> Iterator[str]:
        """Yield its level, and the equation of its modes where they close by themselves."""
        form = self.form
        yield f"{self.name}: {self.level.value}: {self.why}"
        if form is not None and form.layers > 1:
            used = ", ".join(map(str, self.counts))
            rate = plain_formula(form.rate)
            yield f"  edges used {used} times; tau dpi/dt = {rate}: {form.family}"
        elif form is not None:
            yield "  single edges: tau dpi/dt = s - d pi"

    @property
    def row(self) -> tuple[Content, ...]:
        """What the table of all parts says of it."""
        counts = ", ".join(map(str, self.counts)) or "–"
        level = Strong(self.level.value)
        return str(self.number), typeset(self.name), counts, level

    def says(self) -> Iterator[Block]:
        """Say it in a section of the chapter."""
        why = self.why
        blocks: list[Block] = [prose(*typeset(f"{why[:1].upper()}{why[1:]}."))]
        if self.is_regular and self.form is None:
            blocks.append(
                prose(
                    "The edges of a place are used by equally many pathways, so that one matrix a "
                    "place follows the reduced flow, its term multiplied by the uses; the matrices "
                    "are kept whole."
                )
            )
        elif self.ordinary is not None:
            blocks.append(
                say(
                    "These are parallel pathways with one hidden layer each. What is proven of "
                    "them is what `symreln derive` says of the same pathways written as "
                    "`[[pathway]]`."
                )
            )
        elif not self.is_regular:
            blocks.append(prose("It is not regular: ", *typeset(self.reason), "."))
        blocks += self.mode_tables()
        title, label = f"Part {self.number}", f"sec:part-{self.number}"
        yield Section(title=title, label=label, blocks=tuple(blocks))

    def mode_tables(self) -> list[Block]:
        """Return the modes of its pathways, those of equal data once."""
        found: list[Block] = []
        for place, (first, spectrum) in enumerate(zip(self.equal_data, self.spectra, strict=True)):
            if first == place and len(found) < MOST_PARTS:
                name = self.data.bundles[place].effective.pathway.name
                alike = self.equal_data.count(place) - 1
                more = f" and {alike} with equal data" if alike else ""
                found.append(_mode_table(self.spec, spectrum, f"{name}{more}"))
        return found


def components(data: NetworkData, spec: Spec) -> tuple[Component, ...]:
    """Return the components of a graph, in the order of their first pathways.

    Args:
        data: The whole graph on its data.
        spec: Its spec.
    """
    found, groups = [], data.parts()
    for number, paths in enumerate(groups, start=1):
        edges = tuple(sorted({edge for p in paths for edge in data.paths[p].edges}))
        found.append(
            Component(
                name="all pathways" if len(groups) == 1 else _named(data, paths),
                number=number,
                paths=paths,
                edges=edges,
                data=data.alone(edges),
                spec=spec,
            )
        )
    return tuple(found)


def _named(data: NetworkData, paths: Sequence[int]) -> str:
    shown = ", ".join(f"'{data.graph.name(data.paths[place])}'" for place in paths[:3])
    return shown + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


def diagonal_values(decision: Diagonality) -> dict[str, Any]:
    """Return the outcome of a decision and its reason."""
    return {"outcome": decision.outcome, "reason": decision.reason}


def mode_values(spectrum: JointSpectrum) -> list[dict[str, Any]]:
    """Return the numbers of every mode."""
    return [{"s": m.s, "d": m.d, "multiplicity": m.multiplicity} for m in spectrum.modes]


def _mode_table(spec: Spec, spectrum: JointSpectrum, name: str) -> Block:
    notation = Notation.of(spec)
    learning = [mode for mode in spectrum.modes if not mode.is_null]
    null = sum(mode.multiplicity for mode in spectrum.modes if mode.is_null)
    joint = spectrum.commutes
    rows: list[tuple[Content, ...]] = []
    for k, mode in enumerate(learning[:MOST_ROWS], start=1):
        rows.append(
            (
                number_cell(mode.s, notation, f"s_{{{k}}}"),
                *((number_cell(mode.d, notation, f"d_{{{k}}}"),) if joint else ()),
                decimal_cell(mode.s, spec.values),
                str(mode.multiplicity),
            )
        )
    if not rows:
        nothing = "The pathway {name} learns nothing: its modes all have $s = 0$."
        return say(nothing, name=Code(name))
    left = len(learning) - len(rows)
    notes = [f"Null modes (s = 0): {null}."] if null else []
    notes += [f"{left} more are in derivation.json."] if left else []
    if not joint:
        notes.append("Sigma^x has no eigenvalues on them: it does not commute with M.")
    return Table(
        header=(
            Math("s"),
            *((Math("d"),) if joint else ()),
            (Math("s"), " at values"),
            "multiplicity",
        ),
        rows=tuple(rows),
        alignment="c" * (3 if joint else 2) + "r",
        caption=typeset(" ".join([f"Exact modes of {name}.", *notes])),
    )


def _chain_values(chain: SharedChain) -> dict[str, Any]:
    """Return the closed form of a mode as derivation.json has it."""
    return {
        "family": chain.family,
        "rate": chain.rate,
        "strength": chain.mode.expr,
        "latex": chain.mode.to_latex(),
        "conserved": chain.conserved,
        "speed": chain.gain,
        "delay_in_steps": chain.delay,
    }


def solution(mode: Law) -> list[str]:
    """Return the lines of a solution: an implicit one has its function T in a line of its own."""
    if not isinstance(mode, Depth):
        return [rf"\pi(t) = {mode.to_latex()}"]
    name = to_latex(mode.root)
    share = rf"\left({to_latex(mode.d / mode.s)}\, \pi\right)^{{{slashed_latex(mode.root_power)}}}"
    return [
        rf"t &= {to_latex(mode.scale)} \left[T({name}) - T({name}_0)\right], \quad "
        rf"{name} = {share},",
        rf"T({name}) &= {to_latex(mode.stage)}",
    ]
