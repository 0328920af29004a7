"""A chain of shared edges, said: what it conserves, its equation and its closed form, proven."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symreln.claims.claim import Step
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Math, equation, prose
from symreln.exact.truth import Truth
from symreln.laws.depth import Depth
from symreln.laws.law import Law
from symreln.laws.shared_chain import SharedChain, place_proofs


def chain_values(chain: SharedChain) -> dict[str, Any]:
    """Return the closed form of a mode as derivation.json has it."""
    return {
        "family": chain.family,
        "rate": chain.rate,
        "strength": chain.mode.expr,
        "latex": chain.mode.to_latex(),
        "conserved": chain.conserved,
        "speed": chain.gain,
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


def closed_blocks(chain: SharedChain) -> list[Block]:
    """Say the closed form of a part whose pathways are used alike."""
    used = ", ".join(map(str, chain.counts))
    if chain.layers == 1:
        return [equation(chain.mode.equation), equation(*_solution(chain.mode))]
    blocks: list[Block] = [
        prose(
            f"Edges at the {chain.layers} places are used by {used} pathways each. Started alike "
            "at each place, edges stay alike, and a mode of strengths ",
            Math("w_l"),
            " follows one pathway's flow with every term multiplied by the uses.",
        ),
        *chain_blocks(chain),
    ]
    if chain.gain != 1:
        blocks.append(
            prose(
                "Against pathways with edges of their own, from the same strength, it is faster "
                "by exactly ",
                Math(to_latex(chain.gain)),
                ".",
            )
        )
    return blocks
