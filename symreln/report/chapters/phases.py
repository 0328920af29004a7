"""Gates that switch: what holds after each switch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symreln.claims.alike import alike
from symreln.document.model import Block, Code, Items, Math, Reference, Section, Table, prose
from symreln.document.typeset import typeset
from symreln.document.words import number_cell

if TYPE_CHECKING:
    from symreln.claims.derivation import Derivation

#: What a mode says of a start at t = 0.
STARTING = ("strength0", "strength", "half_time", "flow_error")


def phases_chapter(derivation: Derivation) -> Section:
    """Return the chapter on the gates that are taken later; the derivation has some."""
    blocks: list[Block] = [
        prose(
            f"Spectrum, verdict and dynamics of the sections before hold up to step "
            f"{derivation.spec.switches[0]}; the figures show all phases. There gates "
            "switch, and the weights are carried over: the equations of ",
            Reference("sec:data"),
            " go on with other effective datasets. Below are their modes, decided by the same "
            "exact identities. A strength does not start at a switch as it would in a derivation "
            "of its own: it is what the weights say, and in general they are not aligned with the "
            "new modes. So no closed form is printed; the prediction integrates the coupled "
            "matrices from ",
            Math("t = 0"),
            " over every switch, in spans that hold those of all phases.",
        )
    ]
    for step, phase in zip(derivation.spec.switches, derivation.later, strict=True):
        blocks += _phase(step, phase)
    return Section(title="Gates that switch", blocks=tuple(blocks), label="sec:phases")


def _phase(step: int, phase: Derivation) -> list[Block]:
    blocks: list[Block] = [
        prose(f"From step {step} the verdict is {phase.verdict.level.value}:"),
        Items(tuple(typeset(f"{reason}.") for reason in phase.verdict.reasons)),
        Table(
            header=("pathway", "gate", "open samples"),
            rows=tuple(
                (path.name, Code(path.gate_text), str(len(path.open_samples)))
                for path in phase.spec.pathways
            ),
            caption=f"Gates from step {step}.",
            alignment="llr",
        ),
    ]
    symbols = phase.spec.symbols
    rows = []
    for group in alike(phase):
        for mode in group.learning:
            d = mode.d if mode.d_eff is None else mode.d_eff
            rows.append(
                (
                    group.short_name,
                    number_cell(mode.s, symbols, phase.spec.values),
                    number_cell(d, symbols, phase.spec.values),
                    str(mode.multiplicity),
                )
            )
    blocks.append(
        Table(
            header=("pathways", Math("s"), Math(r"d_{\mathrm{eff}}"), "multiplicity"),
            rows=tuple(rows),
            caption=f"Modes from step {step}; for modes that do not close, the pathway's own d.",
            alignment="lllr",
        )
    )
    return blocks


def phases_to_json(derivation: Derivation) -> dict[str, Any]:
    """Return the entry "phases" of derivation.json, or nothing where no gate switches.

    The rest of derivation.json holds up to the first phase's step; each phase has the entries of
    a derivation that its gates change.
    """
    from symreln.report.derivation_json import derivation_to_json

    if not derivation.later:
        return {}
    kept = ("verdict", "pathways", "couplings", "exceptional")
    found = []
    for step, phase in zip(derivation.spec.switches, derivation.later, strict=True):
        whole = derivation_to_json(phase)
        for pathway in whole["pathways"]:
            pathway["modes"] = [mode | dict.fromkeys(STARTING) for mode in pathway["modes"]]
        loss = {"final": whole["loss"]["final"]}
        found.append({"step": step, **{key: whole[key] for key in kept}, "loss": loss})
    return {"phases": found}
