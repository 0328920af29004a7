"""The verdict with its proof, and the couplings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from symreln.claims.couplings import couplings_of
from symreln.claims.derivation import Derivation, PathwayDerivation, StageDerivation
from symreln.document.document_model import Block, Content, Items, Math, Section, Table, Theorem
from symreln.document.typeset import say, typeset
from symreln.document.words import Notation, scalar_latex
from symreln.exact.algebraic import AlgebraicNumber
from symreln.verdict.judge import Level

#: Pathways that get a line each.
MOST_LINES = 8


def verdict_chapter(derivation: Derivation) -> Section:
    """Return the chapter on the verdict."""
    blocks = (
        say(
            "Assumption 2.1.1 of [@Jarvis2025] asks that the correlations of the pathways be "
            "mutually diagonalisable. It is decided here by exact identities, stage by stage."
        ),
        *_LEMMA,
        *(block for stage in derivation.stages for block in _stage(derivation, stage)),
    )
    return Section(title="Verdict and proof", blocks=blocks, label="sec:verdict")


#: When a joint basis exists, with its proof.
_LEMMA = (
    Theorem(
        kind="Lemma",
        label="thm:commute",
        blocks=(
            say(
                r"Orthogonal $V$ and orthonormal $U$ that make $\Sigma^{yx} = U S V^{\top}$ and "
                r"$\Sigma^{x} = V D V^{\top}$ diagonal together exist if and only if "
                r"$\Sigma^{x} M = M \Sigma^{x}$ for $M = (\Sigma^{yx})^{\top} \Sigma^{yx}$."
            ),
        ),
    ),
    Theorem(
        kind="Proof",
        blocks=(
            say(
                "If they exist, both matrices are diagonal in $V$. Conversely let $V$ be a "
                r"joint orthonormal eigenbasis and $u_i = \Sigma^{yx} v_i / s_i$ where $s_i > "
                r"0$. Then $u_i^{\top} u_j = v_i^{\top} M v_j / (s_i s_j) = \delta_{ij}$, and "
                r"$s_i = 0$ gives $\Sigma^{yx} v_i = 0$."
            ),
        ),
    ),
)


def _stage(derivation: Derivation, stage: StageDerivation) -> list[Block]:
    level = stage.verdict.level.value
    several = len(derivation.stages) > 1
    return [
        Theorem(
            kind="Proposition",
            title=f"Stage {stage.stage}: {level}" if several else level.capitalize(),
            label=f"thm:stage{stage.stage}",
            blocks=(Items(tuple(_as_content(reason) for reason in stage.verdict.reasons)),),
        ),
        Theorem(kind="Proof", blocks=tuple(_proof(derivation, stage))),
    ]


#: The witness inside a reason: the table of witnesses sets it as mathematics.
_WITNESS = re.compile(r": \[Sigma.*, not 0$")


def _as_content(reason: str) -> Content:
    """Return a reason as a sentence with its formulas set as mathematics."""
    reason = _WITNESS.sub(": Sigma^x does not commute with Sigma^yx^T Sigma^yx", reason)
    content = list(typeset(reason + "."))
    if isinstance(content[0], str):
        content[0] = content[0][:1].upper() + content[0][1:]
    return tuple(content)


def _proof(derivation: Derivation, stage: StageDerivation) -> Iterator[Block]:
    broken = [p for p in stage.pathways if not p.spectrum.commutes]
    count = len(stage.pathways)
    yield say(
        f"By [#thm:commute] it is enough to compute $[M, \\Sigma^{{x}}]$, exactly: of "
        f"{count - len(broken)} of {count} pathways it is 0."
    )
    if broken:
        yield _witnesses(derivation, broken)
    if stage.verdict.couplings.coupled_pairs:
        yield from derivation.ask(couplings_of)[derivation.stages.index(stage)].says()
        if stage.verdict.level is Level.CLOSED_BY_SYMMETRY:
            yield _symmetry(stage)
        elif stage.verdict.level is Level.COUPLED_MODES:
            yield say(
                "Every action is a multiple of the target's own drive, so the flow keeps each "
                "mode in its directions and only the strengths move."
            )
    elif count > 1:
        yield say(
            r"For every two pathways of the stage $\Sigma^{x}(j, p) = 0$ or no output is shared, "
            "so that neither enters the other's error."
        )


def _witnesses(derivation: Derivation, broken: list[PathwayDerivation]) -> Table:
    values, notation = derivation.spec.values, Notation.of(derivation.spec)
    rows = []
    for pathway in broken:
        found = pathway.spectrum.commutator
        if found is None:
            continue
        norm = AlgebraicNumber.rational(found.relative_norm_squared, is_sqrt=True)
        missing = any(name not in values for name in norm.parameters)
        unknown = "depends on the parameters" if missing else "0/0 at the declared values"
        rows.append(
            (
                f"{pathway.number}, {pathway.name}",
                Math(rf"[M, \Sigma^{{x}}]_{{{found.row + 1},{found.column + 1}}}"),
                Math(scalar_latex(found.value, notation)),
                norm.scientific(values, 3) if norm.has_value(values) else unknown,
            )
        )
    left_out = len(rows) - MOST_LINES
    more = f" The first {MOST_LINES}; {left_out} more are in derivation.json."
    return Table(
        header=("pathway", "first entry", "value", Math(r"\|[M, \Sigma^{x}]\| / \|M \Sigma^{x}\|")),
        rows=tuple(rows[:MOST_LINES]),
        caption="Nonzero entries of commutators: no joint eigenbasis exists."
        + more * (left_out > 0),
        alignment="lccr",
    )


def _symmetry(stage: StageDerivation) -> Block:
    """Say how couplings close by symmetry; the derivation has the equation."""
    if stage.verdict.couplings.act_across(stage.verdict.components):
        return say(
            r"Modes fall into parts of equal $s$, $d$ and $d_{\mathrm{eff}}$; those of a part "
            "start equal. The coupling terms of the other modes of its part add up to a multiple "
            "of a mode's own term, by one factor for the whole part; those of any other part add "
            r"up to 0. So the modes of a part stay equal, with $d_{\mathrm{eff}}$ in place of $d$."
        )
    return say(
        "Modes that couple have equal $s$ and start equal. The coupling terms of all partners of a "
        "mode add up to a multiple of the mode's own term, by one factor for every mode. (A single "
        "coupling term may point out of the span of $U_p$; the sum does not.) So the modes stay "
        r"equal, with $d_{\mathrm{eff}}$ in place of $d$."
    )
