"""What is said for every size of where modes of later stages start in effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from symreln.claims.families.domain import number_of
from symreln.claims.families.forms import title_of
from symreln.document.mathtext import to_latex
from symreln.document.model import Block, Math, Table, equation
from symreln.document.typeset import say
from symreln.document.words import NONE
from symreln.laws.sigmoid_drive import GROWN, formula

if TYPE_CHECKING:
    from symreln.claims.families.derivation import (
        FamilyDerivation,
        FamilyMode,
        FamilyPathway,
        HeadStart,
    )

_UNKNOWN = "start of its own not derived for every size"


def start_lines(family: FamilyDerivation) -> Iterator[str]:
    """Yield on the terminal what drives modes of later stages, and where that is not derived."""
    for pathway, mode, ahead in _started(family):
        yield (
            f"head start of {pathway.template.name}, {mode.sector.name}: driven {ahead.faster} "
            f"times as fast until the half-time of {ahead.pathway.name}, {ahead.by.sector.name}"
        )
    yield from (f"{at}: {_UNKNOWN}: {why}" for at, why in _unknown(family).items())


def start_blocks(family: FamilyDerivation) -> Iterator[Block]:
    """Yield where modes of later stages start in effect, why, and where that is not derived."""
    started = _started(family)
    if started:
        yield say(
            r"**Head start.** Until the half-time $t_\alpha$ of the earlier mode $\alpha$, of "
            r"plateau $h_\alpha$, that reaches it, a mode $(s, u, v)$ of a later stage is driven "
            r"as well by what $\alpha$ has not learned,"
        )
        yield equation(
            r"E_1 = \Sigma^{yx}(p) + h_\alpha\, O_p u_\alpha v_\alpha^{\top} \Sigma^{x}(j, p), "
            r"\qquad E_1 v = r u', \qquad \gamma = u^{\top} u'."
        )
        yield say(
            r"In the algebra of all sizes $E_1^{\top} E_1 v = r^2 v$ and "
            r"$E_1^{\top} u = \gamma r v$ hold exactly, so that in effect the mode starts from"
        )
        yield equation(rf"\tilde{{\pi}}_0 = \pi_0\, {GROWN}.")
        yield from _sigmoid([ahead for _, _, ahead in started])
        yield from _tables(family)
        yield from _why(family)
    for at, why in _unknown(family).items():
        yield say(f"{{at}}: {_UNKNOWN}: {why}.", at=at)


def _sigmoid(started: list[HeadStart]) -> Iterator[Block]:
    """Say of which starts it is known what a sigmoid makes of them."""
    known = sum(ahead.letters is not None for ahead in started)
    if known:
        which = "" if known == len(started) else f" for {known} of {len(started)} of them"
        yield say(
            r"The earlier mode is learned as a sigmoid, not at once; "
            r"$\Sigma^{yx}(p)^{\top} u' = \gamma s v$ holds exactly too"
            f"{which}, and, to leading order in $\\pi_0$ and $1/\\tau$,"
        )
        yield equation(*formula())
    if known < len(started):
        yield say("Where it does not, $\\chi = 1$, of an earlier mode that is learned at once.")


def _started(family: FamilyDerivation) -> list[tuple[FamilyPathway, FamilyMode, HeadStart]]:
    return [
        (pathway, mode, mode.ahead)
        for pathway in family.pathways
        for mode in pathway.modes
        if mode.ahead is not None
    ]


def _unknown(family: FamilyDerivation) -> dict[str, str]:
    """Return why starts are not derived, by pathway and part."""
    return {
        f"{pathway.template.name}, {mode.sector.name}": mode.obstacle
        for pathway in family.pathways
        for mode in pathway.modes
        if mode.obstacle
    }


def _tables(family: FamilyDerivation) -> Iterator[Table]:
    assert family.template is not None
    rows, letters = [], []
    for pathway, mode, ahead in _started(family):
        s, by = (
            number_of(each.s, family.template.domain, family.symbols) for each in (mode, ahead.by)
        )
        title, source = title_of(pathway.template), f"{ahead.pathway.name}, {ahead.by.sector.name}"
        rows.append(
            (
                title,
                NONE if s is None else Math(to_latex(s)),
                Math(to_latex(ahead.faster)),
                Math(to_latex(ahead.overlap)),
                source,
                NONE if by is None else Math(to_latex(by)),
            )
        )
        if ahead.letters is not None:
            letters.append((title, source, *(Math(to_latex(x)) for x in ahead.letters)))
    header = ("modes of", Math("s"), Math("r/s"), Math(r"\gamma"), "driven by", Math(r"s_\alpha"))
    yield Table(
        header=header,
        rows=tuple(rows),
        caption="Head starts for every size.",
        alignment="lccclc",
    )
    if letters:
        yield Table(
            header=("modes of", "driven by", *map(Math, (r"\nu_r", r"\nu_s", r"\nu_{\gamma}"))),
            rows=tuple(letters),
            caption=("What is in ", Math(r"\chi"), ", for every size."),
            alignment="llccc",
        )


def _why(family: FamilyDerivation) -> Iterator[Block]:
    """Say in a line why a pathway starts so fast; once for each that does."""
    found = {
        (title_of(pathway.template), ahead.pathway.name): ahead
        for pathway, _, ahead in reversed(_started(family))
    }
    for (later, earlier), ahead in found.items():
        gain = to_latex(ahead.faster)
        yield say(
            f"Modes of {{later}} grow at first ${gain}$ times as fast as alone. Until {{earlier}} "
            "has learned a mode, that mode's part of the target drives them as well, at "
            f"$r = {gain}\\, s$. Afterwards only the residual drives them, at $s$.",
            later=later,
            earlier=f"‘{earlier}’",
        )
