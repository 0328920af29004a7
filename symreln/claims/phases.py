"""Gates that switch: what holds after each switch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from symreln.base.records import record
from symreln.claims.claim import Claim
from symreln.claims.couplings import coupling_entries
from symreln.claims.derivation import Derivation
from symreln.claims.exceptional import exceptional_sets
from symreln.claims.loss import loss_of
from symreln.claims.pathway_orbits import mode_orbits
from symreln.claims.pathways import pathways_of, verdict_of
from symreln.document.document_model import Block, Code, Items, Math, Section, Table
from symreln.document.typeset import phrase, say, typeset
from symreln.document.words import Notation, number_cell

#: What a mode says of a start at t = 0.
STARTING = ("strength0", "strength", "half_time")


@record(eq=False)
class _Phases(Claim):
    """What holds after each switch.

    Attributes:
        found: (step of the switch, the derivation with the gates from it on), in order.
    """

    found: tuple[tuple[int, Derivation], ...]

    def values(self) -> list[dict[str, Any]]:
        """Return what every switch changes; no mode of the later gates starts at t = 0."""
        return [_changed(step, phase) for step, phase in self.found]

    def says(self) -> Iterator[Block]:
        """Say it in a chapter of its own."""
        opening = say(
            "Spectrum, verdict and dynamics of the sections before hold up to step "
            f"{self.found[0][0]}; the figures show all phases. There gates switch, and the weights "
            "are carried over: the equations of [#sec:data] go on with other effective datasets. "
            "Below are their modes, decided by the same exact identities. A strength does not "
            "start at a switch as it would in a derivation of its own: it is what the weights say, "
            "and in general they are not aligned with the new modes. So no closed form is printed; "
            "the prediction integrates the coupled matrices from $t = 0$ over every switch, in "
            "spans that hold those of all phases."
        )
        blocks = (block for step, phase in self.found for block in _phase(step, phase))
        yield Section(title="Gates that switch", blocks=(opening, *blocks), label="sec:phases")


def phases_of(derivation: Derivation) -> _Phases | None:
    """Return what holds after each switch; None where no gate switches."""
    return _Phases(found=derivation.phases[1:]) if derivation.later else None


def _changed(step: int, phase: Derivation) -> dict[str, Any]:
    pathways = [
        {
            **pathway.values(),
            "modes": [mode.values() | dict.fromkeys(STARTING) for mode in pathway.modes],
        }
        for pathway in phase.ask(pathways_of)
    ]
    return {
        "step": step,
        "verdict": phase.ask(verdict_of),
        "pathways": pathways,
        "couplings": phase.ask(coupling_entries),
        "exceptional": phase.ask(exceptional_sets),
        "loss": {"final": phase.ask(loss_of).values()["final"]},
    }


def _phase(step: int, phase: Derivation) -> Iterator[Block]:
    notation = Notation.of(phase.spec)
    yield say(f"From step {step} the verdict is {phase.verdict.level.value}:")
    yield Items(tuple(typeset(f"{reason}.") for reason in phase.verdict.reasons))
    yield Table(
        header=("pathway", "gate", "open samples"),
        rows=tuple(
            (path.name, Code(path.gate_text), str(len(path.open_samples)))
            for path in phase.spec.pathways
        ),
        caption=f"Gates from step {step}.",
        alignment="llr",
    )
    yield Table(
        header=("pathways", Math("s"), Math(r"d_{\mathrm{eff}}"), "multiplicity"),
        rows=tuple(
            (
                group.short_name,
                number_cell(mode.s, notation),
                number_cell(mode.d if mode.d_eff is None else mode.d_eff, notation),
                str(mode.multiplicity),
            )
            for group in mode_orbits(phase)
            for mode in group.learning
        ),
        caption=phrase(
            f"Modes from step {step}; for modes that do not close, the pathway's own $d$."
        ),
        alignment="lllr",
    )
